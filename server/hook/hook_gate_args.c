/* Attributes of a request at its gate. See hook_gate_args.h.
 *
 * The list is the decoded argument of the request, and is changed in place, with malloc and free as the decoder does, since
 * xdr_free takes it away at the end. The handler behind the gate then sees what it would see if the client had sent it, and
 * checks it like that. */
#include "hook_gate_args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attr_def.h"
#include "defaults.h"
#include "hook_json.h"
#include "hook_objects.h"
#include "resource.h"
#include "server_ctx.h"

int hook_gate_args_replace(char **text, const char *now)
{
    char *copy = strdup(now);

    if (!copy)
        return -1;
    free(*text);
    *text = copy;
    return 0;
}

static wire_attrop *hook_gate_args_find(wire_attrops *list, const char *name, const char *resource)
{
    for (u_int i = 0; i < list->wire_attrops_len; i++) {
        wire_attrop *w = &list->wire_attrops_val[i];

        if (strcasecmp(w->name, name) == 0 && strcasecmp(w->resource, resource) == 0)
            return w;
    }
    return NULL;
}

static void hook_gate_args_remove(wire_attrops *list, wire_attrop *w)
{
    wire_attrop *last = &list->wire_attrops_val[--list->wire_attrops_len];

    free(w->name);
    free(w->resource);
    free(w->value);
    memmove(w, w + 1, (size_t)(last - w) * sizeof *w);
}

static int hook_gate_args_add(wire_attrops *list, const char *name, const char *resource, const char *value)
{
    wire_attrop *all,
        w = {.name = strdup(name), .resource = strdup(resource), .value = strdup(value), .op = SET};

    if (list->wire_attrops_len == PBS_ATTRS_MAX || !w.name || !w.resource || !w.value ||
        !(all = realloc(list->wire_attrops_val, (list->wire_attrops_len + 1) * sizeof *all))) {
        free(w.name);
        free(w.resource);
        free(w.value);
        return -1;
    }
    all[list->wire_attrops_len++] = w;
    list->wire_attrops_val = all;
    return 0;
}

static int hook_gate_args_put_one(wire_attrops *list, const char *name, const char *resource,
                                  const char *value, const char *unset)
{
    wire_attrop *w = hook_gate_args_find(list, name, resource);

    value = value ? value : unset;
    if (!value) {
        if (w)
            hook_gate_args_remove(list, w);
        return 0;
    }
    if (!w)
        return hook_gate_args_add(list, name, resource, value);
    w->op = SET;
    return hook_gate_args_replace(&w->value, value);
}

int hook_gate_args_put(wire_attrops *list, const struct hook_change *c, const char *unset)
{
    const wire_attrop *w;
    char *now;
    int rc;

    if (strcmp(c->attr, "Variable_List") != 0 || !*c->resource)
        return hook_gate_args_put_one(list, c->attr, c->resource, c->value, unset);
    w = hook_gate_args_find(list, c->attr, "");
    now = hook_changes_variable(w ? w->value : NULL, c->resource, c->value);
    rc = now ? hook_gate_args_put_one(list, c->attr, "", now, unset) : -1;
    free(now);
    return rc;
}

/* ---- one entry of each name -------------------------------------------------------------------------- */

/* A client writes names in letters of any case. */
static int hook_gate_args_spell(char **text, const char *name)
{
    return !name || strcmp(*text, name) == 0 ? 0 : hook_gate_args_replace(text, name);
}

static int hook_gate_args_name(const struct server_ctx *s, enum attr_of of, wire_attrop *w)
{
    int index = attr_def_find(of, w->name);
    const struct resource *r = *w->resource ? resource_find(s->resources, w->resource) : NULL;
    char *select = r && r->id == RESC_select ? defaults_spell_select(s, w->value) : NULL;

    if (select) {
        free(w->value);
        w->value = select;
    }
    if (index >= 0 && hook_gate_args_spell(&w->name, attr_def_get(of, index)->name) < 0)
        return -1;
    return hook_gate_args_spell(&w->resource, r ? r->name : NULL);
}

/* By name and resource; of equal ones the last first. */
static int hook_gate_args_order(const void *a, const void *b)
{
    const wire_attrop *const *x = a, *const *y = b;
    int by = strcasecmp((*x)->name, (*y)->name);

    by = by ? by : strcasecmp((*x)->resource, (*y)->resource);
    return by ? by : (*x < *y) - (*x > *y);
}

static bool hook_gate_args_same(const wire_attrop *a, const wire_attrop *b)
{
    return strcasecmp(a->name, b->name) == 0 && strcasecmp(a->resource, b->resource) == 0;
}

/* Entries that are not the last of their name, marked by a name of NULL, are taken out. */
static void hook_gate_args_close_up(wire_attrops *list)
{
    u_int kept = 0;

    for (u_int i = 0; i < list->wire_attrops_len; i++) {
        wire_attrop *w = &list->wire_attrops_val[i];

        if (w->name) {
            list->wire_attrops_val[kept++] = *w;
            continue;
        }
        free(w->resource);
        free(w->value);
    }
    list->wire_attrops_len = kept;
}

int hook_gate_args_settle(const struct server_ctx *s, enum attr_of of, wire_attrops *list)
{
    u_int n = list->wire_attrops_len;
    wire_attrop **sorted = calloc(n ? n : 1, sizeof *sorted), *last = NULL;

    if (!sorted)
        return -1;
    for (u_int i = 0; i < n; i++) {
        sorted[i] = &list->wire_attrops_val[i];
        if (hook_gate_args_name(s, of, sorted[i]) < 0) {
            free(sorted);
            return -1;
        }
    }
    qsort(sorted, n, sizeof *sorted, hook_gate_args_order);
    for (u_int i = 0; i < n; i++) {
        if (!last || !hook_gate_args_same(last, sorted[i])) {
            last = sorted[i];
            continue;
        }
        free(sorted[i]->name);
        sorted[i]->name = NULL;
    }
    free(sorted);
    hook_gate_args_close_up(list);
    return 0;
}

json_t *hook_gate_args_object(const char *name, const wire_attrops *list)
{
    json_t *attrs = json_object();

    for (u_int i = 0; attrs && i < list->wire_attrops_len; i++) {
        const wire_attrop *w = &list->wire_attrops_val[i];

        if (*w->resource || *w->value)
            hook_json_put(attrs, w->name, w->resource, *w->value ? w->value : NULL);
        if (!*w->value && !*w->resource)
            json_object_set_new(attrs, w->name, json_null());
    }
    return json_pack("{s:s?, s:o}", "name", name, "attrs", attrs ? attrs : json_object());
}
