/* Finished jobs that lie in the store only, for status.
 *
 * A query waits for at most one answer of the reader at a time; `asking` is the reader's hold on it, so a query
 * that is destroyed meanwhile is freed by the answer. */
#include "status_history.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "json_read.h"
#include "json_text.h"
#include "log.h"
#include "pbs_error.h"
#include "store_reader.h"
#include "server_obj.h"
#include "status_state.h"
#include "status_entry.h"

enum { PAGE = 200 };

/* ---- entries ----------------------------------------------------------------------------------------- */

static int history_value(const struct status_query *q, int index, const char *name, const char *resource,
                         const json_t *value, struct attrib_render_attrs *a)
{
    const struct resource *r = resource ? resource_find(q->st->ctx->resources, resource) : NULL;
    char *text;
    int rc;

    if (r && (!resource_may_read(r, q->reader.level) || !attr_select_has_resource(&q->want, index, r->id)))
        return 0;
    text = strdup(json_string_value(value) ? json_string_value(value) : "");
    if (!text)
        return -1;
    json_text_restore(text);
    rc = attrib_render_triple(a, name, resource, text);
    free(text);
    return rc;
}

static int history_attr(const struct status_query *q, const char *owner, const char *name, json_t *value,
                        struct attrib_render_attrs *a)
{
    int index = attr_def_find(OF_JOB, name), rc = 0;
    const char *resource;
    json_t *amount;

    if (index < 0 || !attr_select_has(&q->want, index) ||
        !attr_def_may_read(attr_def_get(OF_JOB, index), q->reader.level, q->reader.show_hidden) ||
        attrib_render_hides(attr_def_get(OF_JOB, index), &q->reader, owner))
        return 0;
    if (!json_is_object(value))
        return history_value(q, index, name, NULL, value, a);
    json_object_foreach(value, resource, amount) if (rc == 0) rc =
        history_value(q, index, name, resource, amount, a);
    return rc;
}

int status_history_put(struct status_query *q, const char *id, json_t *attrs, struct byte_buf *out)
{
    const char *owner = json_string_value(json_object_get(attrs, "Job_Owner"));
    struct attrib_render_attrs a;
    const char *name;
    json_t *value;
    int rc = 0;

    if (status_entry_begin(out, id, &a) < 0)
        return -1;
    json_object_foreach(attrs, name, value) if (rc == 0 && !q->names_only) rc =
        history_attr(q, owner, name, value, &a);
    return rc < 0 ? -1 : status_entry_end(q, out, &a);
}

/* 1: shown, 0: not for this query. */
int status_history_show(struct status_query *q, const struct found *f, struct byte_buf *out)
{
    json_t *attrs;
    int rc = 0;

    if ((q->queue && strcmp(q->queue, f->queue) != 0) || (q->all_jobs && !q->subjobs && f->key.index >= 0) ||
        (q->all_jobs && q->no_arrays && strstr(f->id, "[]")) ||
        !status_may_see(q->st->ctx, q->reader.level, q->who, f->owner))
        return 0;
    attrs = json_read_own(f->attrs);
    if (!attrs)
        log_event(LOGC_JOB, LOGE_ERROR, f->id, "its history cannot be read");
    else if (!q->select_criteria || select_criteria_match_history(q->select_criteria, attrs))
        rc = status_history_put(q, f->id, attrs, out) < 0 ? -1 : 1;
    json_decref(attrs);
    return rc;
}

/* ---- history, asked for ------------------------------------------------------------------------------ */

static void found_fini(struct found *f)
{
    free(f->id);
    free(f->owner);
    free(f->queue);
    free(f->attrs);
}

void status_history_drop(struct status_query *q)
{
    for (size_t i = 0; i < q->n_page; i++)
        found_fini(&q->page[i]);
    free(q->page);
    q->page = NULL;
    q->n_page = q->at_page = 0;
    q->page_is_there = false;
}

static int keep_rows(struct status_query *q, const struct history_row *rows, size_t n)
{
    q->page = calloc(n ? n : 1, sizeof *q->page);
    for (size_t i = 0; q->page && i < n; i++) {
        struct found *f = &q->page[q->n_page++];

        *f = (struct found){rows[i].key, strdup(rows[i].id), strdup(rows[i].owner), strdup(rows[i].queue),
                            strdup(rows[i].attrs)};
        if (!f->id || !f->owner || !f->queue || !f->attrs)
            return -1;
    }
    return q->page ? 0 : -1;
}

static void status_history_got_rows(void *arg, const struct history_row *rows, size_t n,
                                    const struct err *why)
{
    struct status_query *q = arg;

    q->asking = false;
    if (q->dead) {
        q->free(q);
        return;
    }
    if (why || keep_rows(q, rows, n) < 0) {
        if (!q->missing++)
            err_set(&q->first, PBSE_SYSTEM, "history cannot be read: %s", why ? why->text : "no memory");
        status_history_drop(q);
        n = 0;
    }
    q->page_is_there = true;
    q->page_is_last = n < PAGE;
    if (q->wake)
        q->wake(q->wake_arg);
}

/* -1: a question is under way; 0: the store could not be asked. */
static int status_history_asked(struct status_query *q, int rc, const struct err *e)
{
    if (rc == 0) {
        q->asking = true;
        return -1;
    }
    if (!q->missing++)
        q->first = *e;
    return 0;
}

bool status_history_is_kept(const struct status_query *q)
{
    return q->st->store_reader && server_obj_history(q->st->ctx->server);
}

static int ask_page(struct status_query *q, struct job_key after)
{
    struct err e;

    status_history_drop(q);
    q->page_removed = jobs_removed(q->st->ctx->jobs);
    return status_history_asked(q,
                                store_reader_history(q->st->store_reader, after, PAGE, NULL, q->queue,
                                                     status_history_got_rows, q, &e),
                                &e);
}

int status_history_ask_job(struct status_query *q, struct job_key key)
{
    struct err e;

    status_history_drop(q);
    return status_history_asked(
        q, store_reader_history_job(q->st->store_reader, key, status_history_got_rows, q, &e), &e);
}

/* The history row to be shown next. -1: not known yet; 0: there is none; 1: *f. */
int status_history_next(struct status_query *q, struct found **f)
{
    if (!q->history || !status_history_is_kept(q))
        return 0;
    for (;;) {
        if (!q->page_is_there || (q->at_page == q->n_page && !q->page_is_last)) {
            if (ask_page(q, q->last) < 0)
                return -1;
            q->page_is_there = q->page_is_last = true; /* could not be asked: memory alone */
        }
        while (q->at_page < q->n_page && !status_key_is_above(q->page[q->at_page].key, q->last))
            q->at_page++;
        if (q->at_page < q->n_page) {
            *f = &q->page[q->at_page];
            return 1;
        }
        if (q->page_is_last)
            return 0;
    }
}

/* The first row above `key`. What was read before is used as far as it reaches. */
static int row_above(struct status_query *q, struct job_key key, struct found **f)
{
    if (!q->st->store_reader)
        return 0;
    for (;;) {
        while (q->at_page < q->n_page && !status_key_is_above(q->page[q->at_page].key, key))
            q->at_page++;
        if (q->page_is_there && q->at_page < q->n_page) {
            *f = &q->page[q->at_page];
            return 1;
        }
        if (q->page_is_there && q->page_is_last)
            return 0;
        if (ask_page(q, key) < 0)
            return -1;
        q->page_is_there = q->page_is_last = true; /* could not be asked */
    }
}

int status_history_row(struct status_query *q, struct job_key key, struct found **f)
{
    const struct job_key before = {key.seq, key.index - 1};
    int rc = row_above(q, before, f);

    return rc == 1 && !job_key_is_equal((*f)->key, key) ? 0 : rc;
}

bool status_history_again(struct status_query *q, struct job_key key)
{
    const struct job_key before = {key.seq, key.index - 1};

    if (!q->page_is_there || q->page_removed == jobs_removed(q->st->ctx->jobs) ||
        job_key_is_equal(q->page_lacks, key))
        return false;
    q->page_lacks = key;
    if (ask_page(q, q->all_jobs ? q->last : before) < 0)
        return true;
    q->page_is_there = q->page_is_last = true; /* could not be asked */
    return false;
}
