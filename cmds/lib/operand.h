#ifndef OPERAND_H
#define OPERAND_H
/* Operands that name jobs or destinations, ready for a call and for a message. */
#include "cmd.h"
#include "jobid.h"

struct operand_job {
    char id[PBS_MAXCLTJOBID + 1]; /* for the call: without @server */
    char shown[PBS_MAXCLTJOBID +
               1]; /* for messages: with the default server's name where the user gave none */
    char server[PBS_MAXHOSTNAME + PBS_MAXPORTNUM + 2]; /* the server to ask; "" is the default one */
};

/* -1: "NAME: illegally formed job identifier: TEXT" has been printed. */
int operand_job(const struct cmd_args *a, const char *text, struct operand_job *out);

/* -1: "NAME: illegally formed destination: TEXT" has been printed. */
int operand_destination(const struct cmd_args *a, const char *text, struct destination *out);

#endif
