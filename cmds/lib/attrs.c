/* The list is a struct attropl as the calls take it, so nothing is converted before a call. No addition returns an
 * error; the caller looks at `failed` once. */
#include "attrs.h"

#include <stdlib.h>
#include <string.h>

#include "attrl.h"

void attrs_fini(struct attrs *l)
{
    attrl_free(l->first);
    *l = (struct attrs){0};
}

void attrs_add(struct attrs *l, const char *name, const char *resource, const char *value, enum batch_op op)
{
    struct attropl *a = attrl_create(name, resource, value, op);

    if (!a) {
        l->failed = true;
        return;
    }
    *(l->last ? &l->last->next : &l->first) = a;
    l->last = a;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static struct attropl *attrs_find_entry(const struct attrs *l, const char *name, const char *resource)
{
    struct attropl *a = l->first;

    while (a && (strcmp(a->name, name) != 0 || !is_same(a->resource, resource)))
        a = a->next;
    return a;
}

void attrs_set(struct attrs *l, const char *name, const char *resource, const char *value)
{
    struct attropl *a = attrs_find_entry(l, name, resource);
    char *copy;

    if (!a) {
        attrs_add(l, name, resource, value, SET);
        return;
    }
    copy = strdup(value);
    if (!copy) {
        l->failed = true;
        return;
    }
    free(a->value);
    a->value = copy;
}

const char *attrs_find(const struct attrs *l, const char *name, const char *resource)
{
    struct attropl *a = attrs_find_entry(l, name, resource);

    return a ? a->value : NULL;
}

const char *attrs_value(const struct attrl *l, const char *name, const char *resource)
{
    for (; l; l = l->next)
        if (!strcmp(l->name, name) && is_same(l->resource, resource))
            return l->value ? l->value : "";
    return NULL;
}
