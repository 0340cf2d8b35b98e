/* See nonconsumable.h. A list, not a table: a vnode or a chunk has few of them, and they keep the order of the text. */
#include "nonconsumable.h"

#include <stdlib.h>

#include "intern.h"
#include "mem.h"

void nonconsumables_add(struct nonconsumables *l, res_id res, const char *text)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = (struct nonconsumable){.res = res, .text = mem_intern(text)};
}

void nonconsumables_fini(struct nonconsumables *l)
{
    for (size_t i = 0; i < l->n; i++)
        intern_unref(l->a[i].text);
    free(l->a);
    *l = (struct nonconsumables){0};
}

const char *nonconsumables_find(const struct nonconsumables *l, res_id res)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i].res == res)
            return l->a[i].text;
    return NULL;
}
