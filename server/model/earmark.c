/* The table of holds. See earmark.h.
 *
 * A hold is named by the job that it is for: so there is at most one for a job. What it means stands
 * elsewhere (earmark_sums.c, plan_earmark.c); here it only is there, and the hook `room` joins the two without either
 * knowing the other. */
#include "earmark.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

struct holds {
    struct change *change;
    struct hold_obj *table;
    holds_room_fn *room;
    void *room_arg;
};

static void hold_destroy(struct object *o)
{
    object_fini(o);
    free(o);
}

const struct object_kind hold_kind = {
    .kind = CHANGE_HOLD, .name = "hold", .attrs = OF_HOLD, .destroy = hold_destroy};

struct holds *holds_create(struct change *c)
{
    struct holds *hs = calloc(1, sizeof *hs);

    if (hs)
        hs->change = c;
    return hs;
}

void holds_destroy(struct holds *hs)
{
    if (!hs)
        return;
    while (hs->table)
        holds_remove(hs, hs->table);
    free(hs);
}

int holds_add(struct holds *hs, const char *name, struct hold_obj **out, struct err *e)
{
    struct hold_obj *h;

    if (holds_find(hs, name))
        return err_set(e, PBSE_JOBEXIST, "room is held for %s already", name);
    h = calloc(1, sizeof *h);
    if (!h || object_init(&h->obj, &hold_kind, name) < 0) {
        free(h);
        return err_set(e, PBSE_SYSTEM, "no memory to hold room for %s", name);
    }
    HASH_ADD_KEYPTR(hh, hs->table, h->obj.name, strlen(h->obj.name), h);
    change_touch(hs->change, &h->obj.change, PART_ALL);
    *out = h;
    return 0;
}

void holds_remove(struct holds *hs, struct hold_obj *h)
{
    change_gone(hs->change, &h->obj.change, h->obj.name);
    HASH_DEL(hs->table, h);
    h->obj.gone = true;
    object_unref(&h->obj);
}

struct hold_obj *holds_find(const struct holds *hs, const char *name)
{
    struct hold_obj *h;

    HASH_FIND_STR(hs->table, name, h);
    return h;
}

struct hold_obj *holds_first(const struct holds *hs)
{
    return hs->table;
}

struct hold_obj *holds_next(const struct hold_obj *h)
{
    return h->hh.next;
}

void holds_on_room(struct holds *hs, holds_room_fn *fn, void *arg)
{
    hs->room = fn;
    hs->room_arg = arg;
}

void holds_tell_room(const struct holds *hs, struct hold_obj *h)
{
    if (hs->room)
        hs->room(hs->room_arg, h);
}
