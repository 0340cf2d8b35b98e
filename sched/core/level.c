/* Levels of jobs. See level.h.
 *
 * A job over a soft limit has another level than its queue says, and which it is changes with every job that starts or
 * ends; so it is asked anew each time. Where preempt_prio names no soft limits none of this is looked at. */
#include "level.h"

#include <limits.h>

#include "run_limits.h"

enum { SOFT = LEVEL_QUEUE_SOFT | LEVEL_SERVER_SOFT };

static int of_queue(const struct policy *p, const struct queue *q, unsigned soft)
{
    unsigned mask = soft;

    if (q && q->priority >= p->preempt_queue_prio)
        mask |= LEVEL_EXPRESS;
    return policy_level(p, mask ? mask : LEVEL_NORMAL, q ? q->priority : 0);
}

static int level(const struct universe *u, const struct job *j, unsigned soft)
{
    return j->urged ? POLICY_TOP : of_queue(universe_policy(u), j->queue, soft);
}

bool level_moves(const struct universe *u)
{
    const struct policy *p = universe_policy(u);

    for (size_t i = 0; i < p->n_levels; i++)
        if (p->levels[i].mask & SOFT)
            return true;
    return false;
}

int level_of(const struct universe *u, const struct job *j)
{
    return level(u, j, level_moves(u) ? run_limits_soft(u, j) : 0);
}

int level_if_stopped(const struct universe *u, const struct job *j)
{
    return level(u, j, level_moves(u) ? run_limits_soft_if(u, j, false) : 0);
}

int level_lowest_running(const struct universe *u)
{
    const struct policy *p = universe_policy(u);
    bool moves = level_moves(u);
    int lowest = INT_MAX;

    for (struct queue *q = universe_next_queue(u, NULL); q; q = universe_next_queue(u, q)) {
        int now = q->n_running > 0 ? of_queue(p, q, 0) : INT_MAX;
        for (size_t i = 0; moves && q->n_running > 0 && i < p->n_levels; i++)
            if (p->levels[i].mask & SOFT && p->levels[i].value < now)
                now = p->levels[i].value;
        if (now < lowest)
            lowest = now;
    }
    return lowest;
}
