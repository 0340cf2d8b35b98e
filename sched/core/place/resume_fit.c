/* The room of a suspended job, vnode by vnode. See resume_fit.h. */
#include "resume_fit.h"

#include "match.h"

/* It must be open, and empty if the job is to have it alone again. What is shut though no job is there it has kept
 * itself, as it may where the site limits what a suspended job gives back. */
static bool is_open_again(const struct asker *a, const struct alloc_part *p)
{
    const struct job *j = a->job;
    const struct node *n = p->node;

    if (match_is_kept_alone(a, n) || (p->alone && match_is_kept(a, n)))
        return false;
    if (p->alone && j->released && n->exclusive && !node_is_occupied(n))
        return true;
    return !n->exclusive && !(p->alone && node_is_occupied(n));
}

/* All that it gave back on the vnode of this piece: its chunks may lie side by side. */
static void sum_on(const struct allocation *p, const struct node *n, struct amounts *sum)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node == n)
            amounts_add(sum, &p->a[i].use);
}

static bool is_covered(const struct asker *a, const struct node *n, struct reason *why)
{
    struct amounts sum = {0}, scratch = {0};
    const struct amounts *is_free = match_free(a, n, &scratch);
    res_id res;

    sum_on(&a->job->on, n, &sum);
    bool covered = amounts_cover(is_free, &sum, &res);
    if (!covered)
        reason_lack(why, REASON_LACK, cluster_catalogue(a->cl), res, amounts_get(&sum, res),
                    amounts_get(is_free, res), amounts_get(&n->total, res));
    amounts_fini(&sum);
    amounts_fini(&scratch);
    return covered;
}

/* The first vnode that is not as it must be names the reason. */
bool resume_fits(const struct asker *a, struct reason *why)
{
    const struct job *j = a->job;

    for (size_t i = 0; i < j->on.n; i++) {
        const struct node *n = j->on.a[i].node;
        if (n && n->state && !j->on.a[i].beside) {
            match_away(n, 0, why);
            return false;
        }
        if (!n || !is_open_again(a, &j->on.a[i])) {
            reason_set(why, REASON_NODE_STATE, n ? "job-exclusive" : "gone", NULL);
            return false;
        }
        if (!is_covered(a, n, why))
            return false;
    }
    return j->on.n > 0;
}
