#ifndef RUN_LIMITS_H
#define RUN_LIMITS_H
/* May another job run, as far as its queue and the server are concerned: started, run limits on jobs and amounts by
 * user, group, project and in all, and counted resources that are bounded there; and max_run_subjobs of its array.
 *
 * In PBS's order: jobs in the queue (group, project, all, user), in the server, then amounts in the same order. A job
 * that is run by request is asked for bounded resources only. Suspended jobs are not counted.
 */
#include "reason.h"
#include "sched_cluster.h"

/* Return true if no limit forbids the job to run; otherwise `why` says which does, with why->entity and why->res where it is a
 * run limit. */
bool run_limits_allow(const struct cluster *cl, const struct job *j, struct reason *why);

/* All limits that forbid it, as far as there is room in `why`; the first is what run_limits_allow says. */
void run_limits_all(const struct cluster *cl, const struct job *j, struct reasons *why);

/* Would it help against this run limit if `other`, which runs, ended? It counts for the same entity. */
bool run_limits_share(const struct reason *why, const struct job *j, const struct job *other);

/* Over which soft limits is this job, or would it be if it ran too: PRIO_QUEUE_SOFTLIMIT, PRIO_SERVER_SOFTLIMIT, or 0. */
unsigned run_limits_soft(const struct cluster *cl, const struct job *j);
/* The same of a job that is counted in what runs now, or is not, whatever it does. */
unsigned run_limits_soft_if(const struct cluster *cl, const struct job *j, bool counted);

#endif
