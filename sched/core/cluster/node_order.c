/* Made again as a whole whenever a vnode comes, goes, or changes host or what it is sorted by; that is rare, unless the
 * site sorts by what is used. Until then
 * the list may have a vnode that is gone: only node_order_make, called while the cluster settles, may follow a
 * change of that kind. Hosts with several vnodes are listed apart, because only there can a chunk be split.
 */
#include "node_order.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"

struct node_order {
    struct host *hosts;
    struct node **nodes;
    struct host **big;
    size_t n, cap, n_big, cap_big;
};

struct node_order *node_order_create(void)
{
    return mem_new(1, sizeof(struct node_order));
}

/* Hosts are made again with each order: a vnode may have moved to another. */
static void drop_hosts(struct node_order *r)
{
    for (struct host *h = r->hosts, *next; h; h = next) {
        next = h->hh.next;
        HASH_DEL(r->hosts, h);
        intern_unref(h->name);
        free(h->nodes);
        free(h);
    }
    r->n_big = 0;
}

void node_order_destroy(struct node_order *r)
{
    if (!r)
        return;
    drop_hosts(r);
    free(r->nodes);
    free(r->big);
    free(r);
}

/* n2 before n10: the stream tells nodes in the order of their last change, which means nothing. */
static int by_order(const struct node *x, const struct node *y)
{
    return strverscmp(x->name, y->name);
}

/* What is used or ordered. Not total less `free`: a vnode that is being settled does not have it yet. */
static int64_t assigned(const struct node *n, res_id res)
{
    return amounts_get(&n->used, res) + amounts_get(&n->claimed, res);
}

static int64_t node_order_key_of(const struct node_key *k, const struct node *n)
{
    switch (k->what) {
    case NODE_BY_PRIORITY:
        return n->priority;
    case NODE_BY_LAST_USE:
        return n->last_used_s;
    case NODE_BY_TOTAL:
        return amounts_get(&n->total, k->id);
    case NODE_BY_ASSIGNED:
        return assigned(n, k->id);
    case NODE_BY_UNUSED:
        return amounts_get(&n->total, k->id) - assigned(n, k->id);
    }
    return 0;
}

/* Keys in order, then names: the order is total, so that ranks do not depend on the order in which vnodes
 * came. */
static int node_order_compare(const void *a, const void *b, void *policy)
{
    const struct policy *p = policy;
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

    for (size_t i = 0; i < p->n_node_sort; i++) {
        const struct node_key *k = &p->node_sort[i];
        int64_t of_x = node_order_key_of(k, x), of_y = node_order_key_of(k, y);
        if (of_x != of_y)
            return (of_x > of_y) == k->high ? -1 : 1;
    }
    return by_order(x, y);
}

/* Called by rank, so a host's vnodes are in the order of filling. The second vnode makes it a big host. */
static void host_add(struct node_order *r, struct node *n)
{
    struct host *h;

    HASH_FIND_STR(r->hosts, n->host_name, h);
    if (!h) {
        h = mem_new(1, sizeof *h);
        h->name = intern_again(n->host_name);
        HASH_ADD_KEYPTR(hh, r->hosts, h->name, strlen(h->name), h);
    }
    h->nodes = mem_room(h->nodes, h->n, &h->cap, sizeof *h->nodes);
    h->nodes[h->n++] = n;
    n->host = h;
    if (h->n != 2)
        return;
    r->big = mem_room(r->big, r->n_big, &r->cap_big, sizeof *r->big);
    r->big[r->n_big++] = h;
}

void node_order_make(struct node_order *r, struct node *nodes, const struct policy *p)
{
    drop_hosts(r);
    r->n = 0;
    for (struct node *n = nodes; n; n = n->hh.next) {
        r->nodes = mem_room(r->nodes, r->n, &r->cap, sizeof *r->nodes);
        r->nodes[r->n++] = n;
    }
    if (r->n)
        qsort_r(r->nodes, r->n, sizeof *r->nodes, node_order_compare, (void *)(uintptr_t)p);
    for (size_t i = 0; i < r->n; i++) {
        r->nodes[i]->rank = (uint32_t)i;
        host_add(r, r->nodes[i]);
    }
}

struct node *const *node_order_nodes(const struct node_order *r, size_t *n)
{
    *n = r->n;
    return r->nodes;
}

struct host *const *node_order_big_hosts(const struct node_order *r, size_t *n)
{
    *n = r->n_big;
    return r->big;
}
