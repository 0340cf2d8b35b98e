#ifndef QSUB_TERMINAL_H
#define QSUB_TERMINAL_H
/* The waiting end of an interactive job (qsub -I): a port that the job's host connects to, and a one-time key that it must
 * know. The bytes are carried by libexec/pbs_terminal; here the user is told and asked. */
#include "cmd.h"

enum { QSUB_KEY_SIZE = 65 };

struct qsub_terminal {
    int listening; /* -1: not open */
    unsigned port;
    char key[QSUB_KEY_SIZE]; /* hexadecimal digits */
};

/* Before the job is sent. -1, said. */
int qsub_terminal_open(struct qsub_terminal *t, const struct cmd_args *a);

/* Job `id` of connection c has been taken: wait for it, be its terminal, wait for its end. The exit code of qsub. */
int qsub_terminal_attend(struct qsub_terminal *t, const struct cmd_args *a, int c, const char *id);

#endif
