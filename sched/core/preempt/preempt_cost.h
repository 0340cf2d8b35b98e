#ifndef PREEMPT_COST_H
#define PREEMPT_COST_H
/* The work that is lost when a running job is preempted, and the price of a victim that follows from it. */
#include <stdint.h>

#include "sched_job.h"
#include "policy.h"

/* Core-seconds of work that this method destroys (preempt_rules_loss). */
int64_t preempt_cost_lost_by(enum method_id m, const struct job *j, int64_t now_s);

/* The same of the method that would be applied first. */
int64_t preempt_cost_lost(const struct policy *p, const struct job *j, int64_t now_s);

/* The price of a victim under this preempt_sort; that of a set is the sum. Above 0.
 *
 *   least_lost_work   the work lost; of sets that lose equally much the smaller one is cheaper
 *   fewest_jobs       one more victim costs more than any work; then the work lost */
int64_t preempt_cost_of(const struct policy *p, const struct job *j, int64_t now_s);

#endif
