/* Changing attributes by text: SET, INCR, DECR, UNSET. See attr_list.h, "writing by text".
 *
 * A change is worked out on a private copy of the value, checked for its range, and then put in whole:
 * whatever goes wrong before that has changed nothing. Limits are apart from all others, as -= takes
 * entities away there, and their amounts are of another type than themselves. */
#include "attr_list.h"

#include <inttypes.h>
#include <string.h>

#include "errors.h"
#include "strbuf.h"
#include "type_limit.h"
#include "type_scalar.h"

/* One change on its way. */
struct attr_change {
    struct attr_list *list;
    int index;
    const struct attr_def *def;
    const struct value_type *type; /* of the attribute, or of the resource's amount */
    const struct resource *resource;
    const char *text;
    enum batch_op op;
};

static int attr_change_named(const struct attr_change *c, struct err *e)
{
    return err_prefix(e, "%s%s%s", c->def->name, c->resource ? "." : "",
                      c->resource ? c->resource->name : "");
}

static int check_range(const struct attr_change *c, const struct value *v, struct err *e)
{
    const struct attr_def *d = c->def;
    int64_t n = v->kind == VALUE_REAL ? (int64_t)v->real - (v->real < 0) : value_number(v);

    if (c->resource || (d->min == INT64_MIN && d->max == INT64_MAX) || (n >= d->min && n <= d->max))
        return 0;
    if (n < d->min && (d->max == INT32_MAX || d->max == INT64_MAX))
        return errors_set(e, PBSE_BADATVAL, "'%.80s': must be %" PRId64 " or more", c->text, d->min);
    return errors_set(e, PBSE_BADATVAL, "'%.80s': must be %" PRId64 " to %" PRId64, c->text, d->min, d->max);
}

static int no_such_op(const struct attr_change *c, struct err *e)
{
    return errors_set(e, PBSE_ATTRTYPE, "%s has no meaning for a %s",
                      c->op == INCR ? "+=" : "-=", c->type->name);
}

/* --- one value: `v` is a private copy of what is there, and becomes what shall be ------------------- */

static bool is_limit(const struct attr_change *c)
{
    return attr_def_type(c->def)->by == BY_LIMIT || c->type == &type_limit;
}

/* What an amount of this limit is written in. */
static const struct value_type *amount_type(const struct attr_change *c)
{
    return c->resource ? c->resource->type : &type_long;
}

static int change_limit(const struct attr_change *c, struct value *v, struct err *e)
{
    struct value given;
    int rc = 0;

    if (c->op == DECR)
        return limit_decr(v, c->text, e);
    if (limit_parse(amount_type(c), c->text, &given, e) < 0)
        return -1;
    if (c->op == INCR && v->kind == VALUE_LIMITS) {
        rc = limit_incr(v, &given, e);
        limit_free(&given);
        return rc;
    }
    limit_free(v);
    *v = given;
    return 0;
}

static int parse_given(const struct attr_change *c, struct value *out, struct err *e)
{
    if (c->resource && (c->def->flags & AF_INDIRECT) && c->text[0] == '@' && c->text[1]) {
        *out = value_of_text(c->text);
        return out->kind == VALUE_TEXT ? 0 : errors_set(e, PBSE_SYSTEM, "no memory for an amount");
    }
    return c->type->parse(c->type, c->text, out, e);
}

/* What += and -= make of a number must be what the same type reads: it is stored as text, and a duration below zero, say, could
 * not be restored. Lists are made of what was read before. */
static int check_result(const struct attr_change *c, const struct value *v, struct err *e)
{
    enum { NUMBER_MAX = 64 }; /* characters of the longest duration, size or real */
    struct value again;
    struct strbuf text;
    int rc;

    if (v->kind != VALUE_NUMBER && v->kind != VALUE_SIZE && v->kind != VALUE_REAL)
        return 0;
    strbuf_init(&text, NUMBER_MAX);
    rc = c->type->format(c->type, v, &text);
    if (rc == 0)
        rc = c->type->parse(c->type, strbuf_str(&text), &again, e);
    else
        errors_set(e, PBSE_SYSTEM, "no memory for a value");
    if (rc == 0)
        value_free(&again);
    strbuf_fini(&text);
    return rc;
}

static int change_plain(const struct attr_change *c, struct value *v, struct err *e)
{
    int (*op)(const struct value_type *, struct value *, const struct value *, struct err *) =
        c->op == INCR ? c->type->incr : c->type->decr;
    struct value given;
    int rc;

    if (c->op != SET && !op)
        return no_such_op(c, e);
    if (parse_given(c, &given, e) < 0)
        return -1;
    if (c->op == SET) {
        value_free(v);
        *v = given;
        return 0;
    }
    rc = op(c->type, v, &given, e);
    value_free(&given);
    return rc < 0 ? -1 : check_result(c, v, e);
}

static int change_value(const struct attr_change *c, struct value *v, struct err *e)
{
    if ((is_limit(c) ? change_limit(c, v, e) : change_plain(c, v, e)) < 0)
        return -1;
    v->defaulted = false;
    return is_limit(c) ? 0 : check_range(c, v, e);
}

static void free_copy(struct value *v)
{
    if (v->kind == VALUE_LIMITS)
        limit_free(v);
    else
        value_free(v);
}

static int copy_of(const struct value *old, struct value *v, struct err *e)
{
    int rc;

    value_init(v);
    if (!old)
        return 0;
    rc = old->kind == VALUE_LIMITS ? limit_dup(old, v) : value_dup(old, v);
    return rc < 0 ? errors_set(e, PBSE_SYSTEM, "no memory for a value") : 0;
}

/* --- the request ------------------------------------------------------------------------------------ */

static int attr_change_resolve(struct attr_change *c, const struct resource_table *t, const char *resource,
                               bool unset, struct err *e)
{
    enum value_by by = attr_def_type(c->def)->by;
    bool given = resource && *resource;

    c->type = attr_def_type(c->def);
    if (by == BY_NOTHING)
        return given ? errors_set(e, PBSE_NOATTR, "%s.%.80s: %s has no resources", c->def->name, resource,
                                  c->def->name)
                     : 0;
    if (!given)
        return unset ? 0
                     : errors_set(e, PBSE_NOATTR, "%s: a resource is missing, %s.NAME", c->def->name,
                                  c->def->name);
    c->resource = resource_find(t, resource);
    if (!c->resource)
        return resource_unknown(t, c->def->name, resource, e);
    c->type = c->resource->type;
    return 0;
}

static void unset(const struct attr_change *c)
{
    if (c->resource)
        attr_list_unset_amount(c->list, c->index, c->resource->id);
    else
        attr_list_unset(c->list, c->index);
}

static int store(const struct attr_change *c, struct value v, struct err *e)
{
    struct resc_list **p;
    int rc;

    if (v.kind == VALUE_NONE) { /* limits of which nothing is left */
        unset(c);
        return 0;
    }
    if (!c->resource)
        return attr_list_put(c->list, c->index, v, e);
    if (attr_list_edit_amounts(c->list, c->index, &p, e) < 0) {
        free_copy(&v);
        return -1;
    }
    rc = resc_put(p, c->resource->id, v, e);
    if (!*p) /* nothing was there, and there was no memory */
        attr_list_unset(c->list, c->index);
    return rc;
}

int attr_list_change(struct attr_list *l, const struct resource_table *t, int index, const char *resource,
                     const char *text, enum batch_op op, struct err *e)
{
    struct attr_change c = {l, index, attr_def_get((enum attr_of)l->of, index), NULL, NULL, text ? text : "",
                            op};
    bool gone = op == UNSET || op == DFLT || (op == SET && !*c.text);
    struct value v;

    if (attr_change_resolve(&c, t, resource, gone, e) < 0)
        return -1;
    if (!gone && op != SET && op != INCR && op != DECR)
        return errors_set(e, PBSE_IVALREQ, "%s: an attribute can be set, unset, += and -=", c.def->name);
    if (gone) {
        unset(&c);
        return 0;
    }
    if (copy_of(c.resource ? attr_list_amount(l, index, c.resource->id) : attr_list_find(l, index), &v, e) <
        0)
        return -1;
    if (change_value(&c, &v, e) < 0) {
        free_copy(&v);
        return attr_change_named(&c, e);
    }
    return store(&c, v, e);
}
