#ifndef PREEMPT_EXPLAIN_H
#define PREEMPT_EXPLAIN_H
/* pbs_preempt --explain: what the scheduler would do for a job (pbs_explain(3)). */
#include "cmd.h"

struct batch_status;
struct json_out;

/* Ask on connection `c` and show the answer. Return the exit code of the command; errors are printed. */
int preempt_explain(const struct cmd_args *a, int c, const char *id, bool json);

/* Write the members of the answer of pbs_explain into an object that is open. hold: the answer of pbs_stathold, or NULL. */
void preempt_explain_json(struct json_out *j, const struct batch_status *b, const struct batch_status *hold);

#endif
