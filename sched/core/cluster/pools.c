/* Amounts that vnodes share. See pools.h.
 *
 * A pool is of one lender and one resource. To find the lender the vnodes' table is asked, so all pools are made in one
 * pass, before anything is settled: pools_make comes before the members are settled, since it moves their
 * totals. */
#include "pools.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct pools {
    struct pools_hooks hooks;
    struct pool **a;
    size_t n, cap;
    bool wrong;
    bool are_loans; /* some vnode borrows */
};

struct pools *pools_create(const struct pools_hooks *hooks)
{
    struct pools *p = mem_new(1, sizeof *p);

    p->hooks = *hooks;
    return p;
}

static void drop_all(struct pools *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->a[i]->a);
        free(p->a[i]);
    }
    p->n = 0;
}

void pools_destroy(struct pools *p)
{
    if (!p)
        return;
    drop_all(p);
    free(p->a);
    free(p);
}

/* Empty all pools, and make every vnode forget its own. */
static void scatter(struct pools *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->a[i]->n; k++)
            p->a[i]->a[k]->n_pools = 0;
    drop_all(p);
}

/* What the lender has in all; a[0] is the lender. */
static int64_t offered(const struct pool *pool)
{
    return amounts_get(&pool->a[0]->total, pool->res);
}

/* Pools are not made here: a lender may come later in the same portion of news. */
void pools_seen(struct pools *p, struct node *n, bool is_other, pools_fn *changed, void *arg)
{
    if (is_other) {
        p->wrong = p->wrong || p->are_loans || n->n_loans;
        return;
    }
    for (size_t i = 0; i < n->n_pools; i++) {
        struct pool *pool = n->pools[i];

        amounts_set(&n->total, pool->res, offered(pool));
        for (size_t k = 0; k < pool->n; k++)
            changed(arg, pool->a[k]);
    }
}

void pools_gone(struct pools *p, const struct node *n)
{
    p->wrong = p->wrong || p->are_loans;
    if (n->n_pools)
        scatter(p);
}

static void join(struct pool *pool, struct node *n)
{
    pool->a = mem_room(pool->a, pool->n, &pool->cap, sizeof *pool->a);
    pool->a[pool->n++] = n;
    n->pools = mem_grow(n->pools, n->n_pools + 1, sizeof *n->pools);
    n->pools[n->n_pools++] = pool;
}

/* The lender's pool of this resource, made if it is not there, with the lender as its first member. */
static struct pool *pool_of(struct pools *p, struct node *lender, res_id res)
{
    struct pool *pool;

    for (size_t i = 0; i < lender->n_pools; i++)
        if (lender->pools[i]->res == res && lender->pools[i]->a[0] == lender)
            return lender->pools[i];
    p->a = mem_room(p->a, p->n, &p->cap, sizeof *p->a);
    pool = p->a[p->n++] = mem_new(1, sizeof *pool);
    pool->res = res;
    join(pool, lender);
    return pool;
}

/* A lender that is not there lends nothing; a vnode that borrows from itself has what it says. */
static void borrow(struct pools *p, struct node *nodes, struct node *n, const struct node_loan *loan)
{
    struct node *lender;

    HASH_FIND_STR(nodes, loan->lender, lender);
    amounts_set(&n->total, loan->res, lender ? amounts_get(&lender->total, loan->res) : 0);
    if (lender && lender != n)
        join(pool_of(p, lender, loan->res), n);
}

void pools_make(struct pools *p, struct node *nodes, pools_fn *changed, void *arg)
{
    if (!p->wrong)
        return;
    p->wrong = p->are_loans = false;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->a[i]->n; k++)
            changed(arg, p->a[i]->a[k]);
    scatter(p);
    for (struct node *n = nodes; n; n = n->hh.next)
        for (size_t i = 0; i < n->n_loans; i++) {
            borrow(p, nodes, n, &n->loans[i]);
            p->are_loans = true;
        }
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->a[i]->n; k++)
            changed(arg, p->a[i]->a[k]);
}

/* All members use one amount. */
static int64_t free_of(const struct pool *pool)
{
    int64_t n = offered(pool);

    for (size_t i = 0; i < pool->n; i++)
        n -= amounts_get(&pool->a[i]->used, pool->res) + amounts_get(&pool->a[i]->claimed, pool->res);
    return n;
}

void pools_settle(struct node *n)
{
    for (size_t i = 0; i < n->n_pools; i++)
        amounts_set(&n->free, n->pools[i]->res, free_of(n->pools[i]));
}

/* Other members go out of the cluster's indices and in again, since what is free of them moves too. */
void pools_move(struct pools *p, struct node *n, const struct amounts *use, int64_t times)
{
    amounts_add_times(&n->free, use, times);
    for (size_t i = 0; i < n->n_pools; i++) {
        const struct pool *pool = n->pools[i];
        int64_t x = amounts_get(use, pool->res) * times;

        for (size_t k = 0; x && k < pool->n; k++) {
            struct node *other = pool->a[k];

            if (other == n)
                continue;
            p->hooks.out(p->hooks.arg, other);
            amounts_plus(&other->free, pool->res, x);
            p->hooks.in(p->hooks.arg, other);
        }
    }
}

static bool is_in_a_pool(const struct node *n, res_id res, bool as_lender)
{
    for (size_t i = 0; i < n->n_pools; i++)
        if (n->pools[i]->res == res && (n->pools[i]->a[0] == n) == as_lender)
            return true;
    return false;
}

bool pools_is_borrowed(const struct node *n, res_id res)
{
    return is_in_a_pool(n, res, false);
}

bool pools_is_lent(const struct node *n, res_id res)
{
    return is_in_a_pool(n, res, true);
}

void pools_count_once(const struct node *n, struct amounts *sum)
{
    for (size_t i = 0; i < n->n_pools; i++)
        amounts_set(sum, n->pools[i]->res, amounts_get(&n->free, n->pools[i]->res));
}
