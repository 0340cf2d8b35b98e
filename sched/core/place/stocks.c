/* See stocks.h. A vnode that takes no jobs counts in the total only, but shared amounts count where they are, even there. */
#include "stocks.h"

#include <string.h>

#include "intern.h"
#include "mem.h"
#include "pools.h"

static void stock_drop(struct stocks *s, struct stock *k)
{
    HASH_DEL(s->all, k);
    intern_unref(k->key.queue);
    intern_unref(k->key.partition);
    amounts_fini(&k->total);
    amounts_fini(&k->free);
    free(k);
}

void stocks_fini(struct stocks *s)
{
    while (s->all)
        stock_drop(s, s->all);
}

static struct stock *stock_of(struct stocks *s, const struct node *n)
{
    struct stock_key key;
    struct stock *k;

    memset(&key, 0, sizeof key); /* hashed as bytes */
    key.queue = n->queue;
    key.partition = n->partition;
    key.no_resv = n->no_resv;
    HASH_FIND(hh, s->all, &key, sizeof key, k);
    if (k)
        return k;
    k = mem_new(1, sizeof *k);
    k->key = key;
    intern_again(key.queue);
    intern_again(key.partition);
    HASH_ADD(hh, s->all, key, sizeof k->key, k);
    return k;
}

bool stock_counts(const struct node *n, res_id res, bool is_open)
{
    if (n->n_pools == 0)
        return is_open;
    return !pools_is_borrowed(n, res) && (is_open || pools_is_lent(n, res));
}

static void stock_share_put(struct amounts *to, const struct node *n, const struct amounts *have,
                            bool is_open)
{
    amounts_clear(to);
    for (uint32_t i = 0; i < have->n; i++) {
        const struct amount *x = &have->a[i];

        if (stock_counts(n, x->res, is_open))
            amounts_plus(to, x->res, x->n);
    }
}

static bool is_below_zero(const struct amounts *have)
{
    for (uint32_t i = 0; i < have->n; i++)
        if (have->a[i].n < 0)
            return true;
    return false;
}

void stock_share_of(struct stocks *s, struct stock_share *x, const struct node *n)
{
    x->stock = stock_of(s, n);
    stock_share_put(&x->total, n, &n->total, true);
    stock_share_put(&x->free, n, &n->free, !n->state && !n->exclusive);
    x->is_kept = n->n_keeps > 0;
    x->is_special = n->n_pools > 0 || n->lent || is_below_zero(&n->free);
}

void stock_share_fini(struct stock_share *x)
{
    amounts_fini(&x->total);
    amounts_fini(&x->free);
}

void stock_add(struct stocks *s, const struct stock_share *x, int64_t times)
{
    struct stock *k = x->stock;

    amounts_add_times(&k->total, &x->total, times);
    amounts_add_times(&k->free, &x->free, times);
    k->n += (size_t)times;
    k->n_kept += x->is_kept ? (size_t)times : 0;
    k->n_special += x->is_special ? (size_t)times : 0;
    if (k->n == 0)
        stock_drop(s, k);
}

/* --- asking ------------------------------------------------------------------------------------------------ */

bool stock_is_for(const struct asker *a, const struct stock *k)
{
    const struct node like = {
        .queue = k->key.queue, .partition = k->key.partition, .no_resv = k->key.no_resv};

    return match_pool(a, &like);
}

bool stocks_sum(const struct stocks *s, const struct asker *a, struct amounts *free_now,
                struct amounts *total)
{
    if (a->in_set || a->within)
        return false;
    for (const struct stock *k = s->all; k; k = k->hh.next) {
        if (!stock_is_for(a, k))
            continue;
        if (k->n_kept > 0 && a->span.by != SPAN_NONE)
            return false;
        amounts_add(total, &k->total);
        amounts_add(free_now, &k->free);
    }
    return true;
}

bool stocks_are_kept(const struct stocks *s)
{
    for (const struct stock *k = s->all; k; k = k->hh.next)
        if (k->n_kept > 0)
            return true;
    return false;
}

bool stocks_may_suffice(const struct stocks *s, const struct asker *a, const struct amounts *others)
{
    const struct amounts *want = &a->request->total;

    if (a->in_set || a->within || cluster_policy(a->cl)->unset_infinite)
        return true;
    for (uint32_t i = 0; i < want->n; i++) {
        int64_t have = 0;
        for (const struct stock *k = s->all; k; k = k->hh.next) {
            if (!stock_is_for(a, k))
                continue;
            if (k->n_special > 0)
                return true;
            have += amounts_get(&k->free, want->a[i].res);
        }
        if (want->a[i].n > 0 && want->a[i].n > have - amounts_get(others, want->a[i].res))
            return false;
    }
    return true;
}
