/* The sparse attributes of one object. See attr_list.h. Text comes in through attr_change.c.
 *
 * Of the many attributes that an object may have few are set, so the list has only those: an array of
 * values that are their own keys (tag), found by halving. Room grows by eight. Pointers into it end with
 * the next write.
 *
 * Invariants: tags rise; a resource attribute without any amount counts as not set, whether it has an element or not;
 * a value is freed by its type, which alone knows what it owns. */
#include "attr_list.h"

#include <assert.h>
#include <string.h>

#include "errors.h"
#include "strbuf.h"

static int attr_list_no_memory(struct err *e)
{
    return errors_set(e, PBSE_SYSTEM, "no memory for an attribute");
}

static const struct attr_def *def_of(const struct attr_list *l, int index)
{
    return attr_def_get((enum attr_of)l->of, index);
}

static const struct value_type *type_of(const struct attr_list *l, int index)
{
    return attr_def_type(def_of(l, index));
}

/* --- the array -------------------------------------------------------------------------------------- */

static size_t attr_list_place_of(const struct attr_list *l, int index)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->v[mid].tag < index)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct value *attr_list_find_at(const struct attr_list *l, int index)
{
    size_t i = attr_list_place_of(l, index);

    return i < l->n && l->v[i].tag == index ? &l->v[i] : NULL;
}

/* The value of an attribute, made empty if it is not there yet; NULL: no memory. */
static struct value *attr_list_need(struct attr_list *l, int index)
{
    size_t i = attr_list_place_of(l, index);

    if (i < l->n && l->v[i].tag == index)
        return &l->v[i];
    if (l->n == l->cap) {
        size_t cap = (size_t)l->cap + 8 > ATTR_MAX ? ATTR_MAX : (size_t)l->cap + 8;
        struct value *grown = realloc(l->v, cap * sizeof *grown);
        if (!grown)
            return NULL;
        l->v = grown;
        l->cap = (uint8_t)cap;
    }
    memmove(&l->v[i + 1], &l->v[i], (l->n - i) * sizeof *l->v);
    l->v[i] = (struct value){.tag = (uint16_t)index};
    l->n++;
    return &l->v[i];
}

static void attr_list_drop(struct attr_list *l, int index)
{
    struct value *v = attr_list_find_at(l, index);

    if (!v)
        return;
    type_of(l, index)->free(v);
    l->n--;
    memmove(v, v + 1, (size_t)(l->v + l->n - v) * sizeof *v);
}

void attr_list_init(struct attr_list *l, enum attr_of of)
{
    *l = (struct attr_list){.of = (uint8_t)of};
}

void attr_list_fini(struct attr_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        type_of(l, l->v[i].tag)->free(&l->v[i]);
    free(l->v);
    attr_list_init(l, (enum attr_of)l->of);
}

int attr_list_dup(const struct attr_list *from, struct attr_list *to)
{
    attr_list_init(to, (enum attr_of)from->of);
    if (!from->n)
        return 0;
    to->v = malloc(from->n * sizeof *to->v);
    if (!to->v)
        return -1;
    to->cap = from->n;
    for (; to->n < from->n; to->n++) {
        const struct value *v = &from->v[to->n];
        if (type_of(from, v->tag)->dup(v, &to->v[to->n]) < 0) {
            attr_list_fini(to);
            return -1;
        }
    }
    return 0;
}

/* Set one attribute's default; the C test of the definitions checks that it is valid. */
static int set_default(struct attr_list *l, int index, struct err *e)
{
    const struct value_type *t = type_of(l, index);
    struct value v, *place;

    if (t->parse(t, def_of(l, index)->dflt, &v, e) < 0)
        return -1;
    place = attr_list_need(l, index);
    if (!place) {
        t->free(&v);
        return attr_list_no_memory(e);
    }
    t->free(place);
    v.tag = (uint16_t)index;
    *place = v;
    return 0;
}

int attr_list_set_defaults(struct attr_list *l, struct err *e)
{
    for (int i = 0; i < attr_def_count((enum attr_of)l->of); i++) {
        if ((def_of(l, i)->flags & AF_SHOWN) && !attr_list_is_set(l, i) && set_default(l, i, e) < 0)
            return -1;
    }
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------------- */

const struct value *attr_list_find(const struct attr_list *l, int index)
{
    const struct value *v = attr_list_find_at(l, index);
    bool empty = v && v->kind == VALUE_AMOUNTS && !v->amounts;

    return value_is_set(v) && !empty ? v : NULL;
}

bool attr_list_is_set(const struct attr_list *l, int index)
{
    return attr_list_find(l, index) != NULL;
}

int64_t attr_list_number(const struct attr_list *l, int index, int64_t if_unset)
{
    const struct value *v = attr_list_find(l, index);

    return v ? value_number(v) : if_unset;
}

bool attr_list_bool(const struct attr_list *l, int index, bool if_unset)
{
    return attr_list_number(l, index, if_unset) != 0;
}

const char *attr_list_text(const struct attr_list *l, int index)
{
    return value_text(attr_list_find(l, index));
}

const struct resc_list *attr_list_amounts(const struct attr_list *l, int index)
{
    const struct value *v = attr_list_find(l, index);

    return v && v->kind == VALUE_AMOUNTS ? v->amounts : NULL;
}

const struct value *attr_list_amount(const struct attr_list *l, int index, int resource)
{
    return resc_find(attr_list_amounts(l, index), resource);
}

int64_t attr_list_effective(const struct attr_list *l, int index)
{
    const struct attr_def *d = def_of(l, index);
    const struct value_type *t = attr_def_type(d);
    const struct value *v = attr_list_find(l, index);
    struct value dflt;
    int64_t n;

    if (v)
        return value_number(v);
    if (!d->dflt || t->by != BY_NOTHING || t->parse(t, d->dflt, &dflt, NULL) < 0)
        return 0;
    n = value_number(&dflt);
    t->free(&dflt);
    return n;
}

/* --- writing ---------------------------------------------------------------------------------------- */

int attr_list_put(struct attr_list *l, int index, struct value v, struct err *e)
{
    const struct value_type *t = type_of(l, index);
    struct value *place = attr_list_need(l, index);

    if (!place) {
        t->free(&v);
        return attr_list_no_memory(e);
    }
    t->free(place);
    v.tag = (uint16_t)index;
    *place = v;
    return 0;
}

int attr_list_set_number(struct attr_list *l, int index, int64_t n, struct err *e)
{
    return attr_list_put(l, index, value_of_number(n), e);
}

int attr_list_set_text(struct attr_list *l, int index, const char *text, struct err *e)
{
    const struct value_type *t = type_of(l, index);
    struct value v;

    if (!text) {
        attr_list_unset(l, index);
        return 0;
    }
    assert(t->by == BY_NOTHING);
    if (t->parse(t, text, &v, e) < 0)
        return err_prefix(e, "%s", def_of(l, index)->name);
    return attr_list_put(l, index, v, e);
}

int attr_list_edit_amounts(struct attr_list *l, int index, struct resc_list ***p, struct err *e)
{
    struct value *v = attr_list_need(l, index);

    assert(type_of(l, index)->by != BY_NOTHING);
    if (!v)
        return attr_list_no_memory(e);
    if (v->kind == VALUE_NONE) {
        v->kind = VALUE_AMOUNTS;
        v->amounts = NULL;
    }
    *p = &v->amounts;
    return 0;
}

/* An attribute without any amount is not set. */
static void drop_if_empty(struct attr_list *l, int index)
{
    const struct value *v = attr_list_find_at(l, index);

    if (v && v->kind == VALUE_AMOUNTS && !v->amounts)
        attr_list_drop(l, index);
}

int attr_list_set_amount(struct attr_list *l, int index, int resource, struct value v, struct err *e)
{
    struct resc_list **p;
    int rc;

    if (attr_list_edit_amounts(l, index, &p, e) < 0) {
        value_free(&v);
        return -1;
    }
    rc = resc_put(p, resource, v, e);
    drop_if_empty(l, index);
    return rc;
}

int attr_list_set_amounts(struct attr_list *l, int index, struct resc_list *amounts, struct err *e)
{
    if (amounts)
        return attr_list_put(l, index, (struct value){.kind = VALUE_AMOUNTS, .amounts = amounts}, e);
    attr_list_unset(l, index);
    return 0;
}

void attr_list_unset(struct attr_list *l, int index)
{
    /* back to the default; if memory is short for it the old value is removed in any case */
    if (!(def_of(l, index)->flags & AF_SHOWN) || set_default(l, index, NULL) < 0)
        attr_list_drop(l, index);
    else
        attr_list_find_at(l, index)->defaulted = true;
}

void attr_list_unset_amount(struct attr_list *l, int index, int resource)
{
    struct value *v = attr_list_find_at(l, index);

    if (!v || v->kind != VALUE_AMOUNTS)
        return;
    resc_remove(&v->amounts, resource);
    drop_if_empty(l, index);
}

static size_t text_length(const struct value *v)
{
    size_t sum = 0;

    if (v->kind == VALUE_TEXT || v->kind == VALUE_OWN)
        return strlen(v->kind == VALUE_TEXT ? v->text : v->own);
    for (size_t i = 0; v->kind == VALUE_AMOUNTS && v->amounts && i < v->amounts->n; i++)
        sum += text_length(&v->amounts->v[i]);
    return sum;
}

size_t attr_list_text_length(const struct attr_list *l)
{
    size_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum += text_length(&l->v[i]);
    return sum;
}
