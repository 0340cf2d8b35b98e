/* What a reader is shown. See attrib_render.h.
 *
 * Amounts are held by id and shown by name: `rank` says the place of each id in the alphabet, and is made again
 * when resources have changed. */
#include "attrib_render.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "pbs_ifl.h"
#include "type_resc.h"

#define SCRATCH_MAX ((size_t)2 << 20)
enum { PBS_VALUE_BOUND = 1048576 }; /* PBS_VALUE_MAX of types.x */
enum { LIST_MAX = 256 };            /* amounts in one list; no site has so many resources */

struct attrib_render {
    const struct server_ctx *ctx;
    struct derived_attribs *derived_attribs;
    struct strbuf scratch;
    uint16_t *rank; /* by resource id */
    size_t n_rank;
    unsigned generation; /* of the resources that rank knows */
};

struct attrib_render *attrib_render_create(const struct server_ctx *s)
{
    struct attrib_render *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->ctx = s;
    strbuf_init(&w->scratch, SCRATCH_MAX);
    w->derived_attribs = derived_attribs_create(s);
    if (!w->derived_attribs) {
        attrib_render_destroy(w);
        return NULL;
    }
    return w;
}

void attrib_render_destroy(struct attrib_render *w)
{
    if (!w)
        return;
    derived_attribs_destroy(w->derived_attribs);
    strbuf_fini(&w->scratch);
    free(w->rank);
    free(w);
}

struct derived_attribs *attrib_render_computed(struct attrib_render *w)
{
    return w->derived_attribs;
}

/* ---- resources by name ------------------------------------------------------------------------------- */

static int attrib_render_by_name(const void *a, const void *b)
{
    return strcasecmp((*(const struct resource *const *)a)->name, (*(const struct resource *const *)b)->name);
}

static int make_ranks(struct attrib_render *w)
{
    const struct resource **all = calloc(RESC_MAX, sizeof *all);
    uint16_t *rank = calloc(RESC_MAX, sizeof *rank);
    size_t n = 0;

    if (!all || !rank) {
        free(all);
        free(rank);
        return -1;
    }
    for (const struct resource *r = resource_next(w->ctx->resources, NULL); r && n < RESC_MAX;
         r = resource_next(w->ctx->resources, r))
        all[n++] = r;
    qsort(all, n, sizeof *all, attrib_render_by_name);
    for (size_t i = 0; i < n; i++)
        rank[all[i]->id] = (uint16_t)i;
    free(all);
    free(w->rank);
    w->rank = rank;
    w->generation = resource_generation(w->ctx->resources);
    return 0;
}

static int need_ranks(struct attrib_render *w)
{
    return w->rank && w->generation == resource_generation(w->ctx->resources) ? 0 : make_ranks(w);
}

/* Insertion: lists are short, and nearly sorted from one object to the next. */
static size_t sort_list(const struct attrib_render *w, const struct resc_list *l,
                        const struct value *out[LIST_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < l->n && n < LIST_MAX; i++) {
        size_t at = n++;

        for (; at > 0 && w->rank[out[at - 1]->tag] > w->rank[l->v[i].tag]; at--)
            out[at] = out[at - 1];
        out[at] = &l->v[i];
    }
    return n;
}

/* ---- one attribute ----------------------------------------------------------------------------------- */

struct attrib_render_walk {
    struct attrib_render *w;
    const struct attr_select *want;
    const struct attr_reader *reader;
    attr_walk_fn *fn;
    void *arg;
};

static int show_amount(const struct attrib_render_walk *k, const char *name, int index, const struct value *v)
{
    const struct resource *r = resource_get(k->w->ctx->resources, v->tag);
    const char *text;

    if (r->gone || !resource_may_read(r, k->reader->level) ||
        !attr_select_has_resource(k->want, index, r->id))
        return 0;
    text = value_show(r->type, v, &k->w->scratch);
    return text ? k->fn(k->arg, name, r->name, text) : -1;
}

static int show_amounts(const struct attrib_render_walk *k, const char *name, int index,
                        const struct resc_list *l)
{
    const struct value *sorted[LIST_MAX];
    size_t n;
    int rc = 0;

    if (!l || need_ranks(k->w) < 0)
        return l ? -1 : 0;
    n = sort_list(k->w, l, sorted);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = show_amount(k, name, index, sorted[i]);
    return rc;
}

static int attrib_render_show(const struct attrib_render_walk *k, enum attr_of of, int index,
                              const struct attr_def *d, const struct value *v)
{
    const struct value_type *type = attr_def_type(d);
    const char *text;

    switch (type->by) {
    case BY_AMOUNT:
        return show_amounts(k, d->name, index, v->amounts);
    case BY_LIMIT:
        return attr_walk_value(of, index, v, k->w->ctx->resources, k->want, k->reader, &k->w->scratch, k->fn,
                               k->arg);
    case BY_NOTHING:
        break;
    }
    text = v->kind == VALUE_TEXT ? v->text : value_show(type, v, &k->w->scratch);
    return text ? k->fn(k->arg, d->name, NULL, text) : -1;
}

bool attrib_render_hides(const struct attr_def *d, const struct attr_reader *reader, const char *owner)
{
    return d->flags & AF_PRIVATE && reader->only_of && (!owner || strcmp(owner, reader->only_of) != 0);
}

static const char *owner_of(const struct object *o)
{
    return o->kind->kind == CHANGE_JOB ? ((const struct job *)o)->owner : NULL;
}

int attrib_render_walk(struct attrib_render *w, const struct object *o, const struct attr_select *want,
                       const struct attr_reader *reader, attr_walk_fn *fn, void *arg)
{
    const struct attrib_render_walk k = {w, want, reader, fn, arg};
    enum attr_of of = o->kind->attrs;
    int rc = 0, n = attr_def_count(of);

    for (int i = attr_select_next(want, 0); i < n && rc == 0; i = attr_select_next(want, i + 1)) {
        const struct attr_def *d = attr_def_get(of, i);
        const struct value *v;
        struct value room;

        if (!attr_def_may_read(d, reader->level, reader->show_hidden) || (want->all && d->flags & AF_ASKED) ||
            attrib_render_hides(d, reader, owner_of(o)))
            continue;
        v = derived_attribs_get(w->derived_attribs, o, i, &room);
        if (!value_is_set(v) && reader->presets && derived_attribs_preset(w->derived_attribs, o, i, &room))
            v = &room;
        if (value_is_set(v))
            rc = attrib_render_show(&k, of, i, d, v);
    }
    return rc;
}

static int show_number(struct attrib_render *w, const char *name, long long n, attr_walk_fn *fn, void *arg)
{
    strbuf_reset(&w->scratch);
    strbuf_addf(&w->scratch, "%lld", n);
    return fn(arg, name, NULL, strbuf_str(&w->scratch));
}

int attrib_render_walk_resource(struct attrib_render *w, const struct resource *r,
                                const struct attr_select *want, const struct attr_reader *reader,
                                attr_walk_fn *fn, void *arg)
{
    int rc = 0;

    if (!resource_may_read(r, reader->level))
        return 0;
    if (attr_select_has(want, RESOURCE_ATTR_type))
        rc = show_number(w, "type", r->type->number, fn, arg);
    if (rc == 0 && attr_select_has(want, RESOURCE_ATTR_flag))
        rc = show_number(w, "flag", r->flags, fn, arg);
    return rc;
}

/* ---- wire bytes -------------------------------------------------------------------------------------- */

int attrib_render_text(struct byte_buf *out, const char *text, size_t n)
{
    size_t padded = (n + 3) & ~(size_t)3;
    char *at = byte_buf_room(out, 4 + padded);

    if (!at)
        return -1;
    rpc_buf_put_u32(at, (uint32_t)n);
    if (padded > n)
        memset(at + padded, 0, 4); /* the last word: padding, or overwritten at once */
    memcpy(at + 4, text, n);
    out->len += 4 + padded;
    return 0;
}

int attrib_render_begin(struct attrib_render_attrs *a, struct byte_buf *out)
{
    char *at = byte_buf_room(out, 4);

    if (!at)
        return -1;
    *a = (struct attrib_render_attrs){.out = out, .count_at = out->len};
    out->len += 4;
    return 0;
}

int attrib_render_triple(void *attrs, const char *name, const char *resource, const char *value)
{
    struct attrib_render_attrs *a = attrs;
    size_t n = strlen(value);

    a->n++;
    if (attrib_render_text(a->out, name, strlen(name)) < 0 ||
        attrib_render_text(a->out, resource ? resource : "", resource ? strlen(resource) : 0) < 0)
        return -1;
    return attrib_render_text(a->out, value, n < PBS_VALUE_BOUND ? n : PBS_VALUE_BOUND);
}

void attrib_render_end(struct attrib_render_attrs *a)
{
    rpc_buf_put_u32(a->out->bytes + a->count_at, a->n);
}
