/* One move a vnode. See under_way.h. node->listed says, while the list is made, where a vnode is in it. */
#include "under_way.h"

#include <stdlib.h>

#include "mem.h"

static void under_way_empty(struct under_way *u)
{
    while (u->n > 0)
        amounts_fini(&u->a[--u->n].less);
}

static struct under_way_part *under_way_part_of(struct under_way *u, struct node *n)
{
    if (n->listed == 0) {
        u->a = mem_room(u->a, u->n, &u->cap, sizeof *u->a);
        u->a[u->n++] = (struct under_way_part){.node = n};
        n->listed = u->n;
    }
    return &u->a[n->listed - 1];
}

/* `times` 1: the parts come; -1: they go. */
static void under_way_add(struct under_way *u, const struct allocation *parts, int64_t times)
{
    for (size_t i = 0; i < parts->n; i++) {
        if (!parts->a[i].node)
            continue;
        struct under_way_part *x = under_way_part_of(u, parts->a[i].node);
        amounts_add_times(&x->less, &parts->a[i].use, times);
        x->n_gone += times < 0;
        x->n_comes += times > 0;
    }
}

void under_way_list(struct under_way *u, const struct release_times *l)
{
    under_way_empty(u);
    under_way_add(u, &l->leave, -1);
    under_way_add(u, &l->kept, -1);
    under_way_add(u, &l->come, 1);
    for (size_t i = 0; i < u->n; i++)
        u->a[i].node->listed = 0;
}

void under_way_end(const struct under_way *u, struct trial *t)
{
    for (size_t i = 0; i < u->n; i++)
        trial_exchange(t, u->a[i].node, &u->a[i].less, u->a[i].n_gone, u->a[i].n_comes);
}

void under_way_fini(struct under_way *u)
{
    under_way_empty(u);
    free(u->a);
    *u = (struct under_way){0};
}
