#ifndef PREEMPT_LEVEL_H
#define PREEMPT_LEVEL_H
/* Numeric preemption levels: which job may stop which.
 *
 * A job's level follows from its queue, from being run by request, where preempt_prio names soft limits, from
 * being over one: it runs and its user, group or project has more than that, or would have, if it ran too; and, where
 * it names fairshare and fair_share is on, from having used more than its share. Jobs of one class have one level.
 */
#include <stdbool.h>

#include "sched_cluster.h"

/* The level as preempt_prio says; PRIO_TOP of a job that is run by request. O(rows of limits) where soft
 * limits are named. */
int preempt_level_of(const struct cluster *cl, const struct job *j);

/* Of a job that runs, were it stopped: would it be over a soft limit then? */
int preempt_level_if_stopped(const struct cluster *cl, const struct job *j);
/* Do levels follow soft limits or shares, and so change with every start and end? */
bool preempt_level_moves(const struct cluster *cl);

/* At most the lowest level of any running job; INT_MAX when nothing runs. O(queues). */
int preempt_level_lowest_running(const struct cluster *cl);

#endif
