/* Calls to be made later, in order: see call_list.h. */
#include "call_list.h"

#include <stdlib.h>

void call_list_init(struct call_list *list)
{
    list->first = NULL;
    list->last = &list->first;
    list->n = 0;
}

struct call *call_list_create_call(loop_fn *fn, void *arg)
{
    struct call *c = malloc(sizeof *c);

    if (c)
        *c = (struct call){.fn = fn, .arg = arg};
    return c;
}

void call_list_add(struct call_list *list, struct call *c)
{
    *list->last = c;
    list->last = &c->next;
    list->n++;
}

/* The last one to leave leaves an empty list, whose end is its beginning. */
struct call *call_list_take(struct call_list *list)
{
    struct call *c = list->first;

    if (!c)
        return NULL;
    list->n--;
    if (!(list->first = c->next))
        call_list_init(list);
    return c;
}

void call_list_move(struct call_list *to, struct call_list *from)
{
    if (!from->first)
        return;
    *to->last = from->first;
    to->last = from->last;
    to->n += from->n;
    call_list_init(from);
}

/* Sorted out into a second list, so that the order of the others stays. */
size_t call_list_forget(struct call_list *list, loop_fn *fn, void *arg)
{
    struct call_list kept;
    size_t had = list->n;
    struct call *c;

    call_list_init(&kept);
    while ((c = call_list_take(list))) {
        c->next = NULL;
        if (c->fn == fn && c->arg == arg)
            free(c);
        else
            call_list_add(&kept, c);
    }
    call_list_move(list, &kept);
    return had - list->n;
}

void call_list_drop(struct call_list *list)
{
    struct call *c;

    while ((c = call_list_take(list)))
        free(c);
}
