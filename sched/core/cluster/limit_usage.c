/* One hash for users, groups and projects; the kind is part of the key. Names are interned, so the key is
 * compared as bytes, address and kind. An entity is dropped when its last job ends, which bounds the table by
 * what runs. Amounts come and go with the same `want`, so nothing is left in it then. */
#include "limit_usage.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "intern.h"
#include "mem.h"

struct limit_usage_key { /* compared as bytes */
    const char *name;
    int64_t of;
};

struct limit_usage_entity {
    struct limit_usage_key key;
    int64_t jobs;
    struct amounts used;
    UT_hash_handle hh;
};

struct limit_usage {
    struct limit_usage_entity *all;
};

struct limit_usage *limit_usage_create(void)
{
    return mem_new(1, sizeof(struct limit_usage));
}

static void limit_usage_drop(struct limit_usage *t, struct limit_usage_entity *e)
{
    HASH_DEL(t->all, e);
    intern_unref(e->key.name);
    amounts_fini(&e->used);
    free(e);
}

void limit_usage_destroy(struct limit_usage *t)
{
    if (!t)
        return;
    for (struct limit_usage_entity *e = t->all, *next; e; e = next) {
        next = e->hh.next;
        limit_usage_drop(t, e);
    }
    free(t);
}

static struct limit_usage_entity *limit_usage_find(const struct limit_usage *t, enum limit_of of,
                                                   const char *name)
{
    struct limit_usage_key key = {name, of};
    struct limit_usage_entity *e;

    HASH_FIND(hh, t->all, &key, sizeof key, e);
    return e;
}

void limit_usage_add(struct limit_usage *t, enum limit_of of, const char *name, const struct amounts *want,
                     int64_t times)
{
    struct limit_usage_entity *e = name ? limit_usage_find(t, of, name) : NULL;

    if (!name)
        return;
    if (!e) {
        e = mem_new(1, sizeof *e);
        e->key = (struct limit_usage_key){intern_again(name), of};
        HASH_ADD(hh, t->all, key, sizeof e->key, e);
    }
    e->jobs += times;
    amounts_add_times(&e->used, want, times);
    if (e->jobs == 0)
        limit_usage_drop(t, e);
}

int64_t limit_usage_jobs(const struct limit_usage *t, enum limit_of of, const char *name)
{
    const struct limit_usage_entity *e = name ? limit_usage_find(t, of, name) : NULL;

    return e ? e->jobs : 0;
}

int64_t limit_usage_amount(const struct limit_usage *t, enum limit_of of, const char *name, res_id res)
{
    const struct limit_usage_entity *e = name ? limit_usage_find(t, of, name) : NULL;

    return e ? amounts_get(&e->used, res) : 0;
}
