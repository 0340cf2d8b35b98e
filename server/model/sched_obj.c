/* Scheduler objects. See sched_obj.h.
 *
 * The object is the policy and outlives connections; publish/schedulers.c knows which connection has registered
 * as which. "default" is made at the first start and cannot be removed: the server needs it. */
#include "sched_obj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

struct scheds {
    struct change *change;
    struct sched_obj *table;
};

static void sched_destroy(struct object *o)
{
    object_fini(o);
    free(o);
}

const struct object_kind sched_kind = {
    .kind = CHANGE_SCHED, .name = "sched", .attrs = OF_SCHED, .destroy = sched_destroy};

void sched_obj_preset(const struct object *o, int index, const char *home, char out[PATH_MAX])
{
    const bool first = strcmp(o->name, "default") == 0;

    (void)snprintf(out, PATH_MAX, "%s/%s%s%s", home,
                   index == SCHED_ATTR_sched_priv ? "sched_priv" : "sched_logs", first ? "" : "_",
                   first ? "" : o->name);
}

struct scheds *scheds_create(struct change *c)
{
    struct scheds *s = calloc(1, sizeof *s);

    if (s)
        s->change = c;
    return s;
}

static void sched_obj_take_out(struct scheds *s, struct sched_obj *o)
{
    change_gone(s->change, &o->obj.change, o->obj.name);
    HASH_DEL(s->table, o);
    o->obj.gone = true;
    object_unref(&o->obj);
}

void scheds_destroy(struct scheds *s)
{
    if (!s)
        return;
    while (s->table)
        sched_obj_take_out(s, s->table);
    free(s);
}

int scheds_check_name(const char *name, struct err *e)
{
    static const struct object_name_rule rule = {.what = "scheduler", .marks = "_-."};

    return object_check_name(&rule, name, e);
}

int scheds_add(struct scheds *s, const char *name, struct sched_obj **out, struct err *e)
{
    struct sched_obj *o;

    if (strlen(name) > PBS_MAXSCHEDNAME)
        return err_set(e, PBSE_SCHED_NAME_BIG, "scheduler name %s is longer than %d characters", name,
                       PBS_MAXSCHEDNAME);
    if (scheds_find(s, name))
        return err_set(e, PBSE_SCHEDEXIST, "scheduler %s exists already", name);
    o = calloc(1, sizeof *o);
    if (!o || object_init(&o->obj, &sched_kind, name) < 0 || attr_list_set_defaults(&o->obj.attrs, e) < 0) {
        free(o);
        return err_set(e, PBSE_SYSTEM, "no memory for scheduler %s", name);
    }
    HASH_ADD_KEYPTR(hh, s->table, o->obj.name, strlen(o->obj.name), o);
    change_touch(s->change, &o->obj.change, PART_ALL);
    *out = o;
    return 0;
}

int scheds_remove(struct scheds *s, struct sched_obj *o, struct err *e)
{
    if (strcmp(o->obj.name, "default") == 0)
        return err_set(e, PBSE_SCHED_NO_DEL, "the default scheduler cannot be deleted");
    sched_obj_take_out(s, o);
    return 0;
}

struct sched_obj *scheds_find(const struct scheds *s, const char *name)
{
    struct sched_obj *o;

    HASH_FIND_STR(s->table, name, o);
    return o;
}

struct sched_obj *scheds_first(const struct scheds *s)
{
    return s->table;
}

struct sched_obj *scheds_next(const struct sched_obj *o)
{
    return o->hh.next;
}
