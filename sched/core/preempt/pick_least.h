#ifndef PICK_LEAST_H
#define PICK_LEAST_H
/* Which running jobs to stop for an urgent one so that the least is lost (preempt_sort least_lost_work, fewest_jobs).
 *
 * The cost of a set is the sum of preempt_cost_of() of its jobs, and a job of a higher level costs more than any number of lower
 * ones. Sets are found as PBS would, by rising cost and by its own order, and another from the vnodes that are cheapest to
 * clear; the cheapest of the three is then made better: each other candidate is tried in place of
 * whom it makes needless, until nothing is gained. With few candidates every set that may be cheaper is tried, the small ones
 * first. Both stop after a bounded number of trials, so a large case is good rather than best: up to PICK_EXACT_MAX candidates all
 * sets are tried, up to PICK_SMALL_MAX those of few jobs. */
#include "pick.h"

/* Choices that bound the length of a cycle: a trial places one job. */
enum { PICK_EXACT_MAX = 14, PICK_SMALL_MAX = 64, PICK_BETTER_MAX = 256, PICK_TRIALS_MAX = 1000 };

/* As pick_pbs: same arguments, same promises. */
bool pick_least(const struct picker *k, const struct preemptor *p, const struct reason *why,
                struct candidates *victims, struct allocation *where);

#endif
