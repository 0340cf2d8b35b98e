/* Lists of amounts, sorted by resource id. See type_resc.h.
 *
 * A list is one block of memory: most have a handful of elements, and a queued job has one. It is NULL
 * while it is empty, so every function takes a pointer to the pointer and may move it. The elements of a
 * limit list are lists themselves; element_free and element_dup are the only places that know. */
#include "type_resc.h"

#include <assert.h>
#include <string.h>
#include <jansson.h>

#include "errors.h"
#include "json_scan.h"
#include "strbuf.h"
#include "type_limit.h"
#include "type_scalar.h"

static int type_resc_no_memory(struct err *e)
{
    return errors_set(e, PBSE_SYSTEM, "no memory for a list of resources");
}

/* An amount is plain, or the limits of a limit list. */
static void element_free(struct value *v)
{
    if (v->kind == VALUE_LIMITS)
        limit_free(v);
    else
        value_free(v);
}

static int element_dup(const struct value *from, struct value *to)
{
    return from->kind == VALUE_LIMITS ? limit_dup(from, to) : value_dup(from, to);
}

/* The place of id in the list, or where it would be inserted. */
static size_t type_resc_place_of(const struct resc_list *l, int id)
{
    size_t low = 0, high = l ? l->n : 0;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->v[mid].tag < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool stands_at(const struct resc_list *l, size_t i, int id)
{
    return l && i < l->n && l->v[i].tag == id;
}

const struct value *resc_find(const struct resc_list *l, int id)
{
    size_t i = type_resc_place_of(l, id);

    return stands_at(l, i, id) ? &l->v[i] : NULL;
}

/* Room for one more; most lists have few, so they grow by four. */
static int reserve(struct resc_list **l)
{
    size_t n = *l ? (*l)->n : 0, cap = *l ? (*l)->cap : 0;
    struct resc_list *grown;

    if (n < cap)
        return 0;
    grown = realloc(*l, sizeof *grown + (cap + 4) * sizeof(struct value));
    if (!grown)
        return -1;
    grown->n = (uint16_t)n;
    grown->cap = (uint16_t)(cap + 4);
    *l = grown;
    return 0;
}

int resc_put(struct resc_list **l, int id, struct value v, struct err *e)
{
    size_t i = type_resc_place_of(*l, id);

    assert(id >= 0 && id < RESC_MAX);
    v.tag = (uint16_t)id;
    if (stands_at(*l, i, id)) {
        element_free(&(*l)->v[i]);
        (*l)->v[i] = v;
        return 0;
    }
    if (reserve(l) < 0) {
        element_free(&v);
        return type_resc_no_memory(e);
    }
    memmove(&(*l)->v[i + 1], &(*l)->v[i], ((*l)->n - i) * sizeof v);
    (*l)->v[i] = v;
    (*l)->n++;
    return 0;
}

void resc_remove(struct resc_list **l, int id)
{
    size_t i = type_resc_place_of(*l, id);

    if (!stands_at(*l, i, id))
        return;
    element_free(&(*l)->v[i]);
    (*l)->n--;
    memmove(&(*l)->v[i], &(*l)->v[i + 1], ((*l)->n - i) * sizeof(struct value));
    if (!(*l)->n) {
        free(*l);
        *l = NULL;
    }
}

void resc_free(struct resc_list *l)
{
    for (size_t i = 0; l && i < l->n; i++)
        element_free(&l->v[i]);
    free(l);
}

int resc_dup(const struct resc_list *from, struct resc_list **to)
{
    struct resc_list *l = NULL;

    if (from && from->n) {
        l = malloc(sizeof *l + from->n * sizeof(struct value));
        if (!l)
            return -1;
        l->n = 0;
        l->cap = from->n;
        for (; l->n < from->n; l->n++) {
            if (element_dup(&from->v[l->n], &l->v[l->n]) < 0) {
                resc_free(l);
                return -1;
            }
        }
    }
    *to = l;
    return 0;
}

/* --- text ------------------------------------------------------------------------------------------- */

int resc_parse(struct resc_list **l, const struct resource *r, const char *text, bool indirect, struct err *e)
{
    struct value v;

    if (indirect && text[0] == '@' && text[1])
        v = value_of_text(text);
    else if (r->type->parse(r->type, text, &v, e) < 0)
        return -1;
    return v.kind == VALUE_NONE ? type_resc_no_memory(e) : resc_put(l, r->id, v, e);
}

/* The type that an element is shown in: an indirect amount is a text whatever its resource is. */
static const struct value_type *shown_as(const struct resource *r, const struct value *v)
{
    return v->kind == VALUE_TEXT ? &type_string : r->type;
}

/* --- sums ------------------------------------------------------------------------------------------- */

static bool is_amount(const struct resource *r, const struct value *v)
{
    return (v->kind == VALUE_NUMBER || v->kind == VALUE_REAL || v->kind == VALUE_SIZE) &&
           r->type != &type_boolean;
}

/* a += sign * b. All room is made first, so nothing can fail once the adding begins. */
static int combine(struct resc_list **a, const struct resc_list *b, const struct resource_table *t,
                   unsigned flags, int sign, struct err *e)
{
    for (size_t i = 0; b && i < b->n; i++) {
        const struct resource *r = resource_get(t, b->v[i].tag);
        struct value *sum;

        if (!is_amount(r, &b->v[i]) || (flags && !(r->flags & flags)))
            continue;
        if (!resc_find(*a, r->id)) {
            struct value zero = b->v[i];
            zero.n = 0; /* of a real too: all bits 0 */
            zero.shift = zero.kind == VALUE_SIZE ? 10 : 0;
            zero.words = false;
            zero.defaulted = false;
            if (resc_put(a, r->id, zero, e) < 0)
                return -1;
        }
        sum = &(*a)->v[type_resc_place_of(*a, r->id)];
        if (is_amount(r, sum))
            scalar_add(sum, &b->v[i], sign);
    }
    return 0;
}

int resc_add(struct resc_list **a, const struct resc_list *b, const struct resource_table *t, unsigned flags,
             struct err *e)
{
    return combine(a, b, t, flags, 1, e);
}

int resc_subtract(struct resc_list **a, const struct resc_list *b, const struct resource_table *t,
                  unsigned flags, struct err *e)
{
    return combine(a, b, t, flags, -1, e);
}

int resc_exceeds(const struct resc_list *want, const struct resc_list *limit,
                 const struct resc_list *otherwise, const struct resource_table *t)
{
    for (size_t i = 0; want && i < want->n; i++) {
        const struct resource *r = resource_get(t, want->v[i].tag);
        const struct value *bound = resc_find(limit, r->id);

        if (!bound)
            bound = resc_find(otherwise, r->id);
        if (bound && is_amount(r, bound) && is_amount(r, &want->v[i]) &&
            r->type->compare(r->type, &want->v[i], bound) > 0)
            return r->id;
    }
    return RESC_NONE;
}

bool resc_is_equal(const struct resc_list *a, const struct resc_list *b, const struct resource_table *t)
{
    size_t n = a ? a->n : 0;

    if (n != (b ? b->n : 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct value_type *type = shown_as(resource_get(t, a->v[i].tag), &a->v[i]);
        if (a->v[i].tag != b->v[i].tag || a->v[i].kind != b->v[i].kind ||
            type->compare(type, &a->v[i], &b->v[i]) != 0)
            return false;
    }
    return true;
}

/* --- JSON ------------------------------------------------------------------------------------------- */

static json_t *element_to_json(const struct resource *r, const struct value *v)
{
    struct strbuf b;
    json_t *json = NULL;

    if (v->kind != VALUE_LIMITS)
        return shown_as(r, v)->to_json(shown_as(r, v), v);
    strbuf_init(&b, 1 << 20);
    if (limit_format(r->type, v, &b) == 0)
        json = value_json_of_text(strbuf_str(&b));
    strbuf_fini(&b);
    return json;
}

json_t *resc_to_json(const struct resc_list *l, const struct resource_table *t)
{
    json_t *object = json_object();

    for (size_t i = 0; object && l && i < l->n; i++) {
        const struct resource *r = resource_get(t, l->v[i].tag);
        if (json_object_set_new(object, r->name, element_to_json(r, &l->v[i])) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* Of a limit, or of an amount that is another vnode's ("@n1"); NULL: neither. */
static char *special_text(const json_t *json, enum value_by by)
{
    char *text = value_text_of_json(json);

    if (text && (by == BY_LIMIT || (text[0] == '@' && text[1])))
        return text;
    free(text);
    return NULL;
}

static int element_from_json(const json_t *json, const struct resource *r, enum value_by by,
                             struct value *out, struct err *e)
{
    char *text = special_text(json, by);
    int rc;

    if (text && by == BY_LIMIT) {
        rc = limit_parse(r->type, text, out, e);
    } else if (text) {
        *out = value_of_text(text);
        rc = out->kind == VALUE_TEXT ? 0 : type_resc_no_memory(e);
    } else if (by == BY_LIMIT) {
        rc = errors_set(e, PBSE_BADATVAL, "a stored limit is a text");
    } else {
        rc = r->type->from_json(r->type, json, out, e);
    }
    free(text);
    return rc;
}

/* Plain amounts are read in place, all else by way of a tree. */
static int element_read(const struct json_member *m, const struct resource *r, enum value_by by,
                        struct value *out, struct err *e)
{
    json_t *json;
    int rc;

    if (by == BY_AMOUNT && (m->kind == JSON_SCAN_TEXT ? m->text[0] != '@' : m->kind == JSON_SCAN_INTEGER))
        return value_read(r->type, m, out, e);
    json = value_json_of_member(m);
    rc = json ? element_from_json(json, r, by, out, e)
              : errors_set(e, PBSE_BADATVAL, "a stored amount is not JSON");
    json_decref(json);
    return rc;
}

static int read_element(struct resc_list **l, const struct json_member *m, const struct resource_table *t,
                        enum value_by by, struct err *e)
{
    const struct resource *r = resource_find(t, m->name);
    struct value v;

    if (!r)
        return errors_set(e, PBSE_UNKRESC, "%.80s", m->name);
    if (element_read(m, r, by, &v, e) < 0)
        return err_prefix(e, "%s", r->name);
    return resc_put(l, r->id, v, e);
}

int resc_read(char *text, const struct resource_table *t, enum value_by by, struct resc_list **out,
              struct err *e)
{
    struct resc_list *l = NULL;
    struct json_scan s;
    struct json_member m;
    int rc = json_scan_begin(&s, text) == 0 && s.close == '}' ? 0 : -1;

    while (rc >= 0 && (rc = json_scan_next(&s, &m)) > 0)
        if (read_element(&l, &m, t, by, e) < 0)
            goto fail;
    if (rc < 0) {
        errors_set(e, PBSE_BADATVAL, "stored amounts are a JSON object");
        goto fail;
    }
    *out = l;
    return 0;
fail:
    resc_free(l);
    return -1;
}

/* --- the types: handled by name, so there is nothing to parse or format here ------------------------- */

static int type_resc_amounts_dup(const struct value *from, struct value *to)
{
    *to = *from;
    if (from->kind == VALUE_AMOUNTS && resc_dup(from->amounts, &to->amounts) < 0) {
        to->kind = VALUE_NONE;
        return -1;
    }
    return 0;
}

static void type_resc_amounts_free(struct value *v)
{
    if (v->kind == VALUE_AMOUNTS)
        resc_free(v->amounts);
    v->kind = VALUE_NONE;
}

const struct value_type type_resources = {.name = "resources",
                                          .number = 6,
                                          .by = BY_AMOUNT,
                                          .form = "name.resource",
                                          .dup = type_resc_amounts_dup,
                                          .free = type_resc_amounts_free};
const struct value_type type_resource_limits = {.name = "entity limits by resource",
                                                .number = 15,
                                                .by = BY_LIMIT,
                                                .form = "name.resource",
                                                .dup = type_resc_amounts_dup,
                                                .free = type_resc_amounts_free};
