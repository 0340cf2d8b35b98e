#ifndef WAIT_JOB_H
#define WAIT_JOB_H
/* Waiting for a job's end, for qsub -W block=true and qwait: what the exit code is, and what a signal does. */
#include "cmd.h"

enum { WAIT_JOB_INTERRUPTED = 2, WAIT_JOB_FAILED = 3 };

/* Wait for job `id` on connection c. Return the exit code: that of the job modulo 256, or WAIT_JOB_FAILED with a line
 * that says why: the job was deleted before it ran, or its end cannot be known. HUP, INT, QUIT and TERM end the
 * command with "NAME: wait for job ID interrupted by signal N" and WAIT_JOB_INTERRUPTED; the job is not affected.
 *
 * *code: 0, or the PBSE_ number of a failed call. */
int wait_job(const struct cmd_args *a, int c, const char *id, int *code);

#endif
