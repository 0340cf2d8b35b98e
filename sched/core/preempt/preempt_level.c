/* Levels of jobs. See preempt_level.h.
 *
 * A job over a soft limit, or of an entity over its share, has another level than its queue says, and which it is changes
 * with every job that starts or ends, and with time; so it is computed each time. Where preempt_prio names none of
 * these none of this is looked at. */
#include "preempt_level.h"

#include <limits.h>

#include "fairshare.h"
#include "run_limits.h"

enum { SOFT = PRIO_QUEUE_SOFTLIMIT | PRIO_SERVER_SOFTLIMIT };

/* The row of preempt_prio that fits these conditions; without any the job is a normal one. An express
 * queue's priority raises it. */
static int of_queue(const struct policy *p, const struct queue *q, unsigned mask)
{
    if (q && preempt_rules_is_express(&q->preempt, &p->preempt))
        mask |= PRIO_EXPRESS;
    return preempt_order_prio_value(&p->prio, mask ? mask : PRIO_NORMAL, q ? q->preempt.priority : 0);
}

static unsigned over_share(const struct job *j, unsigned listed)
{
    return listed & PRIO_FAIRSHARE && j->share && fairshare_is_over(j->share) ? PRIO_FAIRSHARE : 0;
}

/* A request goes above all rows. */
static int level(const struct cluster *cl, const struct job *j, unsigned mask)
{
    return j->urged ? PRIO_TOP : of_queue(cluster_policy(cl), j->queue, mask);
}

bool preempt_level_moves(const struct cluster *cl)
{
    return policy_moving_levels(cluster_policy(cl)) != 0;
}

int preempt_level_of(const struct cluster *cl, const struct job *j)
{
    unsigned listed = policy_moving_levels(cluster_policy(cl));

    return level(cl, j, over_share(j, listed) | (listed & SOFT ? run_limits_soft(cl, j) : 0));
}

int preempt_level_if_stopped(const struct cluster *cl, const struct job *j)
{
    unsigned listed = policy_moving_levels(cluster_policy(cl));

    return level(cl, j, over_share(j, listed) | (listed & SOFT ? run_limits_soft_if(cl, j, false) : 0));
}

/* A bound, not the exact level: each queue with running jobs counts with its own level and with every level
 * that moves, since one of its jobs may be at it. So a job that asks may find no victim, but none is
 * missed. */
int preempt_level_lowest_running(const struct cluster *cl)
{
    const struct policy *p = cluster_policy(cl);
    unsigned listed = policy_moving_levels(p);
    int lowest = INT_MAX;

    for (struct queue *q = cluster_next_queue(cl, NULL); q; q = cluster_next_queue(cl, q)) {
        int now = q->n_running > 0 ? of_queue(p, q, 0) : INT_MAX;
        for (size_t i = 0; q->n_running > 0 && i < p->prio.n; i++) {
            int value = preempt_order_prio_value(&p->prio, p->prio.level[i], 0);

            if (p->prio.level[i] & listed && value < now)
                now = value;
        }
        if (now < lowest)
            lowest = now;
    }
    return lowest;
}
