#ifndef COST_H
#define COST_H
/* What is lost when a running job is stopped. */
#include <stdint.h>

#include "job.h"
#include "policy.h"

/* Core-seconds of work lost by the method that would be applied first to it: none when it is suspended or
 * checkpointed, all since its start when it is requeued or deleted. */
int64_t cost_lost(const struct policy *p, const struct job *j, int64_t now_s);

/* The same by this method, S C R D. */
int64_t cost_lost_by(char letter, const struct job *j, int64_t now_s);

/* What choosing it costs in the eyes of this policy's preempt_sort: its lost work, something for being one victim
 * more, and for each time that it has been stopped before; with fewest_jobs the number of victims is all but
 * everything. Always above 0. */
int64_t cost_of(const struct policy *p, const struct job *j, int64_t now_s);

#endif
