#ifndef PREEMPT_EXPLAIN_H
#define PREEMPT_EXPLAIN_H
/* pbs_preempt --explain: what would be done for a job, as its scheduler tells it (pbs_explain(3)). */
#include "cmd.h"

/* Ask on connection `c` and show. Returns the exit code of the command; what failed is said. */
int preempt_explain(const struct cmd_args *a, int c, const char *id, bool json);

#endif
