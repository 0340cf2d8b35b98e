/* A heap of heaps. See class_heap.h.
 *
 * A group is of one entity, or of all jobs where there are no shares; it stays until the heap is cleared,
 * since there are few, but is on the outer heap only while it has classes. Both heaps have the children of
 * i at 2i + 1 and 2i + 2; the first is in place 0. */

#include "class_heap.h"

#include <stdlib.h>
#include <uthash.h>

#include "fairshare.h"
#include "job_order.h"
#include "mem.h"
#include "preempt_level.h"

struct class_group {
    const struct share *share; /* the key; NULL: no shares */
    struct class **a;          /* a heap */
    size_t n, cap;
    UT_hash_handle hh;
};

struct class_heap {
    struct cluster *cl;
    struct class_group *all;
    struct class_group **a; /* a heap of those that have classes, by their first ones */
    size_t n, cap, n_classes;
};

struct class_heap *class_heap_create(struct cluster *cl)
{
    struct class_heap *h = mem_new(1, sizeof *h);

    h->cl = cl;
    return h;
}

void class_heap_clear(struct class_heap *h)
{
    for (struct class_group *g = h->all, *next; g; g = next) {
        next = g->hh.next;
        HASH_DEL(h->all, g);
        free(g->a);
        free(g);
    }
    h->n = h->n_classes = 0;
}

void class_heap_destroy(struct class_heap *h)
{
    if (!h)
        return;
    class_heap_clear(h);
    free(h->a);
    free(h);
}

/* --- order --------------------------------------------------------------------------------------------------- */

/* Jobs of reservations that run go first: their room is for them alone, and they delay no other job. */
static bool is_before(const struct class_heap *h, const struct class *a, const struct class *b)
{
    if (!a->heap[0]->within != !b->heap[0]->within)
        return a->heap[0]->within;
    return job_order_compare_heads(cluster_policy(h->cl), a->heap[0], a->level, b->heap[0], b->level) < 0;
}

/* Entry i of this group goes down until none of its children is before it. */
static void sink_class(const struct class_heap *h, struct class_group *g, size_t i)
{
    struct class *k = g->a[i];

    for (size_t child; (child = 2 * i + 1) < g->n; i = child) {
        if (child + 1 < g->n && is_before(h, g->a[child + 1], g->a[child]))
            child++;
        if (!is_before(h, g->a[child], k))
            break;
        g->a[i] = g->a[child];
    }
    g->a[i] = k;
}

/* The same of groups, which are compared by their first classes. A group on the heap is never empty. */
static void sink_group(struct class_heap *h, size_t i)
{
    struct class_group *g = h->a[i];

    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && is_before(h, h->a[child + 1]->a[0], h->a[child]->a[0]))
            child++;
        if (!is_before(h, h->a[child]->a[0], g->a[0]))
            break;
        h->a[i] = h->a[child];
    }
    h->a[i] = g;
}

static void order_groups(struct class_heap *h)
{
    for (size_t i = h->n / 2; i > 0; i--)
        sink_group(h, i - 1);
}

void class_heap_order(struct class_heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = h->a[i]->n / 2; k > 0; k--)
            sink_class(h, h->a[i], k - 1);
    order_groups(h);
}

void class_heap_relevel(struct class_heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        for (size_t k = 0; k < h->a[i]->n; k++) {
            struct class *x = h->a[i]->a[k];
            x->level = preempt_level_of(h->cl, x->heap[0]);
        }
    class_heap_order(h);
}

/* --- what is in it ------------------------------------------------------------------------------------------- */

static struct class_group *group_of(struct class_heap *h, const struct share *share)
{
    struct class_group *g;

    HASH_FIND_PTR(h->all, &share, g);
    if (g)
        return g;
    g = mem_new(1, sizeof *g);
    g->share = share;
    HASH_ADD_PTR(h->all, share, g);
    return g;
}

void class_heap_add(struct class_heap *h, struct class *k)
{
    struct class_group *g = group_of(h, cluster_policy(h->cl)->fair_share ? k->key.share : NULL);

    if (g->n == 0) {
        h->a = mem_room(h->a, h->n, &h->cap, sizeof(struct class_group *));
        h->a[h->n++] = g;
    }
    g->a = mem_room(g->a, g->n, &g->cap, sizeof(struct class *));
    g->a[g->n++] = k;
    h->n_classes++;
}

size_t class_heap_size(const struct class_heap *h)
{
    return h->n_classes;
}

struct class *class_heap_top(const struct class_heap *h)
{
    return h->n > 0 ? h->a[0]->a[0] : NULL;
}

/* The top group's first class is another. Where entities are nested (depth above 1) the start of one's job
 * moves the others of its branch too, so all groups are ordered again. */
static void put_top_group(struct class_heap *h, const struct share *share)
{
    if (h->n == 0)
        return;
    if (share && fairshare_depth(share) > 1)
        order_groups(h);
    else
        sink_group(h, 0);
}

void class_heap_drop_top(struct class_heap *h)
{
    struct class_group *g = h->a[0];

    g->a[0] = g->a[--g->n];
    h->n_classes--;
    if (g->n > 0)
        sink_class(h, g, 0);
    else
        h->a[0] = h->a[--h->n];
    put_top_group(h, g->share);
}

void class_heap_top_moved(struct class_heap *h)
{
    struct class_group *g = h->a[0];

    if (g->a[0]->n == 0) {
        class_heap_drop_top(h);
        return;
    }
    sink_class(h, g, 0);
    put_top_group(h, g->share);
}
