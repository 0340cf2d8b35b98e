#ifndef PREEMPT_EXPLAIN_H
#define PREEMPT_EXPLAIN_H
/* pbs_preempt --explain: what the scheduler would do for a job (pbs_explain(3)). */
#include "cmd.h"

/* Ask on connection `c` and show the answer. Return the exit code of the command; errors are printed. */
int preempt_explain(const struct cmd_args *a, int c, const char *id, bool json);

#endif
