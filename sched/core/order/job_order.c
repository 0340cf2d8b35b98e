/* One comparison after the other, the first that is not equal decides. The last one is the identifier, so the
 * order is total and the same in every cycle: a heap may be built from it, and no job overtakes because it
 * was read first. */
#include "job_order.h"

#include <string.h>

#include "fairshare.h"

static int by_number(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Preempted jobs come first, the one that was preempted first before the others. */
static int by_preemption(const struct job *a, const struct job *b)
{
    if (a->preempted_s && b->preempted_s)
        return by_number(a->preempted_s, b->preempted_s);
    return by_number(b->preempted_s != 0, a->preempted_s != 0);
}

/* Jobs that are compared by key have one level, if it counts at all: the higher one went first. */
static int64_t sort_value(const struct sort_key *k, const struct job *j)
{
    if (k->what == SORT_LEVEL)
        return 0;
    if (k->what == SORT_SHARE)
        return j->share ? (int64_t)(fairshare_fraction(j->share) * 1e9) : 0;
    if (k->what == SORT_PRIORITY)
        return j->priority;
    if (strcmp(k->resource, "walltime") == 0)
        return j->limit_s;
    if (strcmp(k->resource, "cput") == 0)
        return j->cpu_limit_s;
    return amounts_get(&j->want, k->id);
}

/* job_sort_key in order, then Priority. A key that is equal for all jobs decides nothing. */
static int by_keys(const struct policy *p, const struct job *a, const struct job *b)
{
    for (size_t i = 0; i < p->n_job_sort; i++) {
        const struct sort_key *k = &p->job_sort[i];
        int c = by_number(sort_value(k, a), sort_value(k, b));
        if (c)
            return k->high ? -c : c;
    }
    return by_number(b->priority, a->priority);
}

/* rank is the place in the queue; strverscmp puts 9.svr before 10.svr. */
static int by_arrival(const struct job *a, const struct job *b)
{
    int c = by_number(a->rank, b->rank);

    return c ? c : strverscmp(a->id, b->id);
}

int job_order_compare(const struct policy *p, const struct job *a, const struct job *b)
{
    int c = by_preemption(a, b);

    if (c == 0 && a->rating != b->rating)
        c = a->rating > b->rating ? -1 : 1;
    if (c == 0 && p->fair_share && a->share && b->share)
        c = fairshare_compare(a->share, b->share);
    if (c == 0)
        c = by_keys(p, a, b);
    return c ? c : by_arrival(a, b);
}

static int by_queue(const struct queue *a, const struct queue *b)
{
    int c = by_number(b->preempt.priority, a->preempt.priority);

    return c ? c : strverscmp(a->name, b->name);
}

/* round_robin: of queues of one priority, whichever has had fewer jobs looked at in this cycle. */
static int by_round(const struct queue *a, const struct queue *b)
{
    int c = by_number(b->preempt.priority, a->preempt.priority);

    return c ? c : by_number(a->rounds, b->rounds);
}

/* Among jobs that take turns the next is the one that has waited longest, whether it is suspended or queued. */
static int64_t waits_since_us(const struct job *j)
{
    return j->sched_state == SCHED_STATE_SUSPENDED ? j->since_s * 1000000 : j->rank;
}

/* They go before the others of their queue's priority, since those would take what a suspended job needs to resume. */
static int by_turn(const struct job *a, const struct job *b)
{
    int c = by_number(b->queue->gang, a->queue->gang);

    if (c || !a->queue->gang)
        return c;
    c = by_number(b->queue->preempt.priority, a->queue->preempt.priority);
    return c ? c : by_number(waits_since_us(a), waits_since_us(b));
}

/* Preemption comes before the queues: a job that has been stopped once continues before others of its level
 * begin. */
int job_order_compare_heads(const struct policy *p, const struct job *a, int level_a, const struct job *b,
                            int level_b)
{
    int c = by_number(level_b, level_a);

    if (c == 0)
        c = by_preemption(a, b);
    if (c == 0 && (p->by_queue || p->round_robin))
        c = by_number(b->queue->preempt.priority, a->queue->preempt.priority);
    if (c == 0)
        c = by_turn(a, b);
    if (c == 0 && p->round_robin)
        c = by_round(a->queue, b->queue);
    if (c == 0 && (p->by_queue || p->round_robin) && a->queue != b->queue)
        c = by_queue(a->queue, b->queue);
    return c ? c : job_order_compare(p, a, b);
}
