/* From attribute lists to text triples and JSON. See attr_walk.h.
 *
 * Triples are for users and the wire, and are filtered by the reader's level; JSON is for the store, and is complete.
 * Resources travel by name in both, as ids live only as long as the process. What came from a default is noted beside
 * the values, in a member "defaulted": so the values themselves stay plain, for an administrator who queries the
 * store. */
#include "attr_walk.h"

#include <string.h>
#include <jansson.h>

#include "errors.h"
#include "json_scan.h"
#include "strbuf.h"
#include "type_limit.h"
#include "type_scalar.h"

/* --- triples ---------------------------------------------------------------------------------------- */

/* The state of one walk. */
struct attr_walk {
    const struct resource_table *table;
    const struct attr_select *select;
    const struct attr_reader *reader;
    struct strbuf *scratch;
    attr_walk_fn *fn;
    void *arg;
};

/* The text of an element of a resource list. NULL: scratch has failed. */
static const char *show_element(const struct resource *r, const struct value *v, struct strbuf *scratch)
{
    if (v->kind != VALUE_LIMITS)
        return value_show(r->type, v, scratch); /* an indirect amount is a text already */
    strbuf_reset(scratch);
    return limit_format(r->type, v, scratch) < 0 ? NULL : strbuf_str(scratch);
}

static int walk_amounts(const struct attr_walk *w, int index, const char *name, const struct resc_list *l)
{
    for (size_t i = 0; l && i < l->n; i++) {
        const struct resource *r = resource_get(w->table, l->v[i].tag);
        const char *text;
        int rc;

        if (!attr_select_has_resource(w->select, index, r->id) || !resource_may_read(r, w->reader->level))
            continue;
        text = show_element(r, &l->v[i], w->scratch);
        rc = text ? w->fn(w->arg, name, r->name, text) : -1;
        if (rc)
            return rc;
    }
    return 0;
}

static int walk_one(const struct attr_walk *w, enum attr_of of, int index, const struct value *v)
{
    const struct attr_def *d = attr_def_get(of, index);
    const struct value_type *t;
    const char *text;

    if (!value_is_set(v) || !attr_select_has(w->select, index) ||
        !attr_def_may_read(d, w->reader->level, w->reader->show_hidden))
        return 0;
    t = attr_def_type(d);
    if (t->by != BY_NOTHING)
        return walk_amounts(w, index, d->name, v->amounts);
    if (t == &type_limit) /* counts are shown as the text of the whole list */
        strbuf_reset(w->scratch);
    text = value_show(t, v, w->scratch);
    return text ? w->fn(w->arg, d->name, NULL, text) : -1;
}

int attr_walk(const struct attr_list *l, const struct resource_table *t, const struct attr_select *s,
              const struct attr_reader *r, struct strbuf *scratch, attr_walk_fn *fn, void *arg)
{
    const struct attr_walk w = {t, s, r, scratch, fn, arg};

    for (size_t i = 0; i < l->n; i++) {
        int rc = walk_one(&w, (enum attr_of)l->of, l->v[i].tag, &l->v[i]);
        if (rc)
            return rc;
    }
    return 0;
}

int attr_walk_value(enum attr_of of, int index, const struct value *v, const struct resource_table *t,
                    const struct attr_select *s, const struct attr_reader *r, struct strbuf *scratch,
                    attr_walk_fn *fn, void *arg)
{
    const struct attr_walk w = {t, s, r, scratch, fn, arg};

    return walk_one(&w, of, index, v);
}

/* --- JSON ------------------------------------------------------------------------------------------- */

static const char defaulted_key[] = "defaulted";

static json_t *one_to_json(const struct value_type *type, const struct value *v,
                           const struct resource_table *t)
{
    return type->by == BY_NOTHING ? type->to_json(type, v) : resc_to_json(v->amounts, t);
}

static int attr_walk_note(json_t *list, const char *name, const char *resource)
{
    return json_array_append_new(list, resource ? json_sprintf("%s.%s", name, resource) : json_string(name));
}

/* Add "name" or "name.resource" to the list for what came from a default. */
static int note_defaulted(json_t *list, const char *name, const struct value *v,
                          const struct resource_table *t)
{
    if (v->defaulted && attr_walk_note(list, name, NULL) < 0)
        return -1;
    for (size_t i = 0; v->kind == VALUE_AMOUNTS && v->amounts && i < v->amounts->n; i++) {
        const struct value *x = &v->amounts->v[i];
        if (x->defaulted && attr_walk_note(list, name, resource_get(t, x->tag)->name) < 0)
            return -1;
    }
    return 0;
}

json_t *attr_walk_to_json(const struct attr_list *l, const struct resource_table *t, unsigned with,
                          unsigned without)
{
    json_t *object = json_object(), *defaulted = json_array();

    for (size_t i = 0; object && defaulted && i < l->n; i++) {
        const struct value *v = &l->v[i];
        const struct attr_def *d = attr_def_get((enum attr_of)l->of, v->tag);

        if (!value_is_set(v) || (d->flags & with) != with || (d->flags & (without | AF_DERIVED)))
            continue;
        if (json_object_set_new(object, d->name, one_to_json(attr_def_type(d), v, t)) < 0 ||
            note_defaulted(defaulted, d->name, v, t) < 0)
            goto fail;
    }
    if (!object || !defaulted ||
        (json_array_size(defaulted) && json_object_set(object, defaulted_key, defaulted) < 0))
        goto fail;
    json_decref(defaulted);
    return object;
fail:
    json_decref(object);
    json_decref(defaulted);
    return NULL;
}

static int read_one(struct attr_list *l, const struct resource_table *t, const struct json_member *m,
                    struct err *e)
{
    int index = attr_def_need((enum attr_of)l->of, m->name, e);
    const struct value_type *type;
    struct value v = {.kind = VALUE_AMOUNTS};
    int rc;

    if (index < 0)
        return -1;
    type = attr_def_type(attr_def_get((enum attr_of)l->of, index));
    rc = type->by != BY_NOTHING ? resc_read(m->text, t, type->by, &v.amounts, e) : value_read(type, m, &v, e);
    if (rc < 0)
        return err_prefix(e, "%s", m->name);
    if (v.kind == VALUE_AMOUNTS && !v.amounts)
        return 0;
    return attr_list_put(l, index, v, e);
}

/* "name" or "name.resource": mark what came from a default. A name that is gone does no harm. */
static void mark_defaulted(struct attr_list *l, const struct resource_table *t, const char *text)
{
    const char *dot = strchr(text, '.');
    char name[64];
    struct value *v = NULL;
    const struct resource *r;
    int index;

    snprintf(name, sizeof name, "%.*s", (int)(dot ? dot - text : (ptrdiff_t)strlen(text)), text);
    index = attr_def_find((enum attr_of)l->of, name);
    if (index == ATTR_NONE)
        return;
    r = dot ? resource_find(t, dot + 1) : NULL;
    if (r)
        v = (struct value *)(uintptr_t)attr_list_amount(l, index, r->id);
    else if (!dot)
        v = (struct value *)(uintptr_t)attr_list_find(l, index);
    if (v)
        v->defaulted = true;
}

static void mark_each(struct attr_list *l, const struct resource_table *t, char *names)
{
    struct json_scan s;
    struct json_member m;

    if (json_scan_begin(&s, names) < 0)
        return;
    while (json_scan_next(&s, &m) > 0)
        if (m.kind == JSON_SCAN_TEXT)
            mark_defaulted(l, t, m.text);
}

/* All members into the list; those that can be read even if others cannot. *defaulted: the text of that member, if it is there.
 * Return 1 if the text is an object that was read to its end, 0 if it is not; *bad: a member could not be read, and e says why. */
static int read_members(struct attr_list *l, const struct resource_table *t, char *json, char **defaulted,
                        bool *bad, struct err *e)
{
    struct json_scan s;
    struct json_member m;
    int rc;

    if (json_scan_begin(&s, json) < 0 || s.close != '}')
        return 0;
    while ((rc = json_scan_next(&s, &m)) > 0)
        if (strcmp(m.name, defaulted_key) == 0)
            *defaulted = m.text;
        else if (read_one(l, t, &m, *bad ? NULL : e) < 0) /* the first error is told */
            *bad = true;
    return rc == 0 && json_scan_is_over(&s);
}

int attr_walk_read(struct attr_list *l, const struct resource_table *t, char *json, struct err *e)
{
    char *defaulted = NULL;
    bool bad = false;

    if (!read_members(l, t, json, &defaulted, &bad, e))
        return bad ? -1
                   : errors_set(e, PBSE_BADATVAL, "stored attributes of a %s are a JSON object",
                                attr_def_of_name((enum attr_of)l->of));
    if (defaulted)
        mark_each(l, t, defaulted);
    return bad ? -1 : 0;
}
