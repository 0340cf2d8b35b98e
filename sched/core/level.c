#include "level.h"

#include <limits.h>

static int of_queue(const struct policy *p, const struct queue *q)
{
    bool express = q->priority >= p->preempt_queue_prio;

    return policy_level(p, express ? LEVEL_EXPRESS : LEVEL_NORMAL, q->priority);
}

int level_of(const struct universe *u, const struct job *j)
{
    const struct policy *p = universe_policy(u);

    if (j->urged)
        return POLICY_TOP;
    return j->queue ? of_queue(p, j->queue) : policy_level(p, LEVEL_NORMAL, 0);
}

int level_lowest_running(const struct universe *u)
{
    int lowest = INT_MAX;

    for (struct queue *q = universe_next_queue(u, NULL); q; q = universe_next_queue(u, q)) {
        int level = of_queue(universe_policy(u), q);
        if (q->n_running > 0 && level < lowest)
            lowest = level;
    }
    return lowest;
}
