/* Rows in, at start. See restore.h.
 *
 * The order matters: values name resources, jobs name queues, pages of an array need its job, a subjob
 * with a row of its own needs the pages, and holds, which name jobs, come last. Objects are made by the
 * functions that make them live, which mark them as dirty; `all_clean` takes these marks off at the end.
 *
 * One bad row must not keep the server down, nor lose other rows: it is reported with all its columns, and left
 * in the store for a person to look at; of most objects what can be read is taken up, see restore.h. Only a store
 * that cannot be read at all is an error of the whole. */
#include "restore.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "alike_rows.h"
#include "array_map.h"
#include "attr_walk.h"
#include "job_fsm.h"
#include "json_read.h"
#include "log.h"
#include "pbs_error.h"
#include "schema.h"
#include "subjob.h"

struct restore_walk {
    struct server_ctx *ctx;
    const struct restore_errors *errors; /* NULL: the log */
    struct restore_counts counts;
    int64_t last_seq; /* of all jobs that have a row */
    bool number_lost; /* the server's row does not say the next one */
    bool server_seen;
    struct alike_rows alike; /* of jobs */
    struct {
        size_t all, read; /* rows, also those that are left out */
    } jobs;
};

/* The attributes of one column into the object's list; NULL: none were written. -1: those that can be read are there. */
static int put_attrs(struct server_ctx *s, struct object *o, const char *text, struct err *e)
{
    char *copy = text ? strdup(text) : NULL;
    int rc = 0;

    if (text && !copy)
        rc = err_no_memory(e);
    else if (copy)
        rc = attr_walk_read(&o->attrs, s->resources, copy, e);
    free(copy);
    return rc;
}

static void restore_tell(const struct restore_errors *errors, const struct restore_error *f)
{
    if (errors)
        errors->fn(errors->arg, f);
    else
        log_event(LOGC_SVR, LOGE_ERROR, f->name, "the stored %s is %s: %s", f->kind,
                  f->in_part ? "taken up in part" : "left out", f->why);
}

int restore_tell_object(const struct restore_errors *errors, const char *kind, const struct store_row *row,
                        bool in_part, const char *why)
{
    const char *name = store_row_text(row, 0);

    restore_tell(errors, &(struct restore_error){
                             kind,
                             name ? name : "",
                             why,
                             in_part,
                             2,
                             {{"hot", store_row_text(row, 1)}, {"attrs", store_row_text(row, 2)}}});
    return 0;
}

/* It stays where it is, for a person to look at. */
static int tell_object(const struct restore_walk *r, const char *kind, const struct store_row *row,
                       bool in_part, const struct err *why)
{
    return restore_tell_object(r->errors, kind, row, in_part, why->text);
}

/* ---- objects: columns name, hot, attrs --------------------------------------------------------------- */

static int restore_take_resource(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0), *attrs = store_row_text(row, 2);
    json_t *json = json_read_own(attrs);
    const struct resource *made;

    if (!json_is_object(json) || !json_is_string(json_object_get(json, "type")))
        tell_object(r, "resource", row, false, (err_set(e, PBSE_SYSTEM, "it has no type"), e));
    else if (resource_add(r->ctx->resources, name, json_string_value(json_object_get(json, "type")),
                          json_string_value(json_object_get(json, "flag")), &made, e) < 0)
        tell_object(r, "resource", row, false, e);
    else
        r->counts.resources++;
    json_decref(json);
    return 0;
}

static int restore_take_server(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *hot = store_row_text(row, 1);

    r->server_seen = true;
    if (hot && server_obj_decode(r->ctx->server, hot, e) < 0) {
        r->number_lost = true;
        tell_object(r, "server", row, true, e);
    }
    if (put_attrs(r->ctx, &r->ctx->server->obj, store_row_text(row, 2), e) < 0) {
        tell_object(r, "server", row, true, e);
        server_obj_close(r->ctx->server, "the stored attributes of the server could not be read");
    }
    return 0;
}

/* Rows of others without one of the server, which is written before them. */
static void miss_server(struct restore_walk *r)
{
    const struct restore_counts *c = &r->counts;
    struct server_obj *s = r->ctx->server;

    if (r->server_seen || (!c->queues && !c->nodes && !c->scheds && !c->jobs))
        return;
    restore_tell(r->errors,
                 &(struct restore_error){
                     "server", s->obj.name, "there are other rows, and none of it", true, 0, {{0}}});
    server_obj_close(s, "the stored attributes of the server are not there");
    r->number_lost = true;
}

static int restore_take_sched(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0);
    struct sched_obj *o = scheds_find(r->ctx->scheds, name);

    if (!o && scheds_add(r->ctx->scheds, name, &o, e) < 0)
        return tell_object(r, "scheduler", row, false, e);
    if (put_attrs(r->ctx, &o->obj, store_row_text(row, 2), e) < 0)
        tell_object(r, "scheduler", row, true, e);
    r->counts.scheds++;
    return 0;
}

/* Close the server: no job is submitted or started before an administrator has looked at it. */
static void close_queue(struct queue *q)
{
    attr_list_set_number(&q->obj.attrs, QUEUE_ATTR_enabled, 0, NULL);
    attr_list_set_number(&q->obj.attrs, QUEUE_ATTR_started, 0, NULL);
}

static int restore_take_queue(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0);
    struct queue *q;

    if (queues_add(r->ctx->queues, name, &q, e) < 0)
        return tell_object(r, "queue", row, false, e);
    if (put_attrs(r->ctx, &q->obj, store_row_text(row, 2), e) < 0) {
        tell_object(r, "queue", row, true, e);
        close_queue(q);
    }
    r->counts.queues++;
    return 0;
}

static int restore_take_node(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0), *hot = store_row_text(row, 1);
    struct node *n;
    bool bad;

    if (nodes_add(r->ctx->nodes, name, &n, e) < 0)
        return tell_object(r, "node", row, false, e);
    bad = hot && node_decode(n, hot, e) < 0;
    bad = put_attrs(r->ctx, &n->obj, store_row_text(row, 2), bad ? NULL : e) < 0 || bad;
    if (bad) {
        tell_object(r, "node", row, true, e);
        n->state |= NODE_OFFLINE;
        attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment,
                           "offline: its stored row is damaged, see the server's log", NULL);
    }
    node_take_host(n);
    r->counts.nodes++;
    return 0;
}

static int restore_take_resv(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0);
    struct resv *x;

    if (resvs_add(r->ctx->resvs, name, &x, e) < 0)
        return tell_object(r, "reservation", row, false, e);
    if (put_attrs(r->ctx, &x->obj, store_row_text(row, 2), e) == 0)
        return 0;
    tell_object(r, "reservation", row, false, e);
    resvs_remove(r->ctx->resvs, x);
    return 0;
}

static int restore_take_hold(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const char *name = store_row_text(row, 0);
    struct earmark_obj *h;

    if (earmarks_add(r->ctx->earmarks, name, &h, e) < 0)
        return tell_object(r, "hold", row, false, e);
    if (put_attrs(r->ctx, &h->obj, store_row_text(row, 2), e) == 0)
        return 0;
    tell_object(r, "hold", row, false, e);
    earmarks_remove(r->ctx->earmarks, h);
    return 0;
}

/* ---- jobs: columns seq, idx, id, hot, attrs, fixed, fixed_attrs -------------------------------------- */

/* Attributes from their two columns: those that do not change, and those that do. 0, or -1 where not all are there.
 *
 * The shorter column is read first, since the second read copies the first. */
static int read_job_attrs(const struct restore_walk *r, struct job *j, const char *fixed, const char *attrs,
                          struct err *e)
{
    int rc = put_attrs(r->ctx, &j->obj, fixed, e);

    return put_attrs(r->ctx, &j->obj, attrs, rc ? NULL : e) < 0 ? -1 : rc;
}

/* The same; a row that is like one of the last has its attributes. */
static int fill_job_attrs(struct restore_walk *r, struct job *j, const struct store_row *row, struct err *e)
{
    size_t n_fixed, n_attrs;
    const char *fixed = store_row_bytes(row, 6, &n_fixed), *attrs = store_row_bytes(row, 4, &n_attrs);
    const struct attr_list *like =
        fixed && attrs ? alike_rows_find(&r->alike, fixed, n_fixed, attrs, n_attrs) : NULL;

    if (like) {
        attr_list_fini(&j->obj.attrs);
        return attr_list_dup(like, &j->obj.attrs) < 0 ? err_no_memory(e) : 0;
    }
    return read_job_attrs(r, j, fixed, attrs, e);
}

/* The row was taken wholly, and the job stays. */
static void keep_job_attrs(struct restore_walk *r, const struct job *j, const struct store_row *row)
{
    size_t n_fixed, n_attrs;
    const char *fixed = store_row_bytes(row, 6, &n_fixed), *attrs = store_row_bytes(row, 4, &n_attrs);

    if (fixed && attrs && !alike_rows_find(&r->alike, fixed, n_fixed, attrs, n_attrs))
        alike_rows_keep(&r->alike, fixed, n_fixed, attrs, n_attrs, &j->obj.attrs);
}

/* 0 all of it, 1 not all attributes (e says why), -1. */
static int fill_job(struct restore_walk *r, struct job *j, const struct store_row *row, struct err *e)
{
    const char *hot = store_row_text(row, 3), *fixed = store_row_text(row, 5);

    if (!hot || !fixed)
        return err_set(e, PBSE_SYSTEM, "the stored row of job %s has no %s", j->obj.name,
                       hot ? "fixed" : "hot");
    if (job_decode(j, hot, fixed, e) < 0 || job_check(j, e) < 0)
        return -1;
    return fill_job_attrs(r, j, row, e) < 0 ? 1 : 0;
}

/* A job that has lost part of its row is held: it does not start before an administrator has looked at it. */
static void hold_job(struct job *j)
{
    char comment[] = "held: its stored attributes are damaged, see the server's log";

    if (!job_is_waiting(j))
        return;
    j->hold |= HOLD_SYSTEM;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_Hold_Types, j->hold & ~(unsigned)(HOLD_DEPEND | HOLD_ARRAY),
                         NULL);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, comment, NULL);
    if (j->state == JOB_QUEUED)
        j->state = JOB_HELD;
}

/* An array has all its indices again, and none has ended; its pages and the rows of its subjobs come later. */
static int make_array(struct job *j, struct err *e)
{
    const char *range = attr_list_text(&j->obj.attrs, JOB_ATTR_array_indices_submitted);

    if (!range || job_is_subjob(j))
        return 0;
    j->array = array_map_create(range, SIZE_MAX, e);
    return j->array ? 0 : -1;
}

/* Make an object whose row is gone although a job names it. */
static struct queue *missing_queue(const struct restore_walk *r, const struct job *j, struct err *e)
{
    const char *name = j->queue_name ? j->queue_name : "";
    struct queue *q;

    if (!*name || queues_add(r->ctx->queues, name, &q, e) < 0) {
        err_set(e, PBSE_UNKQUE, "its queue \"%s\" is not there", name);
        return NULL;
    }
    attr_list_set_text(&q->obj.attrs, QUEUE_ATTR_queue_type, "Execution", NULL);
    close_queue(q);
    restore_tell(r->errors,
                 &(struct restore_error){"queue", name, "jobs are in it, and it has no row", true, 0, {{0}}});
    return q;
}

/* A job that arrives is in no queue yet; one that is over is in none any more. */
static int place_job(const struct restore_walk *r, struct job *j, struct err *e)
{
    struct server_ctx *s = r->ctx;
    bool queued = j->state != JOB_ARRIVING && !job_is_over(j);
    struct queue *q = queued && j->queue_name ? queues_find(s->queues, j->queue_name) : NULL;

    if (queued && !q && !(q = missing_queue(r, j, e)))
        return -1;
    if (jobs_add(s->jobs, j, e) < 0)
        return -1;
    if (q)
        jobs_enter_queue(s->jobs, j, q);
    if (j->state != JOB_ARRIVING)
        change_touch(s->change, &j->obj.change, PART_NONE);
    return 0;
}

static void tell_job_row(const struct restore_walk *r, const char *id, const struct store_row *row,
                         bool in_part, const struct err *why)
{
    restore_tell(r->errors, &(struct restore_error){"job",
                                                    id,
                                                    why->text,
                                                    in_part,
                                                    4,
                                                    {{"hot", store_row_text(row, 3)},
                                                     {"attrs", store_row_text(row, 4)},
                                                     {"fixed", store_row_text(row, 5)},
                                                     {"fixed_attrs", store_row_text(row, 6)}}});
}

/* Its name is in two columns. */
static int check_id(struct job_key key, const char *id, struct err *e)
{
    struct jobid parsed;

    if (key.seq < 0 || key.index < JOBID_NO_INDEX || jobid_parse(id, &parsed, e) < 0 ||
        parsed.key.seq != key.seq || parsed.key.index != key.index)
        return err_set(e, PBSE_SYSTEM, "the row of job %lld, index %d, has the identifier \"%s\"",
                       (long long)key.seq, (int)key.index, id);
    return 0;
}

/* Fewer jobs are read within a tenth of a second (doc/measuring.md), and need no lines. */
enum { RESTORE_TELL_FROM = 10000, RESTORE_TELL_TIMES = 10 };

/* Count one more row of a job, and log each tenth of a long reading: the server does not listen before its end. */
static void tell_progress(struct restore_walk *r)
{
    size_t step = (r->jobs.all + RESTORE_TELL_TIMES - 1) / RESTORE_TELL_TIMES;

    r->jobs.read++;
    if (r->jobs.all >= RESTORE_TELL_FROM && (r->jobs.read % step == 0 || r->jobs.read == r->jobs.all))
        log_event(LOGC_SVR, LOGE_SYSTEM, r->ctx->name, "%zu of %zu jobs read", r->jobs.read, r->jobs.all);
}

static int restore_take_job(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const struct job_key key = {.seq = store_row_number(row, 0), .index = (int32_t)store_row_number(row, 1)};
    const char *stored = store_row_text(row, 2), *id = stored ? stored : "";
    struct job *j = job_create(key, id);
    int rc;

    if (!j)
        return err_set(e, PBSE_SYSTEM, "no memory for job %s", id);
    tell_progress(r);
    if (key.seq > r->last_seq)
        r->last_seq = key.seq;
    rc = check_id(key, id, e) < 0 ? -1 : fill_job(r, j, row, e);
    if (rc > 0) {
        tell_job_row(r, id, row, true, e);
        hold_job(j);
    }
    if (rc < 0 || make_array(j, e) < 0 || place_job(r, j, e) < 0) {
        tell_job_row(r, id, row, false, e);
        job_unref(j);
        return 0;
    }
    if (rc == 0)
        keep_job_attrs(r, j, row);
    r->counts.jobs++;
    return 0;
}

/* ---- arrays: columns seq, page, remaining, failed ----------------------------------------------------- */

static int restore_take_page(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;
    const struct job_key key = {.seq = store_row_number(row, 0), .index = JOBID_NO_INDEX};
    struct job *j = jobs_find(r->ctx->jobs, key);

    if (!j || !j->array)
        return 0; /* its job was left out, which has been reported */
    if (array_map_read_page(j->array, store_row_number(row, 1), store_row_text(row, 2),
                            store_row_text(row, 3), e) < 0)
        restore_tell(r->errors, &(struct restore_error){"page of array",
                                                        j->obj.name,
                                                        e->text,
                                                        true,
                                                        2,
                                                        {{"remaining", store_row_text(row, 2)},
                                                         {"failed", store_row_text(row, 3)}}});
    return 0;
}

/* Subjobs that have rows of their own, now that the pages are in. */
static void take_subjobs(const struct restore_walk *r)
{
    struct server_ctx *s = r->ctx;
    struct job *next;

    for (struct job *j = jobs_first(s->jobs); j; j = next) {
        struct job *array = job_is_subjob(j) ? subjob_array(s->jobs, j) : NULL;

        next = jobs_next(j);
        if (!job_is_subjob(j) || job_is_over(j) ||
            (array && array_map_read_live(array->array, j->key.index) == 0))
            continue;
        restore_tell(r->errors, &(struct restore_error){
                                    "subjob", j->obj.name, "it belongs to no array", false, 0, {{0}}});
        jobs_remove(s->jobs, j);
    }
}

static int read_arrays(struct store *from, struct restore_walk *r, struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, STMT_ARRAY_ALL);
    if (store_query(from, &q, restore_take_page, r, e) < 0)
        return -1;
    take_subjobs(r);
    return 0;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static int read_kind(struct store *from, const char *kind, store_row_fn *take, struct restore_walk *r,
                     struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, STMT_OBJECT_ALL);
    stmt_text(&q, kind);
    return store_query(from, &q, take, r, e);
}

static int restore_take_count(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;

    r->jobs.all = (size_t)store_row_number(row, 0);
    return 0;
}

static int read_jobs(struct store *from, struct restore_walk *r, struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, STMT_JOB_COUNT);
    if (store_query(from, &q, restore_take_count, r, e) < 0)
        return -1;
    stmt_init(&q, STMT_JOB_ALL);
    int rc = store_query(from, &q, restore_take_job, r, e);
    alike_rows_fini(&r->alike);
    return rc;
}

/* What was just read from the store is not dirty. */
static void all_clean(struct change *c)
{
    struct change_entry *e;

    while ((e = change_take_dirty(c)))
        change_cleaned(e);
}

static int restore_take_last_seq(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_walk *r = arg;

    if (store_row_number(row, 0) > r->last_seq)
        r->last_seq = store_row_number(row, 0);
    return 0;
}

/* The number of the next job is lost: above all that there were. */
static int find_number(struct store *from, struct restore_walk *r, struct err *e)
{
    struct store_batch_stmt q;

    if (!r->number_lost)
        return 0;
    stmt_init(&q, STMT_HISTORY_LAST);
    if (store_query(from, &q, restore_take_last_seq, r, e) < 0)
        return -1;
    r->ctx->server->next_seq = r->last_seq + 1;
    return 0;
}

int restore_rows(struct server_ctx *s, struct store *from, const struct restore_errors *errors,
                 struct restore_counts *out, struct err *e)
{
    struct restore_walk r = {.ctx = s, .errors = errors};

    if (read_kind(from, "resource", restore_take_resource, &r, e) < 0 ||
        read_kind(from, "server", restore_take_server, &r, e) < 0 ||
        read_kind(from, "sched", restore_take_sched, &r, e) < 0 ||
        read_kind(from, "queue", restore_take_queue, &r, e) < 0 ||
        read_kind(from, "resv", restore_take_resv, &r, e) < 0 ||
        read_kind(from, "node", restore_take_node, &r, e) < 0 || read_jobs(from, &r, e) < 0 ||
        read_arrays(from, &r, e) < 0 || read_kind(from, "hold", restore_take_hold, &r, e) < 0)
        return -1;
    miss_server(&r);
    if (find_number(from, &r, e) < 0)
        return -1;
    all_clean(s->change);
    *out = r.counts;
    return 0;
}

void restore_enter(struct server_ctx *s, struct job_fsm *f)
{
    struct job_key key = {.seq = -1, .index = -1};
    struct job *j;

    while ((j = jobs_after(s->jobs, key))) {
        key = j->key;
        job_fsm_enter(f, j);
    }
}

int restore_nothing(struct store *writer, bool all, struct err *e)
{
    static const char jobs[] =
        "DELETE FROM job; DELETE FROM array_page; DELETE FROM script; DELETE FROM history; DELETE FROM job_log;"
        "DELETE FROM object WHERE kind = 'away';";
    static const char rest[] = "DELETE FROM object WHERE kind <> 'server';"
                               "UPDATE object SET attrs = '{}' WHERE kind = 'server';";

    if (store_script(writer, jobs, e) < 0)
        return -1;
    return all ? store_script(writer, rest, e) : 0;
}

/* ---- accounting -------------------------------------------------------------------------------------- */

static int restore_take_filed(void *arg, const struct store_row *row, struct err *e)
{
    struct restore_filed *f = arg;
    const char *stored = store_row_text(row, 0), *text = stored ? stored : "";
    char *end;

    f->n = strtoull(text, &end, 10);
    f->size = strtoull(end, &end, 10);
    while (*end == ' ')
        end++;
    if (strlen(end) >= sizeof f->file || strchr(end, '/')) {
        /* then each line is searched for in the file of its day before it is written there */
        log_event(LOGC_SVR, LOGE_ERROR, "acct",
                  "the store does not say which accounting lines are filed: \"%s\"", text);
        *f = (struct restore_filed){0};
        return 0;
    }
    memcpy(f->file, end, strlen(end) + 1);
    return 0;
}

struct acct_lines {
    uint64_t above;
    void (*line)(void *arg, const struct restore_acct *a);
    void *arg;
};

static int restore_take_acct(void *arg, const struct store_row *row, struct err *e)
{
    struct acct_lines *l = arg;
    size_t n = 0;
    const char *bytes = store_row_bytes(row, 2, &n);
    char *line = strndup(bytes ? bytes : "", n);
    struct restore_acct a = {
        .n = (uint64_t)store_row_number(row, 0), .time_s = store_row_number(row, 1), .line = line};

    if (!line)
        return err_set(e, PBSE_SYSTEM, "no memory for accounting");
    if (a.n > l->above)
        l->line(l->arg, &a);
    free(line);
    return 0;
}

int restore_acct(struct store *from, struct restore_filed *filed,
                 void (*line)(void *arg, const struct restore_acct *a), void *arg, struct err *e)
{
    struct acct_lines l = {.line = line, .arg = arg};
    struct store_batch_stmt q;

    *filed = (struct restore_filed){0};
    stmt_init(&q, STMT_META_GET);
    stmt_text(&q, "acct");
    if (store_query(from, &q, restore_take_filed, filed, e) < 0)
        return -1;
    l.above = filed->n;
    stmt_init(&q, STMT_ACCT_ALL);
    return store_query(from, &q, restore_take_acct, &l, e);
}
