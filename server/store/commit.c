/* Batches: filled on the loop, committed by the writer, one after the other. See commit.h.
 *
 * Two batches exist: `filling` takes rows and promises of now; `flying` belongs to the worker. At the end of an
 * iteration, when no batch is under way, the dirty objects are encoded behind the rows and the two change
 * places. Invariant: a promise is kept when every change made before it is durable, and as early as that allows;
 * promises are kept in the order in which they were given.
 *
 * The life of a batch: commit_begin (end of an iteration) -> submit -> commit_write_batch (writer's thread) -> commit_written (loop).
 * Then one of
 *   stored          promises are kept, and the next batch may begin
 *   failed          note_failure: the same bytes again after a while; `under_way` stays, so nothing overtakes them
 *   ESTALE          another server has the store: commit_give_up, and nothing is written any more
 *   never answered  commit_silence_cb tells administrators once; the batch stays with the writer
 *
 * Fields that the writer's thread touches are at the end of the struct, and `flying` while `in_worker`: the loop reads them only after
 * commit_written. What a promise calls may promise and put rows again; they go into `filling`. */
#include "commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "change.h"
#include "clock.h"
#include "json_text.h"
#include "log.h"
#include "loop.h"
#include "object.h"
#include "pbs_error.h"
#include "row_encode.h"
#include "schema.h"
#include "strbuf.h"
#include "worker.h"

/* A store that fails is often back in moments (a restarted database); later tries cost nothing at RETRY_MAX_MS. */
enum { RETRY_FIRST_MS = 100, RETRY_MAX_MS = 10000 };
#define STUCK_BYTES_MAX    ((size_t)64 << 20) /* rows that wait behind a failing batch */
#define STUCK_PROMISES_MAX ((size_t)100000)
/* The slowest disk stores a batch in a second or two: longer needs an administrator. */
enum { SILENT_MS = 10000 };
#define BATCH_SOFT_MAX ((size_t)32 << 20) /* objects beyond this wait for the next batch */

struct commit_promise {
    struct commit_promise *next;
    commit_fn *fn;
    void *arg;
};

struct commit_promises {
    struct commit_promise *first, **end;
    size_t n;
};

struct commit_half {
    struct store_batch *store_batch;
    struct commit_promises promises;
};

struct commit {
    struct loop *loop;
    struct change *change;
    struct worker *worker;
    struct store *store;
    uint64_t epoch;
    struct row_encode encode;
    struct commit_half filling, flying;
    bool in_worker; /* `flying` is with the writer */
    bool under_way; /* `flying` is not durable yet: with the writer, or waiting for its next try */
    bool probe;     /* a batch is wanted even if it is empty */
    bool owed;      /* close_fn has rows for `filling` */
    bool lost, dying;
    bool keeps_nothing;
    bool encoding; /* an object that is put back meanwhile does not mark the hook */
    struct loop_hook *hook;
    struct loop_timer *retry;
    struct loop_timer *silence; /* while a batch is with the writer */
    int64_t retry_ms, stuck_since_s;
    struct err why;     /* of the last failure */
    int64_t log_number; /* of the last line of the event log */
    commit_lost_fn *lost_fn;
    void *lost_arg;
    commit_fn *close_fn;
    void *close_arg;
    struct commit_stats stats;
    /* written by the worker, read when it is done */
    int rc;
    struct err rc_why;
    int64_t took_us;
};

/* ---- promises ---------------------------------------------------------------------------------------- */

static void commit_promises_init(struct commit_promises *p)
{
    *p = (struct commit_promises){.end = &p->first};
}

static void commit_promises_add(struct commit_promises *p, commit_fn *fn, void *arg)
{
    struct commit_promise *new = malloc(sizeof *new);

    if (!new)
        abort(); /* its caller would wait for ever */
    *new = (struct commit_promise){.fn = fn, .arg = arg};
    *p->end = new;
    p->end = &new->next;
    p->n++;
}

static void commit_promises_drop(struct commit_promises *p)
{
    for (struct commit_promise *x = p->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    commit_promises_init(p);
}

/* The functions may call commit_then again: those calls go into another list. */
static void commit_promises_keep(struct commit_promises *p)
{
    struct commit_promise *x = p->first, *next;

    commit_promises_init(p);
    for (; x; x = next) {
        next = x->next;
        x->fn(x->arg);
        free(x);
    }
}

/* ---- the writer's thread ----------------------------------------------------------------------------- */

static void commit_write_batch(void *arg)
{
    struct commit *c = arg;
    int64_t begin = clock_real_mono_us();

    err_clear(&c->rc_why);
    c->rc = store_apply(c->store, c->flying.store_batch, c->epoch, &c->rc_why);
    c->took_us = clock_real_mono_us() - begin;
}

static void commit_written(void *arg, bool ran);

static void submit(struct commit *c)
{
    struct err e;

    c->in_worker = true;
    loop_timer_set(c->silence, SILENT_MS);
    loop_press(c->loop);
    if (worker_submit(c->worker, commit_write_batch, commit_written, c, &e) <
        0) { /* cannot be full: one piece at a time */
        c->in_worker = false;
        loop_timer_set(c->retry, RETRY_FIRST_MS);
    }
}

static void commit_retry(void *arg)
{
    struct commit *c = arg;

    if (c->under_way && !c->in_worker && !c->lost)
        submit(c);
    else
        loop_hook_mark(c->hook);
}

/* The writer waits for a database that hangs: only the database can end that wait. Reads go on by a connection of their
 * own, and what may be promised meanwhile is bounded as for one that fails (commit_check). */
static void commit_silence_cb(void *arg)
{
    struct commit *c = arg;

    if (!c->in_worker || c->stuck_since_s)
        return;
    c->stuck_since_s = (clock_real_mono_ms() - SILENT_MS) / 1000;
    err_set(&c->why, PBSE_SYSTEM, "%s has not answered", store_name(c->store));
    log_event(LOGC_SVR, LOGE_ERROR, "commit",
              "%s has not answered for %d seconds; promises wait until it does", store_name(c->store),
              SILENT_MS / 1000);
}

static void commit_give_up(struct commit *c)
{
    c->lost = true;
    c->why = c->rc_why;
    log_err(LOGC_SVR, "commit", &c->why, "the store is lost");
    if (c->lost_fn)
        c->lost_fn(c->lost_arg, &c->why);
}

static void note_failure(struct commit *c)
{
    if (!c->stuck_since_s) {
        c->stuck_since_s = clock_real_mono_ms() / 1000;
        log_err(LOGC_SVR, "commit", &c->rc_why, "changes cannot be stored, promises wait; trying again");
    }
    c->why = c->rc_why;
    c->stats.failures++;
    c->retry_ms = c->retry_ms ? c->retry_ms * 2 : RETRY_FIRST_MS;
    if (c->retry_ms > RETRY_MAX_MS)
        c->retry_ms = RETRY_MAX_MS;
    loop_timer_set(c->retry, c->retry_ms);
}

static void note_success(struct commit *c)
{
    if (c->stuck_since_s)
        log_event(LOGC_SVR, LOGE_ADMIN, "commit", "changes are stored again, after %lld seconds",
                  (long long)(clock_real_mono_ms() / 1000 - c->stuck_since_s));
    c->stuck_since_s = 0;
    c->retry_ms = 0;
    c->stats.batches++;
    c->stats.statements += store_batch_count(c->flying.store_batch);
    c->stats.bytes += store_batch_size(c->flying.store_batch);
    c->stats.last_us = c->took_us;
    histogram_add(&c->stats.took, c->took_us);
    if (c->took_us > c->stats.max_us)
        c->stats.max_us = c->took_us;
}

static void commit_written(void *arg, bool ran)
{
    struct commit *c = arg;

    c->in_worker = false;
    loop_timer_cancel(c->silence);
    if (!ran || c->dying)
        return;
    if (c->rc < 0 && c->rc_why.code == ESTALE) {
        commit_give_up(c);
        return;
    }
    if (c->rc < 0) {
        note_failure(c);
        return;
    }
    note_success(c);
    loop_press(c->loop); /* a client that is answered now may send its next request */
    store_batch_clear(c->flying.store_batch);
    c->under_way = false;
    loop_hook_mark(c->hook);
    commit_promises_keep(&c->flying.promises);
}

/* ---- the end of an iteration ------------------------------------------------------------------------- */

/* An object that cannot be encoded stays dirty, at the end of the chain, and is tried again in a while. */
static void keep_dirty(struct commit *c, struct change_entry *e, unsigned parts)
{
    const struct object *o = object_of(e);

    log_event(LOGC_SVR, LOGE_ERROR, o->name,
              "the %s cannot be written to the store: no memory, or a bad value", o->kind->name);
    c->encoding = true;
    change_store_only(c->change, e, parts);
    c->encoding = false;
    loop_timer_set(c->retry, RETRY_MAX_MS);
}

static void encode_dirty(struct commit *c)
{
    struct change_entry *e;

    while (store_batch_size(c->filling.store_batch) < BATCH_SOFT_MAX && (e = change_take_dirty(c->change))) {
        const struct object *o = object_of(e);
        unsigned parts = change_cleaned(e);

        if (row_encode_object(&c->encode, o, parts, c->filling.store_batch) < 0) {
            keep_dirty(c, e, parts);
            return;
        }
    }
}

static bool has_work(const struct commit *c)
{
    return c->owed || !store_batch_is_empty(c->filling.store_batch) || c->filling.promises.first ||
           change_is_dirty(c->change);
}

/* `filling` becomes `flying`. Promises wait for all that is dirty now; when some of it does not fit, they go with the rest. */
static void swap_halves(struct commit *c)
{
    struct commit_half flying = c->flying;

    c->flying.store_batch = c->filling.store_batch;
    c->filling.store_batch = flying.store_batch;
    if (change_is_dirty(c->change))
        return;
    c->flying.promises = c->filling.promises;
    if (!c->flying.promises.first)
        c->flying.promises.end = &c->flying.promises.first;
    commit_promises_init(&c->filling.promises);
}

static void put_owed(struct commit *c)
{
    if (!c->owed)
        return;
    c->close_fn(c->close_arg);
    c->owed = false;
}

/* The promises are in the list of `flying` meanwhile, so that what they call may promise and put more. */
static void commit_drop(struct commit *c)
{
    struct change_entry *e;

    while ((e = change_take_dirty(c->change)))
        change_cleaned(e);
    c->probe = false;
    store_batch_clear(c->filling.store_batch);
    swap_halves(c);
    commit_promises_keep(&c->flying.promises);
}

static void commit_begin(void *arg)
{
    struct commit *c = arg;

    if (c->under_way || c->lost || (!has_work(c) && !c->probe))
        return;
    put_owed(c);
    if (c->keeps_nothing) {
        commit_drop(c);
        return;
    }
    encode_dirty(c);
    if (!store_batch_is_ok(c->filling.store_batch))
        abort(); /* without memory the process ends: rows would be lost, and the store would not have the truth */
    swap_halves(c);
    if (store_batch_is_empty(c->flying.store_batch) && !c->probe) { /* only derived values had changed */
        commit_promises_keep(&c->flying.promises);
        return;
    }
    c->under_way = true;
    c->probe = false;
    submit(c);
}

void commit_owe(struct commit *c)
{
    c->owed = true;
    loop_hook_mark(c->hook);
}

void commit_probe(struct commit *c)
{
    c->probe = true;
    loop_hook_mark(c->hook);
}

static void commit_touched(void *arg)
{
    struct commit *c = arg;

    if (!c->encoding)
        loop_hook_mark(c->hook);
}

/* ---- life -------------------------------------------------------------------------------------------- */

static int commit_take_last(void *arg, const struct store_row *row, struct err *e)
{
    *(int64_t *)arg = store_row_number(row, 0);
    return 0;
}

static int find_log_number(struct commit *c, struct err *e)
{
    struct store_batch_stmt q;

    stmt_init(&q, STMT_LOG_LAST);
    return store_query(c->store, &q, commit_take_last, &c->log_number, e);
}

struct commit *commit_create(struct loop *l, struct change *change, struct resource_table *t,
                             struct store *writer, uint64_t epoch, struct err *e)
{
    struct commit *c = calloc(1, sizeof *c);

    if (!c) {
        store_close(writer);
        err_set(e, ENOMEM, "no memory for commits");
        return NULL;
    }
    c->loop = l;
    c->change = change;
    c->store = writer;
    c->epoch = epoch;
    commit_promises_init(&c->filling.promises);
    commit_promises_init(&c->flying.promises);
    row_encode_init(&c->encode, t);
    c->filling.store_batch = store_batch_create();
    c->flying.store_batch = store_batch_create();
    c->hook = loop_hook_create(l, COMMIT_HOOK_ORDER, commit_begin, c);
    c->retry = loop_timer_create(l, LOOP_REAL, commit_retry, c);
    c->silence = loop_timer_create(l, LOOP_REAL, commit_silence_cb, c);
    if (!c->filling.store_batch || !c->flying.store_batch || !c->hook || !c->retry || !c->silence) {
        err_set(e, ENOMEM, "no memory for commits");
        goto fail;
    }
    if (find_log_number(c, e) < 0 || !(c->worker = worker_create(l, "store writer", 4, e)))
        goto fail;
    change_on_touch(change, commit_touched, c);
    return c;
fail:
    commit_destroy(c);
    return NULL;
}

void commit_destroy(struct commit *c)
{
    if (!c)
        return;
    c->dying = true;
    worker_destroy(c->worker);
    change_off_touch(c->change, c);
    if (c->hook)
        loop_hook_destroy(c->hook);
    if (c->retry)
        loop_timer_destroy(c->retry);
    if (c->silence)
        loop_timer_destroy(c->silence);
    commit_promises_drop(&c->filling.promises);
    commit_promises_drop(&c->flying.promises);
    store_batch_destroy(c->filling.store_batch);
    store_batch_destroy(c->flying.store_batch);
    row_encode_fini(&c->encode);
    store_close(c->store);
    free(c);
}

void commit_keep_nothing(struct commit *c)
{
    c->keeps_nothing = true;
}

void commit_on_lost(struct commit *c, commit_lost_fn *fn, void *arg)
{
    c->lost_fn = fn;
    c->lost_arg = arg;
}

void commit_on_close(struct commit *c, commit_fn *fn, void *arg)
{
    c->close_fn = fn;
    c->close_arg = arg;
}

void commit_then(struct commit *c, commit_fn *fn, void *arg)
{
    if (has_work(c)) {
        commit_promises_add(&c->filling.promises, fn, arg);
        loop_hook_mark(c->hook);
    } else if (c->under_way) {
        commit_promises_add(&c->flying.promises, fn, arg);
    } else {
        fn(arg);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------- */

static struct store_batch *row(struct commit *c, enum stmt_id id)
{
    store_batch_begin(c->filling.store_batch, id);
    loop_hook_mark(c->hook);
    return c->filling.store_batch;
}

static void put_key(struct store_batch *b, struct job_key key)
{
    store_batch_number(b, key.seq);
    store_batch_number(b, key.index);
}

/* Columns of type text take UTF-8 only. */
static void put_clean(struct store_batch *b, const char *text)
{
    char *copy = strdup(text ? text : "");

    if (!copy)
        abort();
    json_text_clean(copy);
    store_batch_text(b, copy);
    free(copy);
}

void commit_remove_job(struct commit *c, struct job_key key)
{
    put_key(row(c, STMT_JOB_REMOVE), key);
    put_key(row(c, STMT_SCRIPT_REMOVE), key);
}

void commit_put_array_page(struct commit *c, int64_t seq, int64_t page, const char *remaining,
                           const char *failed)
{
    struct store_batch *b = row(c, STMT_ARRAY_PUT);

    store_batch_number(b, seq);
    store_batch_number(b, page);
    store_batch_text(b, remaining);
    store_batch_text(b, failed);
}

void commit_remove_array(struct commit *c, int64_t seq)
{
    store_batch_number(row(c, STMT_ARRAY_REMOVE), seq);
}

void commit_remove_subjob_history(struct commit *c, int64_t seq)
{
    store_batch_number(row(c, STMT_HISTORY_REMOVE_SUBJOBS), seq);
}

void commit_remove_object(struct commit *c, const struct object *o)
{
    if (o->kind == &job_kind)
        commit_remove_job(c, ((const struct job *)o)->key);
    else
        commit_drop_object(c, o->kind->name, o->name);
}

void commit_put_object(struct commit *c, const char *kind, const char *name, const char *hot_json,
                       const char *attrs_json)
{
    struct store_batch *b = row(c, STMT_OBJECT_PUT);

    store_batch_text(b, kind);
    put_clean(b, name);
    store_batch_text(b, hot_json);
    store_batch_text(b, attrs_json);
    store_batch_number(b, ++c->encode.order);
}

void commit_drop_object(struct commit *c, const char *kind, const char *name)
{
    struct store_batch *b = row(c, STMT_OBJECT_REMOVE);

    store_batch_text(b, kind);
    put_clean(b, name);
}

void commit_put_script(struct commit *c, struct job_key key, uint64_t offset, const void *bytes, size_t n)
{
    struct store_batch *b = row(c, STMT_SCRIPT_PUT);

    put_key(b, key);
    store_batch_number(b, (int64_t)offset);
    store_batch_bytes(b, bytes, n);
}

void commit_put_history(struct commit *c, const struct history_row *h)
{
    struct store_batch *b = row(c, STMT_HISTORY_PUT);

    put_key(b, h->key);
    put_clean(b, h->id);
    store_batch_number(b, h->ended_s);
    put_clean(b, h->owner);
    put_clean(b, h->queue);
    store_batch_text(b, h->attrs);
}

void commit_remove_history(struct commit *c, struct job_key key)
{
    put_key(row(c, STMT_HISTORY_REMOVE), key);
}

void commit_purge_history(struct commit *c, int64_t before_s)
{
    store_batch_number(row(c, STMT_HISTORY_PURGE), before_s);
    store_batch_number(row(c, STMT_LOG_PURGE), before_s * 1000000000);
}

void commit_add_acct(struct commit *c, uint64_t n, int64_t time_s, const char *line)
{
    struct store_batch *b = row(c, STMT_ACCT_PUT);

    store_batch_number(b, (int64_t)n);
    store_batch_number(b, time_s);
    store_batch_bytes(b, line, strlen(line));
}

void commit_acct_filed(struct commit *c, uint64_t n, const char *file, uint64_t size)
{
    struct strbuf value;
    struct store_batch *b = row(c, STMT_META_SET);

    strbuf_init(&value, 100);
    strbuf_addf(&value, "%llu %llu %s", (unsigned long long)n, (unsigned long long)size, file);
    store_batch_text(b, "acct");
    store_batch_text(b, strbuf_str(&value));
    strbuf_fini(&value);
    store_batch_number(row(c, STMT_ACCT_FILED), (int64_t)n);
}

void commit_put_meta(struct commit *c, const char *name, const char *value)
{
    struct store_batch *b = row(c, STMT_META_SET);

    store_batch_text(b, name);
    store_batch_text(b, value);
}

void commit_add_log(void *commit, struct job_key key, int64_t time_ns, const char *text)
{
    struct commit *c = commit;
    struct store_batch *b = row(c, STMT_LOG_PUT);

    store_batch_number(b, ++c->log_number);
    store_batch_number(b, time_ns);
    put_key(b, key);
    put_clean(b, text);
}

/* ---- how it is --------------------------------------------------------------------------------------- */

int commit_check(const struct commit *c, struct err *e)
{
    if (c->lost)
        return err_set(e, PBSE_SYSTEM, "the store belongs to another server now: %s", c->why.text);
    if (!c->stuck_since_s || (store_batch_size(c->filling.store_batch) < STUCK_BYTES_MAX &&
                              c->filling.promises.n < STUCK_PROMISES_MAX))
        return 0;
    return err_set(e, PBSE_SYSTEM, "no change can be stored since %lld seconds, and too much waits: %s",
                   (long long)(clock_real_mono_ms() / 1000 - c->stuck_since_s), c->why.text);
}

bool commit_is_stuck(const struct commit *c, int64_t *since_s, const char **why)
{
    bool stuck = c->lost || c->stuck_since_s != 0;

    *since_s = c->stuck_since_s;
    *why = stuck ? c->why.text : NULL;
    return stuck;
}

bool commit_is_idle(const struct commit *c)
{
    return !c->under_way && !has_work(c);
}

static void pause_ms(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

int commit_flush(struct commit *c, int64_t limit_ms, struct err *e)
{
    int64_t end = clock_real_mono_ms() + limit_ms;

    while (!commit_is_idle(c)) {
        if (c->lost || (c->stuck_since_s && clock_real_mono_ms() >= end))
            return err_set(e, PBSE_SYSTEM, "changes are not stored: %s", c->why.text);
        commit_begin(c);
        if (c->under_way && !c->in_worker) {
            pause_ms(RETRY_FIRST_MS);
            commit_retry(c);
        }
        worker_drain(c->worker);
    }
    return 0;
}

void commit_get_stats(const struct commit *c, struct commit_stats *out)
{
    *out = c->stats;
}
