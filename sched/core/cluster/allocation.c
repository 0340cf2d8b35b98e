/* See allocation.h. */
#include "allocation.h"

#include <stdlib.h>

#include "mem.h"
#include "sched_node.h"

void allocation_add(struct allocation *p, struct node *n, const struct amounts *use, bool joined)
{
    p->a = mem_room(p->a, p->n, &p->cap, sizeof *p->a);
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

void allocation_copy(struct allocation *to, const struct allocation *from)
{
    allocation_fini(to);
    for (size_t i = 0; i < from->n; i++) {
        allocation_add(to, from->a[i].node, &from->a[i].use, from->a[i].joined);
        to->a[i].alone = from->a[i].alone;
        to->a[i].beside = from->a[i].beside;
    }
}

void allocation_lessen(struct allocation *p, const struct node *n, const struct amounts *use)
{
    struct amounts left = {0};

    amounts_copy(&left, use);
    for (size_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; p->a[i].node == n && k < p->a[i].use.n; k++) {
            struct amount *have = &p->a[i].use.a[k];
            int64_t take = amounts_get(&left, have->res);
            take = take < have->n ? take : have->n;
            have->n -= take;
            amounts_plus(&left, have->res, -take);
        }
    amounts_fini(&left);
}
