/* Changing attributes of any object. See attr_edit.h.
 *
 * Changes are made on a copy of the list, checks look at the copy, then it takes the place of the old one.
 * Actions run last, when nothing can fail any more; they may post events and touch other objects.
 *
 * All changes by requests and hooks come through here: qmgr's (handlers/req_manage.c, whose effects are the rows of manage_effects.c), those of
 * jobs (queued/alter.c, which checks more around it), and what hooks set of vnodes (server/hook). */
#include "attr_edit.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "server_ctx.h"
#include "type_list.h"

int attr_edit_check_nice(const struct server_ctx *s, const struct attr_list *l, int index,
                         const char *resource, enum level level, struct err *e)
{
    const struct resource *nice;
    const struct value *v;

    if (level != LEVEL_USER || !resource || strcasecmp(resource, "nice") != 0 ||
        !(nice = resource_find(s->resources, resource)))
        return 0;
    v = attr_list_amount(l, index, nice->id);
    if (!v || v->n >= 0)
        return 0;
    return err_set(e, PBSE_PERM, "nice %lld: only operators and managers may set a value below 0",
                   (long long)v->n);
}

/* Of what jobs use up, there is not less than nothing, and no bound below that. Jobs: queued/defaults.c, of all
 * at once. */
static int attr_edit_check_amount(const struct server_ctx *s, const struct attr_list *l, int index,
                                  const char *resource, struct err *e)
{
    const struct resource *r = resource ? resource_find(s->resources, resource) : NULL;
    const struct value *v = r && resource_is_consumable(r) ? attr_list_amount(l, index, r->id) : NULL;

    if (!v || (v->kind == VALUE_REAL ? v->real >= 0 : v->kind != VALUE_NUMBER || v->n >= 0))
        return 0;
    return err_set(e, PBSE_BADATVAL, "%s.%s: Illegal attribute or resource value: the amount is negative",
                   attr_def_get((enum attr_of)l->of, index)->name, r->name);
}

static int apply_one(struct server_ctx *s, struct attr_list *l, const struct attr_edit_change *c,
                     const struct attr_writer *w, int *index, struct err *e)
{
    const char *resource = c->resource && *c->resource ? c->resource : NULL;

    *index = attr_def_need((enum attr_of)l->of, c->name, e);
    if (*index < 0 || attr_def_check_write(attr_def_get((enum attr_of)l->of, *index), w, e) < 0 ||
        resource_check_write(s->resources, resource, w->level, e) < 0)
        return -1;
    if (attr_list_change(l, s->resources, *index, resource, c->value ? c->value : "", c->op, e) < 0)
        return -1;
    if (l->of != OF_JOB && attr_edit_check_amount(s, l, *index, resource, e) < 0)
        return -1;
    return attr_edit_check_nice(s, l, *index, resource, w->level, e);
}

int attr_edit_try(struct server_ctx *s, enum attr_of of, const struct attr_edit_change *c,
                  const struct attr_writer *w, struct err *e)
{
    struct attr_writer writer = *w;
    struct attr_list alone;
    int index = attr_def_find(of, c->name), rc;

    if (writer.creating && index >= 0 && (attr_def_get(of, index)->flags & AF_CREATE))
        writer.level = LEVEL_SERVER;
    attr_list_init(&alone, of);
    rc = apply_one(s, &alone, c, &writer, &index, e);
    attr_list_fini(&alone);
    return rc;
}

/* Which change an effect is about: n for none in particular. False: it is about none of them. */
static bool concerns(const struct attr_edit_effect *x, const int *indices, size_t n, size_t *at)
{
    *at = n;
    if (x->index == ATTR_EDIT_ANY)
        return n > 0;
    for (*at = 0; *at < n; ++*at)
        if (indices[*at] == x->index)
            return true;
    return false;
}

static int check_effects(const struct object *o, const struct attr_list *now, const struct attr_edit_ask *ask,
                         const int *indices, size_t *at, struct err *e)
{
    for (size_t i = 0; i < ask->n_effects; i++) {
        const struct attr_edit_effect *x = &ask->effects[i];

        if (x->of == o->kind->attrs && x->check && concerns(x, indices, ask->n, at) &&
            x->check(ask->effect_arg, o, now, e) < 0)
            return -1;
    }
    return 0;
}

static void after_effects(struct object *o, const struct attr_edit_ask *ask, const int *indices)
{
    size_t at;

    for (size_t i = 0; i < ask->n_effects; i++) {
        const struct attr_edit_effect *x = &ask->effects[i];

        if (x->of == o->kind->attrs && x->after && concerns(x, indices, ask->n, &at))
            x->after(ask->effect_arg, o);
    }
}

static int check_variables(const struct attr_list *was, const struct attr_list *now, struct err *e)
{
    const char *at = attr_list_text(now, JOB_ATTR_Variable_List), *word,
               *old = was ? attr_list_text(was, JOB_ATTR_Variable_List) : NULL;
    size_t n, count = 0;

    if (!at || (old && (old == at || strcmp(old, at) == 0)))
        return 0;
    while ((word = list_next(&at, &n))) {
        count++;
        if (n > ATTR_EDIT_VARIABLE_BYTES)
            return err_set(e, PBSE_BADATVAL, "Variable_List: %.*s is %zu bytes long; the most is %d",
                           (int)strcspn(word, "=,") < 64 ? (int)strcspn(word, "=,") : 64, word, n,
                           ATTR_EDIT_VARIABLE_BYTES);
    }
    if (count <= ATTR_EDIT_VARIABLES_MAX)
        return 0;
    return err_set(e, PBSE_BADATVAL, "Variable_List has %zu variables; the most is %d", count,
                   ATTR_EDIT_VARIABLES_MAX);
}

int attr_edit_check_length(const struct attr_list *was, const struct attr_list *now, struct err *e)
{
    size_t n = attr_list_text_length(now);

    if (now->of == OF_JOB && check_variables(was, now, e) < 0)
        return -1;
    if (n <= ATTR_EDIT_TEXT_MAX || (was && n <= attr_list_text_length(was)))
        return 0;
    return err_set(e, PBSE_BADATVAL, "the attributes would be %zu bytes long together; the most is %d", n,
                   ATTR_EDIT_TEXT_MAX);
}

int attr_edit_apply(struct server_ctx *s, struct object *o, const struct attr_edit_ask *ask, size_t *at,
                    struct err *e)
{
    int *indices = calloc(ask->n ? ask->n : 1, sizeof *indices);
    struct attr_list now;

    *at = 0;
    if (!indices || attr_list_dup(&o->attrs, &now) < 0) {
        free(indices);
        return err_set(e, PBSE_SYSTEM, "no memory to change %s", o->name);
    }
    for (; *at < ask->n; ++*at)
        if (apply_one(s, &now, &ask->changes[*at], &ask->writer, &indices[*at], e) < 0)
            goto fail;
    if (attr_edit_check_length(&o->attrs, &now, e) < 0 || check_effects(o, &now, ask, indices, at, e) < 0)
        goto fail;
    attr_list_fini(&o->attrs);
    o->attrs = now;
    change_touch(s->change, &o->change, PART_ATTRS);
    after_effects(o, ask, indices);
    free(indices);
    return 0;
fail:
    attr_list_fini(&now);
    free(indices);
    return -1;
}
