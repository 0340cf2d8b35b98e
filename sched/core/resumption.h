#ifndef RESUMPTION_H
#define RESUMPTION_H
/* sched_preempt_enforce_resumption: who was preempted is not kept waiting by jobs that come later.
 *
 * A preempted job that finds no room is given an estimate of when it will: from the walltimes of those who run. Whoever is
 * considered after it and would still run then may only take what is left beside it. Preempted jobs of a level below
 * normal_jobs (over a soft limit) get no such estimate. reference/preemption.md section 12.
 *
 * Belongs to one cycle and keeps nothing from one to the next. No I/O, no clock.
 */
#include "pick.h"

struct resumption;

struct resumption *resumption_create(struct universe *u);
void resumption_destroy(struct resumption *r);
void resumption_begin(struct resumption *r); /* a cycle begins: nothing is kept for anybody */

/* Is it one of those that are not to be kept waiting? */
bool resumption_is_owed(const struct universe *u, const struct job *j);

/* p->job is owed and found no room: from now on what it will need is kept. The trial is as before. For a suspended job
 * O(jobs on its vnodes), for a queued one O(running jobs × log of that). */
void resumption_keep_for(struct resumption *r, const struct picker *k, const struct preemptor *p);

/* Take out of the trial what is kept for others from a time on at which this job would still run. true: anything. The
 * caller undoes it. */
bool resumption_keep_from(const struct resumption *r, struct trial *t, const struct job *j, int64_t now_s);

#endif
