/* Made anew as a whole whenever a vnode comes, goes, or changes Priority or host; that is rare. Until then
 * the list may have a vnode that is gone: only ranks_make, called while the universe settles, may follow a
 * change of that kind. Hosts with several vnodes are listed apart, because only there can a chunk be split.
 */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "memory.h"

struct ranks {
    struct host *hosts;
    struct node **nodes;
    struct host **big;
    size_t n, cap, n_big, cap_big;
};

struct ranks *ranks_create(void)
{
    return mem_new(1, sizeof(struct ranks));
}

static void drop_hosts(struct ranks *r)
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

void ranks_destroy(struct ranks *r)
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

static int high_first(const void *a, const void *b)
{
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

    return x->priority != y->priority ? (x->priority > y->priority ? -1 : 1) : by_order(x, y);
}

static int low_first(const void *a, const void *b)
{
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

    return x->priority != y->priority ? (x->priority < y->priority ? -1 : 1) : by_order(x, y);
}

static void host_add(struct ranks *r, struct node *n)
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

void ranks_make(struct ranks *r, struct node *nodes, bool high)
{
    drop_hosts(r);
    r->n = 0;
    for (struct node *n = nodes; n; n = n->hh.next) {
        r->nodes = mem_room(r->nodes, r->n, &r->cap, sizeof *r->nodes);
        r->nodes[r->n++] = n;
    }
    if (r->n)
        qsort(r->nodes, r->n, sizeof *r->nodes, high ? high_first : low_first);
    for (size_t i = 0; i < r->n; i++) {
        r->nodes[i]->rank = (uint32_t)i;
        host_add(r, r->nodes[i]);
    }
}

struct node *const *ranks_nodes(const struct ranks *r, size_t *n)
{
    *n = r->n;
    return r->nodes;
}

struct host *const *ranks_big_hosts(const struct ranks *r, size_t *n)
{
    *n = r->n_big;
    return r->big;
}
