#ifndef EACH_JOB_H
#define EACH_JOB_H
/* One call for each job named on the command line: report what fails, go on with the next. */
#include "cmd.h"
#include "operand.h"

/* The call itself: 0, or anything else with pbs_errno set. */
typedef int each_job_call(int c, const char *id, void *context);

/* Call `act` for each operand. A job that its server does not know is looked for once by the default server.
 * Returns the exit code: 0, 1 for an identifier that is none, or the number of the last error. */
int each_job(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context);

/* The same for a command that has words of its own for a job that is nowhere: "Job ID not found", and 1. */
int each_job_found(const struct cmd_args *a, int n, char *operands[], each_job_call *act, void *context);

#endif
