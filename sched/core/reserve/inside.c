/* What is lent, vnode by vnode: the difference between what is free to all and what is free inside is one step of the trial. See
 * inside.h. */
#include "inside.h"

#include <stdlib.h>

#include "mem.h"

struct inside {
    struct cluster *cl;
    struct resv *r;       /* NULL: none is entered */
    struct amounts *less; /* beside the parts of its share: borrowed by the trial */
    size_t n, cap;
};

struct inside *inside_create(struct cluster *cl)
{
    struct inside *x = mem_new(1, sizeof *x);

    x->cl = cl;
    return x;
}

void inside_destroy(struct inside *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->cap; i++)
        amounts_fini(&x->less[i]);
    free(x->less);
    free(x);
}

struct inside_use { /* of its jobs on one vnode */
    struct amounts sum;
    int64_t n_jobs;
    bool alone;
};

static void inside_add(struct inside_use *u, const struct allocation *on, const struct node *n)
{
    bool is_on = false;

    for (size_t i = 0; i < on->n; i++) {
        if (on->a[i].node != n)
            continue;
        amounts_add(&u->sum, &on->a[i].use);
        u->alone = u->alone || on->a[i].alone;
        is_on = true;
    }
    u->n_jobs += is_on;
}

static void inside_sum(const struct inside *x, const struct node *n, struct inside_use *u)
{
    size_t n_ordered;
    struct job *const *ordered = cluster_ordered(x->cl, &n_ordered);

    for (size_t i = 0; i < n->n_on; i++) {
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = n->jobs[k] == n->jobs[i];
        if (!again && n->jobs[i]->resv == x->r->id)
            inside_add(u, &n->jobs[i]->on, n);
    }
    for (size_t i = 0; i < n_ordered; i++)
        if (ordered[i]->resv == x->r->id)
            inside_add(u, &ordered[i]->claim, n);
}

void inside_enter(struct inside *x, struct trial *t, struct resv *r)
{
    const struct allocation *share = &r->times[0].share;

    if (x->cap < share->n) {
        x->less = mem_grow(x->less, share->n, sizeof *x->less);
        for (; x->cap < share->n; x->cap++)
            x->less[x->cap] = (struct amounts){0};
    }
    x->r = r;
    for (size_t i = 0; i < share->n; i++) {
        struct node *n = share->a[i].node;
        struct inside_use u = {.n_jobs = 0};
        inside_sum(x, n, &u);
        amounts_copy(&x->less[i], &n->free);
        amounts_sub(&x->less[i], &share->a[i].use);
        amounts_add(&x->less[i], &u.sum);
        trial_lend(t, n, &x->less[i], u.n_jobs, u.alone);
        n->lent = r;
        amounts_fini(&u.sum);
    }
}

void inside_leave(struct inside *x)
{
    const struct allocation *share = &x->r->times[0].share;

    for (size_t i = 0; i < share->n; i++)
        share->a[i].node->lent = NULL;
    x->r = NULL;
}

int64_t inside_left_s(const struct job *j, int64_t now_s)
{
    int64_t end_s = j->within && j->within->n_times > 0 ? j->within->times[0].to_s : 0;

    return end_s > now_s && now_s + job_lasts_s(j) > end_s ? end_s - now_s : 0;
}
