#ifndef QSUB_INTERACTIVE_H
#define QSUB_INTERACTIVE_H
/* The waiting end of an interactive job (qsub -I): a port that the job's host connects to, and a one-time key that it
 * must know. libexec/pbs_terminal carries the bytes; messages and questions to the user are here. */
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

/* Listen, before the job is sent; with x11 look for the display as well. Return -1 after a message. */
int qsub_interactive_listen(struct qsub_interactive *t, bool x11, const struct cmd_args *a);

/* Wait for job `id` of connection c, be its terminal, wait for its end. Return the exit code of qsub. */
int qsub_interactive_run(struct qsub_interactive *t, const struct cmd_args *a, int c, const char *id);

#endif
