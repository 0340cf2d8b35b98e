/* Losses are counted as preempt_cost.c does, by the method that would be applied first. See preempt_budget.h. */
#include "preempt_budget.h"

#include "preempt_cost.h"

/* Core-seconds that are left; false: there is no budget. */
static bool left(const struct preemptor *p, double *out)
{
    const struct queue *q = p->job->queue;
    double budget = preempt_rules_budget(q ? &q->preempt : NULL, &cluster_policy(p->cl)->preempt);

    if (budget < 0)
        return false;
    *out = budget - ledger_sum(&q->ledger, p->now_s);
    return true;
}

bool preempt_budget_allows(const struct preemptor *p, const struct job *victim, int64_t *until_s)
{
    double n;
    int64_t loss;

    *until_s = 0;
    if (!left(p, &n))
        return true;
    loss = preempt_cost_lost(cluster_policy(p->cl), victim, p->now_s);
    if (preempt_rules_affords(n, 0, (double)loss))
        return true;
    *until_s = ledger_next_s(&p->job->queue->ledger, p->now_s);
    return false;
}

bool preempt_budget_covers(const struct preemptor *p, const struct candidates *victims)
{
    double n, sum = 0;

    if (!left(p, &n))
        return true;
    for (size_t i = 0; i < victims->n; i++)
        sum += (double)preempt_cost_lost(cluster_policy(p->cl), victims->a[i], p->now_s);
    return preempt_rules_affords(n, 0, sum);
}
