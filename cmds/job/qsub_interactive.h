#ifndef QSUB_INTERACTIVE_H
#define QSUB_INTERACTIVE_H
/* The waiting end of an interactive job (qsub -I): a port that the job's host connects to, and a one-time key that it must
 * know. The bytes are carried by libexec/pbs_terminal; here the user is told and asked. */
#include "cmd.h"
#include "qsub_x11.h"

enum { QSUB_KEY_SIZE = 65 };

struct qsub_interactive {
    int listening; /* -1: not open */
    unsigned port;
    char key[QSUB_KEY_SIZE]; /* hexadecimal digits */
    bool x11;
    char cookie[QSUB_COOKIE_DIGITS + 1]; /* of the user's display */
};

/* Before the job is sent; with x11 the display is looked for as well. -1, said. */
int qsub_interactive_listen(struct qsub_interactive *t, bool x11, const struct cmd_args *a);

/* Job `id` of connection c has been taken: wait for it, be its terminal, wait for its end. The exit code of qsub. */
int qsub_interactive_run(struct qsub_interactive *t, const struct cmd_args *a, int c, const char *id);

#endif
