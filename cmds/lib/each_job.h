#ifndef EACH_JOB_H
#define EACH_JOB_H
/* One call for each job named on the command line; an error is reported and the next job is done. */
#include "cmd.h"
#include "operand.h"

/* The call: return 0, or anything else with pbs_errno set. */
typedef int each_job_call(int c, const char *id, void *context);

/* Call `act` for each operand. For a job that its server does not know, ask the default server once. Return the exit
 * code: 0, 1 for an ill-formed identifier, or the number of the last error. */
int each_job(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context);

/* The same for a command that has its own words for a job that no server knows: "Job ID not found", and exit code 1. */
int each_job_found(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context);

#endif
