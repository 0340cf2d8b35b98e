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

enum { OPERAND_RESV_MAX = PBS_MAXSVRRESVID + 1 + PBS_MAXHOSTNAME + 1 };
/* The identifier of a reservation, "R12" or "R12.server", with the default server's name where the user gave none. -1: "NAME: illegally
 * formed reservation identifier: TEXT" has been printed. */
int operand_resv(const struct cmd_args *a, const char *text, char out[static OPERAND_RESV_MAX]);

/* -1: "NAME: illegally formed destination: TEXT" has been printed. */
int operand_destination(const struct cmd_args *a, const char *text, struct destination *out);

#endif
