/* Parts in a growing array. See allocation.h.
 *
 * Taking one allocation off another costs O(parts) by an index: node->listed is the first part of a vnode,
 * from 1, and `next` chains the others. node->listed is scratch memory that several walks share, so none of
 * them may be inside another, and each leaves it 0. */
#include "allocation.h"

#include <stdlib.h>

#include "mem.h"
#include "sched_node.h"

/* The amounts are copied: what they come from may move. */
void allocation_add(struct allocation *p, struct node *n, const struct amounts *use, bool joined)
{
    size_t cap = p->cap;

    p->a = mem_room(p->a, p->n, &cap, sizeof *p->a);
    p->cap = (uint32_t)cap;
    struct alloc_part *x = &p->a[p->n++];
    *x = (struct alloc_part){.node = n, .joined = joined};
    amounts_copy(&x->use, use);
}

static bool has_node(const struct allocation *p, const struct node *n)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node == n)
            return true;
    return false;
}

/* The host's other vnodes, of which nothing is used: no other job may come there. */
static void add_beside(struct allocation *p, const struct host *h)
{
    const struct amounts nothing = {0};

    for (size_t i = 0; h && i < h->n; i++) {
        if (has_node(p, h->nodes[i]))
            continue;
        allocation_add(p, h->nodes[i], &nothing, false);
        p->a[p->n - 1].alone = p->a[p->n - 1].beside = true;
    }
}

void allocation_mark_alone(struct allocation *p, enum sharing place)
{
    size_t named = p->n;

    for (size_t i = 0; i < named; i++) {
        const struct node *n = p->a[i].node;
        bool host = n && node_is_host_alone_for(n, place);
        p->a[i].alone = host || (n && node_is_alone_for(n, place));
        if (host)
            add_beside(p, n->host);
    }
}

void allocation_fini(struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        amounts_fini(&p->a[i].use);
    free(p->a);
    *p = (struct allocation){0};
}

/* `to` may hold another one before, not `from` itself. */
void allocation_copy(struct allocation *to, const struct allocation *from)
{
    allocation_fini(to);
    for (size_t i = 0; i < from->n; i++) {
        allocation_add(to, from->a[i].node, &from->a[i].use, from->a[i].joined);
        to->a[i].alone = from->a[i].alone;
        to->a[i].beside = from->a[i].beside;
    }
}

/* next[i] is where the vnode of part i is listed again, from 1; 0: nowhere. node->listed is where it is first. */
size_t *allocation_index(const struct allocation *p)
{
    size_t *next = mem_new(p->n + 1, sizeof *next);

    for (size_t i = p->n; i > 0; i--) {
        struct node *n = p->a[i - 1].node;
        if (!n)
            continue;
        next[i - 1] = n->listed;
        n->listed = i;
    }
    return next;
}

void allocation_unindex(const struct allocation *p, size_t *next)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node)
            p->a[i].node->listed = 0;
    free(next);
}

/* As much of `left` as this part has; `left` is less by that. */
static void allocation_take_off(struct alloc_part *x, struct amounts *left)
{
    for (uint32_t k = 0; k < x->use.n; k++) {
        struct amount *have = &x->use.a[k];
        int64_t take = amounts_get(left, have->res);
        take = take < have->n ? take : have->n;
        have->n -= take;
        amounts_plus(left, have->res, -take);
    }
}

/* Several parts on one vnode are taken off one after the other until nothing is left to take. */
void allocation_lessen(struct allocation *p, const size_t *next, const struct allocation *less)
{
    struct amounts left = {0};

    for (size_t k = 0; k < less->n; k++) {
        const struct node *n = less->a[k].node;
        if (!n || n->listed == 0)
            continue;
        amounts_copy(&left, &less->a[k].use);
        for (size_t i = n->listed; i > 0; i = next[i - 1])
            allocation_take_off(&p->a[i - 1], &left);
    }
    amounts_fini(&left);
}
