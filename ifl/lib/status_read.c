/* Entries of status and watch answers, built straight from the stream. See status_read.h.
 *
 * The codecs are written by hand, because those of rpcgen would make each string a block of its own. While
 * an entry is read its text may move (it grows), so attributes are kept as marks, offsets into it; they
 * become pointers when the entry is whole. Bounds are those of the protocol, checked before memory is
 * taken. */
#include "status_read.h"

#include <stdlib.h>
#include <string.h>
#include <ifl.h>

void status_read_scratch_fini(struct status_scratch *s)
{
    free(s->text);
    free(s->marks);
    free(s->attribs);
    *s = (struct status_scratch){0};
}

static bool status_read_grow(void **mem, size_t *cap, size_t want, size_t size)
{
    size_t n = *cap ? *cap : 64;
    void *bigger;

    if (want <= *cap)
        return true;
    while (n < want)
        n *= 2;
    bigger = realloc(*mem, n * size);
    if (!bigger)
        return false;
    *mem = bigger;
    *cap = n;
    return true;
}

static bool room(struct status_scratch *s, size_t n)
{
    return status_read_grow((void **)&s->text, &s->cap, s->len + n, 1);
}

/* One string of at most `max` bytes; *at is where it begins. */
static bool get_string(XDR *x, struct status_scratch *s, size_t max, size_t *at)
{
    u_int n;

    if (!xdr_u_int(x, &n) || n > max || !room(s, (size_t)n + 1))
        return false;
    *at = s->len;
    if (n && !xdr_opaque(x, s->text + s->len, n))
        return false;
    s->len += n;
    s->text[s->len++] = '\0';
    return true;
}

static bool get_attrs(XDR *x, struct status_scratch *s)
{
    u_int n;

    if (!xdr_u_int(x, &n) || n > PBS_ATTRS_MAX ||
        !status_read_grow((void **)&s->marks, &s->cap_marks, n, sizeof s->marks[0]))
        return false;
    for (s->n_marks = 0; s->n_marks < n; s->n_marks++) {
        struct status_mark *m = &s->marks[s->n_marks];

        if (!get_string(x, s, PBS_NAME_MAX, &m->name) || !get_string(x, s, PBS_NAME_MAX, &m->resource) ||
            !get_string(x, s, PBS_VALUE_MAX, &m->value))
            return false;
    }
    return true;
}

/* Link the attributes of `s` as a list in `to`, whose text begins at `text`. */
static void link_attrs(const struct status_scratch *s, struct attrl *to, char *text)
{
    for (size_t i = 0; i < s->n_marks; i++) {
        const struct status_mark *m = &s->marks[i];

        to[i] = (struct attrl){
            .next = i + 1 < s->n_marks ? &to[i + 1] : NULL,
            .name = text + m->name,
            .resource = text[m->resource] ? text + m->resource : NULL,
            .value = text + m->value,
            .op = SET,
        };
    }
}

void status_read_list_init(struct status_list *l)
{
    *l = (struct status_list){0};
    l->tail = &l->head;
}

struct batch_status *status_read_list_take(struct status_list *l)
{
    struct batch_status *head = l->head;

    l->head = NULL;
    l->tail = &l->head;
    l->n = 0;
    return head;
}

void status_read_list_fini(struct status_list *l)
{
    pbs_statfree(status_read_list_take(l));
    status_read_scratch_fini(&l->scratch);
}

/* Node, attributes and text as one block. */
static struct batch_status *make_node(const struct status_scratch *s, size_t name, size_t text)
{
    size_t attrs = s->n_marks * sizeof(struct attrl);
    struct batch_status *b = malloc(sizeof *b + attrs + s->len);
    struct attrl *list;
    char *bytes;

    if (!b)
        return NULL;
    list = (struct attrl *)(void *)(b + 1);
    bytes = (char *)list + attrs;
    memcpy(bytes, s->text, s->len);
    link_attrs(s, list, bytes);
    *b = (struct batch_status){
        .name = bytes + name,
        .attribs = s->n_marks ? list : NULL,
        .text = bytes[text] ? bytes + text : NULL,
    };
    return b;
}

static bool put_string(struct status_scratch *s, const char *text, size_t *at)
{
    size_t n = strlen(text) + 1;

    if (!room(s, n))
        return false;
    *at = s->len;
    memcpy(s->text + s->len, text, n);
    s->len += n;
    return true;
}

static bool put_attr(struct status_scratch *s, const struct attropl *a)
{
    struct status_mark *m;

    if (!status_read_grow((void **)&s->marks, &s->cap_marks, s->n_marks + 1, sizeof s->marks[0]))
        return false;
    m = &s->marks[s->n_marks++];
    return put_string(s, a->name, &m->name) && put_string(s, a->resource ? a->resource : "", &m->resource) &&
           put_string(s, a->value, &m->value);
}

struct batch_status *status_read_node_create(const char *name, const struct attropl *attrs)
{
    struct status_scratch s = {0};
    struct batch_status *b = NULL;
    size_t name_at, text_at;
    bool ok = put_string(&s, name, &name_at) && put_string(&s, "", &text_at);

    for (; attrs && ok; attrs = attrs->next)
        ok = put_attr(&s, attrs);
    if (ok)
        b = make_node(&s, name_at, text_at);
    status_read_scratch_fini(&s);
    return b;
}

bool_t status_read_entry(XDR *x, struct status_list *l)
{
    struct status_scratch *s = &l->scratch;
    struct batch_status *b;
    size_t name, text;

    if (x->x_op != XDR_DECODE)
        return x->x_op == XDR_FREE;
    s->len = 0;
    if (!get_string(x, s, PBS_ID_MAX, &name) || !get_attrs(x, s) || !get_string(x, s, PBS_TEXT_MAX, &text))
        return FALSE;
    b = make_node(s, name, text);
    if (!b)
        return FALSE;
    *l->tail = b;
    l->tail = &b->next;
    l->n++;
    return TRUE;
}

bool_t status_read_change(XDR *x, struct status_change *ch)
{
    struct status_scratch *s = &ch->scratch;
    u_quad_t number;
    size_t name;

    if (x->x_op != XDR_DECODE)
        return x->x_op == XDR_FREE;
    s->len = 0;
    if (!xdr_u_quad_t(x, &number) || !xdr_int(x, &ch->kind) || !xdr_int(x, &ch->change) ||
        !get_string(x, s, PBS_ID_MAX, &name) || !get_attrs(x, s) ||
        !status_read_grow((void **)&s->attribs, &s->cap_attribs, s->n_marks, sizeof s->attribs[0]))
        return FALSE;
    link_attrs(s, s->attribs, s->text);
    ch->number = number;
    ch->name = s->text + name;
    ch->attribs = s->n_marks ? s->attribs : NULL;
    return TRUE;
}

void pbs_statfree(struct batch_status *list)
{
    while (list) {
        struct batch_status *next = list->next;

        free(list);
        list = next;
    }
}
