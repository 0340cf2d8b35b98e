/* The table of earmarks. See earmark.h.
 *
 * An earmark has the name of its job, so there is at most one for a job. Its sums are in earmark_sums.c, its
 * purpose in plan_earmark.c, which listens to EVENT_EARMARK_ROOM. */
#include "earmark.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

struct earmarks {
    struct change *change;
    struct earmark_obj *table;
};

static void earmark_obj_destroy(struct object *o)
{
    object_fini(o);
    free(o);
}

const struct object_kind earmark_kind = {
    .kind = CHANGE_HOLD, .name = "hold", .attrs = OF_HOLD, .destroy = earmark_obj_destroy};

struct earmarks *earmarks_create(struct change *c)
{
    struct earmarks *hs = calloc(1, sizeof *hs);

    if (hs)
        hs->change = c;
    return hs;
}

void earmarks_destroy(struct earmarks *hs)
{
    if (!hs)
        return;
    while (hs->table)
        earmarks_remove(hs, hs->table);
    free(hs);
}

int earmarks_add(struct earmarks *hs, const char *name, struct earmark_obj **out, struct err *e)
{
    struct earmark_obj *h;

    if (earmarks_find(hs, name))
        return err_set(e, PBSE_JOBEXIST, "room is held for %s already", name);
    h = calloc(1, sizeof *h);
    if (!h || object_init(&h->obj, &earmark_kind, name) < 0) {
        free(h);
        return err_set(e, PBSE_SYSTEM, "no memory to hold room for %s", name);
    }
    HASH_ADD_KEYPTR(hh, hs->table, h->obj.name, strlen(h->obj.name), h);
    change_touch(hs->change, &h->obj.change, PART_ALL);
    *out = h;
    return 0;
}

void earmarks_remove(struct earmarks *hs, struct earmark_obj *h)
{
    change_gone(hs->change, &h->obj.change, h->obj.name);
    HASH_DEL(hs->table, h);
    h->obj.gone = true;
    object_unref(&h->obj);
}

struct earmark_obj *earmarks_find(const struct earmarks *hs, const char *name)
{
    struct earmark_obj *h;

    HASH_FIND_STR(hs->table, name, h);
    return h;
}

struct earmark_obj *earmarks_first(const struct earmarks *hs)
{
    return hs->table;
}

struct earmark_obj *earmarks_next(const struct earmark_obj *h)
{
    return h->hh.next;
}
