/* One number, so that prices may be added and compared. See preempt_cost.h. */
#include "preempt_cost.h"

/* fewest_jobs: above any work that one job can lose. 2^40 core-seconds are about 35,000 cores for a year. */
#define ONE_VICTIM ((int64_t)1 << 40)
/* least_lost_work: a core-second outweighs the number of victims, up to this many of them. */
enum { CORE_SECOND = 1024 };

/* The first method that is allowed and can be applied now. METHOD_DELETE where there is none: the dearest. */
static enum method_id first_method(const struct policy *p, const struct job *j, int64_t now_s)
{
    struct preempt_methods l;

    job_preempt_methods(j, p, now_s, &l);
    for (unsigned i = 0; i < l.n; i++)
        if (job_can(j, (enum method_id)l.m[i]))
            return (enum method_id)l.m[i];
    return METHOD_DELETE;
}

int64_t preempt_cost_lost_by(enum method_id m, const struct job *j, int64_t now_s)
{
    struct preempt_facts f = job_preempt_facts(j);

    return (int64_t)preempt_rules_loss(&f, m, now_s);
}

int64_t preempt_cost_lost(const struct policy *p, const struct job *j, int64_t now_s)
{
    return preempt_cost_lost_by(first_method(p, j, now_s), j, now_s);
}

int64_t preempt_cost_of(const struct policy *p, const struct job *j, int64_t now_s)
{
    int64_t lost = preempt_cost_lost(p, j, now_s);

    return p->preempt_sort == PREEMPT_FEWEST ? ONE_VICTIM + lost : 1 + CORE_SECOND * lost;
}
