/* Objects as rows. See row_encode.h.
 *
 * All parts are encoded into buffers first, and only then statements are added: so a value that cannot be
 * written leaves no half of an object in the batch. Jobs have a statement for each part, since a million
 * jobs change often and little; all other kinds share one. `order` lets a restart make objects in the
 * order in which they were made. */
#include "row_encode.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr_walk.h"
#include "job.h"
#include "json_text.h"
#include "schema.h"

#define ROW_PART_MAX ((size_t)64 << 20)

void row_encode_init(struct row_encode *x, struct resource_table *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now); /* not the time: a number above those of earlier runs */
    x->order = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    x->resources = t;
    strbuf_init(&x->hot, ROW_PART_MAX);
    strbuf_init(&x->attrs, ROW_PART_MAX);
    strbuf_init(&x->fixed, ROW_PART_MAX);
    strbuf_init(&x->fixed_attrs, ROW_PART_MAX);
}

void row_encode_fini(struct row_encode *x)
{
    strbuf_fini(&x->hot);
    strbuf_fini(&x->attrs);
    strbuf_fini(&x->fixed);
    strbuf_fini(&x->fixed_attrs);
}

static int row_encode_dump(const char *text, size_t n, void *out)
{
    return strbuf_add_bytes(out, text, n);
}

static int encode_attrs(struct row_encode *x, const struct attr_list *l, unsigned with, unsigned without,
                        struct strbuf *out)
{
    json_t *json = attr_walk_to_json(l, x->resources, with, without | AF_DERIVED);
    int rc = json ? json_dump_callback(json, row_encode_dump, out, JSON_COMPACT) : -1;

    json_decref(json);
    return rc;
}

static int encode_part(const struct object *o, enum change_part part, struct strbuf *out)
{
    return o->kind->encode ? o->kind->encode(o, part, out) : 0;
}

/* Texts that have columns of their own must be UTF-8; nearly all are. */
static void column(struct store_batch *out, const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    if (copy)
        json_text_clean(copy);
    store_batch_text(out, copy);
    free(copy);
}

static void put_job(struct row_encode *x, const struct job *j, struct store_batch *out)
{
    store_batch_begin(out, STMT_JOB_PUT);
    store_batch_number(out, j->key.seq);
    store_batch_number(out, j->key.index);
    column(out, j->obj.name);
    store_batch_text(out, job_state_name(j->state));
    column(out, j->queue_name);
    column(out, j->owner);
    column(out, j->project);
    store_batch_text_n(out, x->hot.s, x->hot.len);
    store_batch_text_n(out, x->attrs.s, x->attrs.len);
    store_batch_text_n(out, x->fixed.s, x->fixed.len);
    store_batch_text_n(out, x->fixed_attrs.s, x->fixed_attrs.len);
}

static void put_job_hot(struct row_encode *x, const struct job *j, struct store_batch *out)
{
    store_batch_begin(out, STMT_JOB_HOT);
    store_batch_text(out, job_state_name(j->state));
    column(out, j->queue_name);
    store_batch_text_n(out, x->hot.s, x->hot.len);
    store_batch_number(out, j->key.seq);
    store_batch_number(out, j->key.index);
}

static void put_job_attrs(struct row_encode *x, const struct job *j, struct store_batch *out)
{
    store_batch_begin(out, STMT_JOB_ATTRS);
    column(out, j->project);
    store_batch_text_n(out, x->attrs.s, x->attrs.len);
    store_batch_number(out, j->key.seq);
    store_batch_number(out, j->key.index);
}

static int encode_job(struct row_encode *x, const struct object *o, unsigned parts, struct store_batch *out)
{
    const struct job *j = (const struct job *)o;

    if (parts & PART_FIXED)
        parts = PART_ALL;
    if ((parts & PART_HOT && encode_part(o, PART_HOT, &x->hot) < 0) ||
        (parts & PART_ATTRS && encode_attrs(x, &o->attrs, 0, AF_FIXED, &x->attrs) < 0) ||
        (parts & PART_FIXED && (encode_part(o, PART_FIXED, &x->fixed) < 0 ||
                                encode_attrs(x, &o->attrs, AF_FIXED, 0, &x->fixed_attrs) < 0)))
        return -1;
    if (parts & PART_FIXED) {
        put_job(x, j, out);
        return 0;
    }
    if (parts & PART_HOT)
        put_job_hot(x, j, out);
    if (parts & PART_ATTRS)
        put_job_attrs(x, j, out);
    return 0;
}

static void text_or_null(struct store_batch *out, const struct strbuf *text)
{
    if (text->len)
        store_batch_text_n(out, text->s, text->len);
    else
        store_batch_null(out);
}

static int encode_other(struct row_encode *x, const struct object *o, unsigned parts, struct store_batch *out)
{
    if ((parts & PART_HOT && encode_part(o, PART_HOT, &x->hot) < 0) ||
        (parts & (PART_ATTRS | PART_FIXED) && encode_attrs(x, &o->attrs, 0, 0, &x->attrs) < 0))
        return -1;
    store_batch_begin(out, STMT_OBJECT_PUT);
    store_batch_text(out, o->kind->name);
    column(out, o->name);
    text_or_null(out, &x->hot);
    text_or_null(out, &x->attrs);
    store_batch_number(out, ++x->order);
    return 0;
}

int row_encode_object(struct row_encode *x, const struct object *o, unsigned parts, struct store_batch *out)
{
    if (!parts)
        return 0;
    strbuf_reset(&x->hot);
    strbuf_reset(&x->attrs);
    strbuf_reset(&x->fixed);
    strbuf_reset(&x->fixed_attrs);
    return o->kind == &job_kind ? encode_job(x, o, parts, out) : encode_other(x, o, parts, out);
}
