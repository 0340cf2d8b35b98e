/* The queue of the victim speaks first: its own methods, its own times and counts; where it says nothing the
 * policy does. What a job asks for itself only makes the methods fewer, never other ones, and if none were
 * left it is passed over. A job that has not begun yet counts as just begun. */
#include "protect.h"

#include <string.h>

const char *protect_letters(const struct policy *p, const struct job *j, int64_t now_s, char room[5])
{
    int left = job_percent_left(j, now_s);
    const struct queue *q = j->queue;
    const char *letters = q && q->order.n ? policy_letters_of(&q->order, left) : policy_letters(p, left);
    size_t n = 0;

    if (!q || !q->methods_enable || !j->methods)
        return letters;
    for (const char *l = letters; *l && n < 4; l++)
        if (strchr(j->methods, *l))
            room[n++] = *l;
    room[n] = '\0';
    return n ? room : letters;
}

static int64_t bound(int64_t of_queue, int64_t of_policy)
{
    return of_queue >= 0 ? of_queue : of_policy;
}

static bool may_by(const struct policy *p, const struct queue *victim, const struct queue *urgent)
{
    const char *by = victim ? victim->preemptable_by : NULL;

    if (!by || !urgent)
        return true;
    return policy_lists(by, urgent->name, false) ||
           policy_lists(by, urgent->priority >= p->preempt_queue_prio ? "express_queue" : "normal_jobs",
                        false);
}

enum spared protect_spares(const struct preemptor *p, const struct job *j, int64_t *until_s)
{
    const struct policy *policy = universe_policy(p->u);
    const struct queue *q = j->queue;
    int64_t exempt = bound(q ? q->exempt_s : -1, policy->exempt_s);
    int64_t most = bound(q ? q->max_count : -1, policy->max_count);

    *until_s = 0;
    if (q && q->never_preempted)
        return SPARED_NEVER;
    if (most >= 0 && j->preempt_count >= most)
        return SPARED_COUNT;
    if (!may_by(policy, q, p->job->queue))
        return SPARED_BY;
    if (exempt <= 0 || (j->start_s && p->now_s >= j->start_s + exempt))
        return SPARED_NONE;
    *until_s = (j->start_s ? j->start_s : p->now_s) + exempt;
    return SPARED_EXEMPT;
}
