/* A log of steps, undone from its end. The listeners of the cluster are told of each step as of a change
 * that has come, so buckets are always right, in a trial as well. A step keeps what `exclusive` was, since
 * that cannot be computed back; amounts are subtracted again. */
#include "trial.h"

#include <stdlib.h>

#include "mem.h"

struct step {
    struct node *node;
    const struct amounts *use; /* NULL: only `exclusive` moved */
    int sign;                  /* 1: taken, -1: given */
    int64_t jobs;              /* so many more are there */
    bool was_exclusive;
};

struct trial {
    struct cluster *cl;
    struct step *steps;
    size_t n, cap;
};

struct trial *trial_create(struct cluster *cl)
{
    struct trial *t = mem_new(1, sizeof *t);

    t->cl = cl;
    return t;
}

void trial_destroy(struct trial *t)
{
    if (!t)
        return;
    trial_undo(t, 0);
    free(t->steps);
    free(t);
}

size_t trial_mark(const struct trial *t)
{
    return t->n;
}

/* A step before it is done: first written down, then made. */
static void trial_step(struct trial *t, struct node *n, const struct amounts *use, int sign, int64_t jobs,
                       bool exclusive)
{
    t->steps = mem_room(t->steps, t->n, &t->cap, sizeof *t->steps);
    t->steps[t->n++] =
        (struct step){.node = n, .use = use, .sign = sign, .jobs = jobs, .was_exclusive = n->exclusive};
    cluster_node_out(t->cl, n); /* a node is found in its bucket by its present content */
    if (use)
        cluster_node_move(t->cl, n, use, -sign);
    n->n_jobs += jobs;
    n->exclusive = exclusive;
    cluster_node_in(t->cl, n);
}

void trial_take(struct trial *t, struct node *n, const struct amounts *use)
{
    if (n)
        trial_step(t, n, use, 1, 1, n->exclusive);
}

/* Is it still exclusive when so many have gone? The last one to go leaves it open. */
static bool stays_exclusive(const struct node *n, int64_t n_gone)
{
    return n->exclusive && (n_gone == 0 || n->n_jobs > n_gone || n->earmarked_alone);
}

static void trial_give(struct trial *t, struct node *n, const struct amounts *use)
{
    if (n)
        trial_step(t, n, use, -1, -1, stays_exclusive(n, 1));
}

void trial_exchange(struct trial *t, struct node *n, const struct amounts *less, int64_t n_gone,
                    int64_t n_comes)
{
    trial_step(t, n, less, 1, n_comes - n_gone, stays_exclusive(n, n_gone));
}

void trial_exclude(struct trial *t, struct node *n)
{
    trial_step(t, n, NULL, 0, 0, true);
}

void trial_lend(struct trial *t, struct node *n, const struct amounts *less, int64_t jobs, bool exclusive)
{
    trial_step(t, n, less, 1, jobs - n->n_jobs, exclusive);
}

/* From the end, so that a vnode goes through its states backwards. */
void trial_undo(struct trial *t, size_t mark)
{
    while (t->n > mark) {
        struct step *s = &t->steps[--t->n];
        cluster_node_out(t->cl, s->node);
        if (s->use)
            cluster_node_move(t->cl, s->node, s->use, s->sign);
        s->node->n_jobs -= s->jobs;
        s->node->exclusive = s->was_exclusive;
        cluster_node_in(t->cl, s->node);
    }
}

void trial_give_all(struct trial *t, const struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        trial_give(t, p->a[i].node, &p->a[i].use);
}

void trial_take_all(struct trial *t, const struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        trial_take(t, p->a[i].node, &p->a[i].use);
}
