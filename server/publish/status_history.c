/* Rows of history for one query. See status_history.h.
 *
 * Who speaks first: a query asks for a page behind a key, or for the row of one job; the store's reader answers in a later turn by
 * status_history_got_rows, which copies the rows, since they are the reader's, and wakes the query. The query then makes the same call
 * again, and finds the page there. So each of these functions is written to be called twice.
 *
 * A page is used as far as it reaches: keys rise in a walk, and rows at or below the last key are passed over. After the last row of a
 * page that was not full there is nothing more. Where the store cannot be asked (no thread, no memory) the query ends with what memory
 * has, and the tally says so.
 *
 * A job may leave memory for history between two looks, so that neither has it. status_history_again notices by the number of jobs that
 * were removed since the page was asked for, and reads once more for each such key.
 *
 * The reader has our pointer while a question is under way; what is destroyed meanwhile is freed by the answer, and then touches
 * neither filter nor tally, which are gone. */
#include "status_history.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "intern.h"
#include "json_read.h"
#include "json_text.h"
#include "log.h"
#include "pbs_error.h"
#include "store_reader.h"
#include "server_obj.h"
#include "status_entry.h"

/* PAGE: a choice; rows are some KB each, and one answer of the store should not keep others waiting. */
enum { PAGE = 200 };

struct status_history {
    const struct status_filter *filter;
    struct status_tally *tally;
    struct store_reader *store_reader; /* NULL: no history */
    void (*wake)(void *arg);
    void *wake_arg;
    const char *queue; /* interned: the filter's, kept until the answer */
    struct status_row *page;
    size_t n_page, at_page;
    bool page_is_last, page_is_there;
    uint64_t page_removed;     /* jobs_removed() when the page was asked for */
    struct job_key page_lacks; /* a job that was not in memory any more then; seq -1: none */
    bool asking;               /* the reader has our pointer */
    bool dead;                 /* destroyed while asking: the answer frees it */
};

/* ---- entries ----------------------------------------------------------------------------------------- */

static int history_value(const struct status_filter *f, int index, const char *name, const char *resource,
                         const json_t *value, struct attrib_render_attrs *a)
{
    const struct resource *r = resource ? resource_find(f->ctx->resources, resource) : NULL;
    char *text;
    int rc;

    if (r && (!resource_may_read(r, f->reader.level) || !attr_select_has_resource(&f->want, index, r->id)))
        return 0;
    text = strdup(json_string_value(value) ? json_string_value(value) : "");
    if (!text)
        return -1;
    json_text_restore(text);
    rc = attrib_render_triple(a, name, resource, text);
    free(text);
    return rc;
}

static int history_attr(const struct status_filter *f, const char *owner, const char *name, json_t *value,
                        struct attrib_render_attrs *a)
{
    int index = attr_def_find(OF_JOB, name), rc = 0;
    const char *resource;
    json_t *amount;

    if (index < 0 || !attr_select_has(&f->want, index) ||
        !attr_def_may_read(attr_def_get(OF_JOB, index), f->reader.level, f->reader.show_hidden) ||
        attrib_render_hides(attr_def_get(OF_JOB, index), &f->reader, owner))
        return 0;
    if (!json_is_object(value))
        return history_value(f, index, name, NULL, value, a);
    json_object_foreach(value, resource, amount) if (rc == 0) rc =
        history_value(f, index, name, resource, amount, a);
    return rc;
}

int status_history_put(const struct status_filter *f, const char *id, json_t *attrs, struct byte_buf *out)
{
    const char *owner = json_string_value(json_object_get(attrs, "Job_Owner"));
    struct attrib_render_attrs a;
    const char *name;
    json_t *value;
    int rc = 0;

    if (status_entry_begin(out, id, &a) < 0)
        return -1;
    json_object_foreach(attrs, name, value) if (rc == 0 && !f->names_only) rc =
        history_attr(f, owner, name, value, &a);
    return rc < 0 ? -1 : status_entry_end(out, &a);
}

int status_history_show(const struct status_filter *f, const struct status_row *row, struct byte_buf *out)
{
    json_t *attrs;
    int rc = 0;

    if (!status_filter_wants_row(f, row))
        return 0;
    attrs = json_read_own(row->attrs);
    if (!attrs)
        log_event(LOGC_JOB, LOGE_ERROR, row->id, "its history cannot be read");
    else if (!f->select_criteria || select_criteria_match_history(f->select_criteria, attrs))
        rc = status_history_put(f, row->id, attrs, out) < 0 ? -1 : 1;
    json_decref(attrs);
    return rc;
}

/* ---- history, asked for ------------------------------------------------------------------------------ */

static void row_fini(struct status_row *row)
{
    free(row->id);
    free(row->owner);
    free(row->queue);
    free(row->attrs);
}

void status_history_drop(struct status_history *h)
{
    for (size_t i = 0; i < h->n_page; i++)
        row_fini(&h->page[i]);
    free(h->page);
    h->page = NULL;
    h->n_page = h->at_page = 0;
    h->page_is_there = false;
}

static void history_free(struct status_history *h)
{
    status_history_drop(h);
    intern_unref(h->queue);
    free(h);
}

static int keep_rows(struct status_history *h, const struct history_row *rows, size_t n)
{
    h->page = calloc(n ? n : 1, sizeof *h->page);
    for (size_t i = 0; h->page && i < n; i++) {
        struct status_row *row = &h->page[h->n_page++];

        *row = (struct status_row){rows[i].key, strdup(rows[i].id), strdup(rows[i].owner),
                                   strdup(rows[i].queue), strdup(rows[i].attrs)};
        if (!row->id || !row->owner || !row->queue || !row->attrs)
            return -1;
    }
    return h->page ? 0 : -1;
}

static void status_history_got_rows(void *arg, const struct history_row *rows, size_t n,
                                    const struct err *why)
{
    struct status_history *h = arg;

    h->asking = false;
    if (h->dead) {
        history_free(h);
        return;
    }
    if (why || keep_rows(h, rows, n) < 0) {
        status_tally_miss_name(h->tally, PBSE_SYSTEM,
                               "history cannot be read:", why ? why->text : "no memory");
        status_history_drop(h);
        n = 0;
    }
    h->page_is_there = true;
    h->page_is_last = n < PAGE;
    if (h->wake)
        h->wake(h->wake_arg);
}

/* -1: a question is under way; 0: the store could not be asked. */
static int status_history_asked(struct status_history *h, int rc, const struct err *e)
{
    if (rc == 0) {
        h->asking = true;
        return -1;
    }
    status_tally_miss(h->tally, e);
    return 0;
}

bool status_history_is_kept(const struct status_history *h)
{
    return h->store_reader && server_obj_history(h->filter->ctx->server);
}

static int ask_page(struct status_history *h, struct job_key after)
{
    struct err e;

    status_history_drop(h);
    intern_unref(h->queue);
    h->queue = intern_again(h->filter->queue);
    h->page_removed = jobs_removed(h->filter->ctx->jobs);
    return status_history_asked(
        h, store_reader_history(h->store_reader, after, PAGE, NULL, h->queue, status_history_got_rows, h, &e),
        &e);
}

int status_history_ask_job(struct status_history *h, struct job_key key)
{
    struct err e;

    status_history_drop(h);
    return status_history_asked(
        h, store_reader_history_job(h->store_reader, key, status_history_got_rows, h, &e), &e);
}

int status_history_next(struct status_history *h, struct job_key last, const struct status_row **row)
{
    if (!h->filter->history || !status_history_is_kept(h))
        return 0;
    for (;;) {
        if (!h->page_is_there || (h->at_page == h->n_page && !h->page_is_last)) {
            if (ask_page(h, last) < 0)
                return -1;
            h->page_is_there = h->page_is_last = true; /* could not be asked: memory alone */
        }
        while (h->at_page < h->n_page && !status_history_is_above(h->page[h->at_page].key, last))
            h->at_page++;
        if (h->at_page < h->n_page) {
            *row = &h->page[h->at_page];
            return 1;
        }
        if (h->page_is_last)
            return 0;
    }
}

/* The first row above `key`. What was read before is used as far as it reaches. */
static int row_above(struct status_history *h, struct job_key key, const struct status_row **row)
{
    if (!h->store_reader)
        return 0;
    for (;;) {
        while (h->at_page < h->n_page && !status_history_is_above(h->page[h->at_page].key, key))
            h->at_page++;
        if (h->page_is_there && h->at_page < h->n_page) {
            *row = &h->page[h->at_page];
            return 1;
        }
        if (h->page_is_there && h->page_is_last)
            return 0;
        if (ask_page(h, key) < 0)
            return -1;
        h->page_is_there = h->page_is_last = true; /* could not be asked */
    }
}

int status_history_row(struct status_history *h, struct job_key key, const struct status_row **row)
{
    const struct job_key before = {key.seq, key.index - 1};
    int rc = row_above(h, before, row);

    return rc == 1 && !job_key_is_equal((*row)->key, key) ? 0 : rc;
}

bool status_history_again(struct status_history *h, struct job_key key, struct job_key after)
{
    if (!h->page_is_there || h->page_removed == jobs_removed(h->filter->ctx->jobs) ||
        job_key_is_equal(h->page_lacks, key))
        return false;
    h->page_lacks = key;
    if (ask_page(h, after) < 0)
        return true;
    h->page_is_there = h->page_is_last = true; /* could not be asked */
    return false;
}

bool status_history_is_asking(const struct status_history *h)
{
    return h->asking;
}

bool status_history_is_answered(const struct status_history *h)
{
    return h->page_is_there;
}

const struct status_row *status_history_first(const struct status_history *h)
{
    return h->n_page ? &h->page[0] : NULL;
}

/* ---- life -------------------------------------------------------------------------------------------- */

struct status_history *status_history_create(const struct status_filter *f, struct status_tally *t,
                                             struct store_reader *r)
{
    struct status_history *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->filter = f;
    h->tally = t;
    h->store_reader = r;
    h->page_lacks.seq = -1;
    return h;
}

void status_history_destroy(struct status_history *h)
{
    if (!h)
        return;
    if (h->asking)
        h->dead = true;
    else
        history_free(h);
}

void status_history_on_wake(struct status_history *h, void (*wake)(void *arg), void *arg)
{
    h->wake = wake;
    h->wake_arg = arg;
}
