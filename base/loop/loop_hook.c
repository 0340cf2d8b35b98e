/* Hooks of the end of a turn: a list in their order, and how many are marked. loop.c calls them. */
#include <assert.h>
#include <stdlib.h>

#include "loop_state.h"

struct loop_hook *loop_hook_create(struct loop *l, int order, loop_fn *fn, void *arg)
{
    struct loop_hook *h = calloc(1, sizeof *h), **at = &l->hooks;

    if (!h)
        return NULL;
    while (*at && (*at)->order <= order)
        at = &(*at)->next;
    *h = (struct loop_hook){.l = l, .next = *at, .order = order, .fn = fn, .arg = arg};
    *at = h;
    return h;
}

void loop_hook_mark(struct loop_hook *h)
{
    if (h->marked)
        return;
    h->marked = true;
    h->l->n_marked++;
}

void loop_hook_destroy(struct loop_hook *h)
{
    struct loop_hook **at;

    if (!h)
        return;
    for (at = &h->l->hooks; *at != h; at = &(*at)->next)
        assert(*at);
    *at = h->next;
    h->l->n_marked -= h->marked;
    free(h);
}
