/* Vnode by vnode the questions of match.h, in the order in which a person would ask them. See refusal.h.
 *
 * What never helps goes first: another queue's vnode, another architecture, too small. Then what passes: its state, who is on it,
 * what is free. A vnode takes a chunk exactly when match_pool, match_labels and match_open say so and match_times of match_free is
 * not 0; forecast_test.c holds this file to that. */
#include "refusal.h"

#include <string.h>

/* match_pool said no: which of its reasons it is. */
static void other_pool(const struct asker *a, const struct node *n, struct reason *why)
{
    const char *partition = cluster_policy(a->cl)->partition;

    if (strcmp(n->partition ? n->partition : "", partition) != 0)
        reason_set(why, REASON_NODE_PARTITION, n->partition ? n->partition : "default", NULL);
    else if (n->queue)
        reason_set(why, REASON_NODE_QUEUE, n->queue, NULL);
    else
        reason_set(why, REASON_NODE_NO_QUEUE, a->queue ? a->queue->name : "", NULL);
    why->never = true;
}

/* The first resource of which the vnode has too little. */
static void lacks(const struct asker *a, const struct node *n, const struct amounts *have,
                  struct refusal *out)
{
    const struct chunk *k = out->chunk;

    for (uint32_t i = 0; i < k->use.n; i++) {
        const struct amount *want = &k->use.a[i];
        struct chunk one = {.use = {.n = 1, .a = (struct amount *)(uintptr_t)want}};
        if (match_times(a, n, have, &one, 1) > 0)
            continue;
        out->have = amounts_get(have, want->res);
        reason_lack(&out->why, REASON_LACK, cluster_catalogue(a->cl), want->res, want->n, out->have,
                    amounts_get(&n->total, want->res));
        return;
    }
    reason_set(&out->why, REASON_NO_RESOURCES, NULL, NULL);
}

/* It takes so many, or a reservation needs what is free, or too little is. */
static void room_of(const struct asker *a, const struct node *n, struct refusal *out)
{
    struct amounts scratch = {0};
    const struct amounts *is_free = match_free(a, n, &scratch);

    out->times = match_times(a, n, is_free, out->chunk, out->chunk->count);
    if (out->times > 0)
        reason_set(&out->why, REASON_NONE, NULL, NULL);
    else if (match_times(a, n, &n->free, out->chunk, 1) > 0)
        reason_set(&out->why, REASON_RESERVATION, NULL, NULL);
    else
        lacks(a, n, &n->free, out);
    amounts_fini(&scratch);
}

void refusal_of(const struct asker *a, const struct node *n, const struct chunk *k, struct refusal *out)
{
    struct reason *why = &out->why;
    enum reason_code limit;

    *out = (struct refusal){.chunk = k, .n = 1, .nodes = {n}};
    if (!match_pool(a, n)) {
        other_pool(a, n, why);
    } else if (!match_labels(a, n, k)) {
        match_differs(a, n, k, why);
        why->never = true;
    } else if (match_times(a, n, &n->total, k, 1) == 0) {
        lacks(a, n, &n->total, out);
        why->never = true;
    } else if (n->state) {
        reason_set(why, REASON_NODE_STATE, n->state, NULL);
    } else if (n->no_multinode && a->request->n_chunks > 1) {
        reason_set(why, REASON_NODE_MULTI, NULL, NULL);
    } else if ((limit = match_limit(a, n)) != REASON_NONE) {
        reason_set(why, limit, NULL, NULL);
    } else if (n->exclusive) {
        reason_set(why, REASON_NODE_TAKEN, NULL, NULL);
    } else if (!match_open(a, n)) {
        bool is_kept = match_is_kept_alone(a, n) || (match_wants_alone(a, n) && match_is_kept(a, n));
        reason_set(why, is_kept ? REASON_RESERVATION : REASON_NODE_IN_USE, is_kept ? NULL : "the job", NULL);
    } else {
        room_of(a, n, out);
    }
}

/* One group: the same chunk, reason and words. */
static bool is_alike(const struct refusal *x, const struct refusal *y)
{
    return x->chunk == y->chunk && x->why.code == y->why.code && x->why.res == y->why.res &&
           x->why.never == y->why.never && strcmp(x->why.what, y->why.what) == 0;
}

/* The group's amounts are those of the vnode that comes nearest. */
static void join(struct refusal *group, const struct refusal *x)
{
    if (x->why.res != RES_NONE && x->have > group->have) {
        group->have = x->have;
        group->why = x->why;
    }
    group->times += x->times;
    if (group->n < REFUSAL_NAMES_MAX)
        group->nodes[group->n] = x->nodes[0];
    group->n++;
}

void refusals_list(const struct asker *a, struct refusals *l)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(a->cl, &n);

    l->n = l->n_other = 0;
    for (size_t k = 0; k < a->request->n && k < REFUSAL_CHUNKS_MAX; k++)
        for (size_t i = 0; i < n; i++) {
            struct refusal x;
            size_t at = 0;
            refusal_of(a, nodes[i], &a->request->chunks[k], &x);
            while (at < l->n && !is_alike(&l->a[at], &x))
                at++;
            if (at < l->n)
                join(&l->a[at], &x);
            else if (at < REFUSALS_MAX)
                l->a[l->n++] = x;
            else
                l->n_other++;
        }
}
