/* Two syntaxes, one list of rows, searched from the front: there are few. Both end in the same struct limit;
 * the old one has no names, so its rows are for all together or for each. A resource that is not known, or has
 * no amounts, is not a limit.
 *
 * Names are interned and compared by address, here and by the callers. */
#include "limit_list.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"

/* What each attribute limits. Old attributes have one amount, for each or for all. */
static const struct limit_list_form {
    const char *name;
    bool has_resource, soft;
    char old; /* 0: a list of entities */
} forms[] = {
    {"max_run", false, false, 0},
    {"max_run_soft", false, true, 0},
    {"max_run_res", true, false, 0},
    {"max_run_res_soft", true, true, 0},
    {"max_running", false, false, LIMIT_OF_ALL},
    {"max_user_run", false, false, LIMIT_OF_USER},
    {"max_user_run_soft", false, true, LIMIT_OF_USER},
    {"max_group_run", false, false, LIMIT_OF_GROUP},
    {"max_group_run_soft", false, true, LIMIT_OF_GROUP},
    {"max_user_res", true, false, LIMIT_OF_USER},
    {"max_user_res_soft", true, true, LIMIT_OF_USER},
    {"max_group_res", true, false, LIMIT_OF_GROUP},
    {"max_group_res_soft", true, true, LIMIT_OF_GROUP},
};

void limit_list_clear(struct limit_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        intern_unref(l->a[i].name);
    l->n = 0;
}

void limit_list_fini(struct limit_list *l)
{
    limit_list_clear(l);
    free(l->a);
    *l = (struct limit_list){0};
}

static void limit_list_add(struct limit_list *l, const struct limit *row)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = *row;
}

/* A number of jobs, or an amount in the resource's unit. */
static int64_t amount(const struct catalogue *c, res_id res, const char *text)
{
    return res == RES_NONE ? strtoll(text, NULL, 10) : res_parse(catalogue_get(c, res), text);
}

/* "[u:anna=5]" from its bracket on; returns what follows it, NULL: it cannot be read. */
static const char *take_entity(struct limit_list *l, const struct catalogue *c, struct limit row,
                               const char *at)
{
    const char *equals = strchr(at, '='), *end = strchr(at, ']');
    char name[256], value[64];

    if (!equals || !end || end < equals || at[1] == '\0' || at[2] != ':' ||
        (size_t)(equals - at - 3) >= sizeof name || (size_t)(end - equals - 1) >= sizeof value)
        return NULL;
    memcpy(name, at + 3, (size_t)(equals - at - 3));
    name[equals - at - 3] = '\0';
    memcpy(value, equals + 1, (size_t)(end - equals - 1));
    value[end - equals - 1] = '\0';
    row.of = (enum limit_of)at[1];
    row.most = amount(c, row.res, value);
    if (strcmp(name, "PBS_GENERIC") != 0 && strcmp(name, "PBS_ALL") != 0)
        row.name = mem_intern(name);
    limit_list_add(l, &row);
    return end + 1;
}

static void limit_list_take_list(struct limit_list *l, const struct catalogue *c, const struct limit *row,
                                 const char *text)
{
    for (const char *at = strchr(text, '['); at; at = strchr(at, '[')) {
        at = take_entity(l, c, *row, at);
        if (!at)
            return;
    }
}

static const struct limit_list_form *form_of(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

/* Every attribute that begins with max_ is asked for; one without a row here is not a run limit. */
bool limit_list_take(struct limit_list *l, const struct catalogue *c, const char *name, const char *resource,
                     const char *value)
{
    const struct limit_list_form *f = strncmp(name, "max_", 4) == 0 ? form_of(name) : NULL;
    struct limit row = {.res = RES_NONE};

    if (!f)
        return false;
    row.soft = f->soft;
    if (f->has_resource)
        row.res = resource ? catalogue_find(c, resource) : RES_NONE;
    if (f->has_resource && (row.res == RES_NONE || !res_is_numeric(catalogue_get(c, row.res))))
        return true;
    if (!f->old) {
        limit_list_take_list(l, c, &row, value);
        return true;
    }
    row.of = (enum limit_of)f->old;
    row.most = amount(c, row.res, value);
    limit_list_add(l, &row);
    return true;
}

const struct limit *limit_list_find(const struct limit_list *l, enum limit_of of, const char *name,
                                    res_id res, bool soft)
{
    const struct limit *each = NULL;

    for (size_t i = 0; i < l->n; i++) {
        const struct limit *row = &l->a[i];

        if (row->of != of || row->res != res || row->soft != soft)
            continue;
        if (row->name && row->name == name)
            return row;
        if (!row->name)
            each = row;
    }
    return each;
}

bool limit_list_have(const struct limit_list *l, enum limit_of of)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i].of == of)
            return true;
    return false;
}

/* For news: a queue whose limits are the same is not another queue. */
uint64_t limit_list_hash(const struct limit_list *l, uint64_t seed)
{
    uint64_t h = seed;

    for (size_t i = 0; i < l->n; i++) {
        const struct limit *row = &l->a[i];
        const uint64_t more[] = {(uint64_t)row->of, row->soft, mem_hash(row->name), row->res,
                                 (uint64_t)row->most};

        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            h = (h ^ more[k]) * 0x9E3779B97F4A7C15ull + (h >> 29);
    }
    return h;
}
