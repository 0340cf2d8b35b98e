/* Entity limits. See type_limit.h.
 *
 * A small array, one element an entity, in the order given: that is how it is shown again. Names are
 * interned; NULL is the generic entity of its kind. The amount's type is handed in, since max_run counts
 * and max_run_res.mem is a size. */
#include "type_limit.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <jansson.h>

#include "errors.h"
#include "intern.h"
#include "strbuf.h"
#include "type_scalar.h"

enum { LIMITS_MAX = 4096, NAME_MAX_BYTES = 256 };

struct limit {
    char kind;
    const char *name; /* interned; NULL: PBS_ALL, PBS_GENERIC */
    struct value amount;
};

struct limits {
    size_t n;
    struct limit v[];
};

static int type_limit_bad(const char *text, const char *what, struct err *e)
{
    return errors_set(e, PBSE_BADATVAL,
                      "'%.80s': %s; limits are like [u:PBS_GENERIC=3],[g:chem=20],[o:PBS_ALL=100]", text,
                      what);
}

static int type_limit_no_memory(struct err *e)
{
    return errors_set(e, PBSE_SYSTEM, "no memory for limits");
}

/* --- one item, "[u:anna=5]" ------------------------------------------------------------------------- */

/* Move *at behind the name; the name goes to `name`. It may be in double quotes. */
static int parse_name(const char **at, char name[NAME_MAX_BYTES + 1])
{
    const char *p = *at;
    bool quoted = *p == '"';
    size_t n;

    p += quoted;
    n = strcspn(p, quoted ? "\"" : "=],[\"");
    if (!n || n > NAME_MAX_BYTES || (quoted && p[n] != '"'))
        return -1;
    memcpy(name, p, n);
    name[n] = '\0';
    *at = p + n + quoted;
    return 0;
}

/* Which entity the name means: *interned NULL for the generic one. */
static int type_limit_resolve(char kind, const char *name, const char **interned, const char **why)
{
    bool all = strcmp(name, "PBS_ALL") == 0, generic = strcmp(name, "PBS_GENERIC") == 0;

    *why = all ? "PBS_ALL goes with o" : "o goes with PBS_ALL";
    if (all != (kind == LIMIT_ALL))
        return -1;
    *why = "no memory";
    *interned = all || generic ? NULL : intern_ref(name);
    return all || generic || *interned ? 0 : -1;
}

/* "=5" in front of "]": the amount. No "=" is right when amounts are not wanted (`amount` NULL type). */
static int parse_amount(const struct value_type *amount, const char **at, bool needed, struct value *out,
                        const char **why)
{
    const char *p = *at;
    char text[64];
    size_t n;

    value_init(out);
    *why = needed ? "an amount is missing" : "] is missing";
    if (*p != '=')
        return needed || *p != ']' ? -1 : 0;
    n = strcspn(++p, "]");
    *why = "the amount is not right";
    if (!p[n] || n >= sizeof text)
        return -1;
    memcpy(text, p, n);
    text[n] = '\0';
    *at = p + n;
    if (amount->parse(amount, text, out, NULL) < 0)
        return -1;
    if (value_number(out) >= 0)
        return 0;
    amount->free(out);
    *why = "an amount is negative";
    return -1;
}

static int parse_item(const struct value_type *amount, const char **at, bool needed, struct limit *out,
                      const char **why)
{
    const char *p = *at;
    char name[NAME_MAX_BYTES + 1];

    *why = "a limit begins with [u:, [g:, [p: or [o:";
    if (p[0] != '[' || !p[1] || !strchr("ougp", p[1]) || p[2] != ':')
        return -1;
    out->kind = p[1];
    p += 3;
    *why = "a name is missing";
    if (parse_name(&p, name) < 0 || type_limit_resolve(out->kind, name, &out->name, why) < 0)
        return -1;
    if (parse_amount(amount, &p, needed, &out->amount, why) < 0) {
        intern_unref(out->name);
        return -1;
    }
    *at = p + 1;
    return 0;
}

/* --- the list --------------------------------------------------------------------------------------- */

static void limits_free(struct limits *l)
{
    for (size_t i = 0; l && i < l->n; i++) {
        intern_unref(l->v[i].name);
        value_free(&l->v[i].amount);
    }
    free(l);
}

static struct limit *type_limit_find(struct limits *l, char kind, const char *interned)
{
    for (size_t i = 0; l && i < l->n; i++) {
        if (l->v[i].kind == kind && l->v[i].name == interned)
            return &l->v[i];
    }
    return NULL;
}

/* Insert an element, whose memory is taken over, in place of an earlier one of the same entity. */
static int type_limit_put(struct limits **l, struct limit *item)
{
    struct limit *old = type_limit_find(*l, item->kind, item->name);
    size_t n = *l ? (*l)->n : 0;
    struct limits *grown;

    if (old) {
        intern_unref(item->name);
        value_free(&old->amount);
        old->amount = item->amount;
        return 0;
    }
    grown = n < LIMITS_MAX ? realloc(*l, sizeof **l + (n + 1) * sizeof(struct limit)) : NULL;
    if (!grown) {
        intern_unref(item->name);
        value_free(&item->amount);
        return -1;
    }
    grown->v[n] = *item;
    grown->n = n + 1;
    *l = grown;
    return 0;
}

static int parse_items(const struct value_type *amount, const char *text, bool needed, struct limits **l,
                       struct err *e)
{
    const char *why, *p = text + strspn(text, ", \t");

    if (!*p)
        return type_limit_bad(text, "a limit is missing", e);
    while (*p) {
        struct limit item;
        if (parse_item(amount, &p, needed, &item, &why) < 0)
            return type_limit_bad(text, why, e);
        if (type_limit_put(l, &item) < 0)
            return type_limit_no_memory(e);
        if (*p && !strchr(", \t", *p))
            return type_limit_bad(text, "a comma is missing", e);
        p += strspn(p, ", \t");
    }
    return 0;
}

int limit_parse(const struct value_type *amount, const char *text, struct value *out, struct err *e)
{
    struct limits *l = NULL;

    if (parse_items(amount, text, true, &l, e) < 0) {
        limits_free(l);
        return -1;
    }
    *out = (struct value){.kind = VALUE_LIMITS, .limits = l};
    return 0;
}

int limit_format(const struct value_type *amount, const struct value *v, struct strbuf *out)
{
    const struct limits *l = v->limits;

    for (size_t i = 0; l && i < l->n; i++) {
        const struct limit *m = &l->v[i];
        const char *name = m->name ? m->name : m->kind == LIMIT_ALL ? "PBS_ALL" : "PBS_GENERIC";
        const char *quote = strpbrk(name, " \t=],[") ? "\"" : "";
        strbuf_addf(out, "%s[%c:%s%s%s=", i ? "," : "", m->kind, quote, name, quote);
        amount->format(amount, &m->amount, out);
        strbuf_add(out, "]");
    }
    return strbuf_ok(out) ? 0 : -1;
}

int limit_dup(const struct value *from, struct value *to)
{
    const struct limits *l = from->limits;
    struct limits *copy;

    *to = *from;
    if (from->kind != VALUE_LIMITS)
        return 0;
    copy = malloc(sizeof *copy + l->n * sizeof(struct limit));
    to->limits = copy;
    if (!copy) {
        to->kind = VALUE_NONE;
        return -1;
    }
    memcpy(copy, l,
           sizeof *copy + l->n * sizeof(struct limit)); /* amounts are numbers: a plain copy is whole */
    for (size_t i = 0; i < copy->n; i++)
        intern_again(copy->v[i].name);
    return 0;
}

void limit_free(struct value *v)
{
    if (v->kind == VALUE_LIMITS)
        limits_free(v->limits);
    v->kind = VALUE_NONE;
}

int limit_incr(struct value *v, const struct value *by, struct err *e)
{
    struct value sum = {0};
    struct limits *l;

    if (limit_dup(v, &sum) < 0)
        return type_limit_no_memory(e);
    l = sum.kind == VALUE_LIMITS ? sum.limits : NULL;
    for (size_t i = 0; i < by->limits->n; i++) {
        struct limit item = by->limits->v[i];
        intern_again(item.name);
        if (type_limit_put(&l, &item) < 0) {
            limits_free(l);
            return type_limit_no_memory(e);
        }
    }
    limit_free(v);
    v->kind = VALUE_LIMITS;
    v->limits = l;
    return 0;
}

static void type_limit_drop(struct limits *l, char kind, const char *interned)
{
    struct limit *m = type_limit_find(l, kind, interned);

    if (!m)
        return;
    intern_unref(m->name);
    value_free(&m->amount);
    memmove(m, m + 1, (size_t)(l->v + l->n - (m + 1)) * sizeof *m);
    l->n--;
}

int limit_decr(struct value *v, const char *text, struct err *e)
{
    struct limits *gone = NULL;
    int rc = parse_items(&type_string, text, false, &gone, e);

    for (size_t i = 0; rc == 0 && v->kind == VALUE_LIMITS && i < gone->n; i++)
        type_limit_drop(v->limits, gone->v[i].kind, gone->v[i].name);
    if (rc == 0 && v->kind == VALUE_LIMITS && !v->limits->n)
        limit_free(v);
    limits_free(gone);
    return rc;
}

/* --- looking up ------------------------------------------------------------------------------------- */

const struct value *limit_named(const struct value *limits, enum limit_kind kind, const char *name)
{
    const struct limits *l = limits && limits->kind == VALUE_LIMITS ? limits->limits : NULL;

    for (size_t i = 0; l && name && i < l->n; i++) {
        const struct limit *m = &l->v[i];
        if (m->kind == (char)kind && m->name && (m->name == name || strcmp(m->name, name) == 0))
            return &m->amount;
    }
    return NULL;
}

const struct value *limit_generic(const struct value *limits, enum limit_kind kind)
{
    struct limits *l = limits && limits->kind == VALUE_LIMITS ? limits->limits : NULL;
    struct limit *m = type_limit_find(l, (char)kind, NULL);

    return m ? &m->amount : NULL;
}

/* --- the type of counts ----------------------------------------------------------------------------- */

static int type_limit_count_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    return limit_parse(&type_long, text, out, e);
}

static int type_limit_count_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return limit_format(&type_long, v, out);
}

static int type_limit_count_incr(const struct value_type *t, struct value *v, const struct value *by,
                                 struct err *e)
{
    return limit_incr(v, by, e);
}

static int type_limit_count_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    struct strbuf x, y;
    int order;

    strbuf_init(&x, 1 << 20);
    strbuf_init(&y, 1 << 20);
    type_limit_count_format(t, a, &x);
    type_limit_count_format(t, b, &y);
    order = strcmp(strbuf_str(&x), strbuf_str(&y));
    strbuf_fini(&x);
    strbuf_fini(&y);
    return order;
}

/* decr stays NULL: what is taken away may lack its amount and comes as text, to limit_decr. */
const struct value_type type_limit = {"entity limits",
                                      15,
                                      BY_NOTHING,
                                      NULL,
                                      "must be like [u:PBS_GENERIC=3],[o:PBS_ALL=100]",
                                      type_limit_count_parse,
                                      type_limit_count_format,
                                      type_limit_count_incr,
                                      NULL,
                                      type_limit_count_compare,
                                      limit_dup,
                                      limit_free,
                                      value_to_json_text,
                                      value_from_json_text};
