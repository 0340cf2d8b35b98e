/* Reading what lies in the store only. See store_reader.h.
 *
 * A `question` carries everything over to the thread and back: the statement with copies of its texts,
 * what was read, and how to report it. Only one side has it at a time, so there is no lock. The reader has a
 * connection of its own to the store: a long page of history never delays the writer. */
#include "store_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "schema.h"
#include "store.h"
#include "strbuf.h"
#include "worker.h"

/* Questions about finished jobs wait behind a slow store: about 10 MB of them at most. */
enum { WAITING_MAX = 10000 };
#define SCRIPT_MAX ((size_t)16 << 20)

struct store_reader {
    struct store *store;
    struct worker *worker;
};

/* A query under way: filled on the loop, answered by the thread, reported on the loop. */
struct store_reader_question {
    struct store_reader *r;
    struct store_batch_stmt stmt;
    char *owner, *queue; /* copies behind stmt */
    void (*tell)(struct store_reader_question *q, const struct err *why);
    store_row_fn *take;
    store_reader_history_fn *history_fn;
    store_reader_script_fn *script_fn;
    store_reader_meta_fn *meta_fn;
    void *arg;
    /* of a script */
    uint64_t offset;
    size_t max;
    struct strbuf bytes;
    /* of history */
    struct history_row *rows;
    size_t n, cap;
    int rc;
    struct err why;
};

static void question_destroy(struct store_reader_question *q)
{
    for (size_t i = 0; i < q->n; i++) {
        free((char *)q->rows[i].id);
        free((char *)q->rows[i].owner);
        free((char *)q->rows[i].queue);
        free((char *)q->rows[i].attrs);
    }
    free(q->rows);
    free(q->owner);
    free(q->queue);
    strbuf_fini(&q->bytes);
    free(q);
}

static void store_reader_ask(void *arg)
{
    struct store_reader_question *q = arg;

    q->rc = store_query(q->r->store, &q->stmt, q->take, q, &q->why);
}

static void store_reader_answered(void *arg, bool ran)
{
    struct store_reader_question *q = arg;

    if (!ran)
        q->rc = err_set(&q->why, PBSE_SYSTEM, "the server goes down");
    q->tell(q, q->rc < 0 ? &q->why : NULL);
    question_destroy(q);
}

static struct store_reader_question *question_create(struct store_reader *r, enum stmt_id id, void *arg,
                                                     struct err *e)
{
    struct store_reader_question *q = calloc(1, sizeof *q);

    if (!q) {
        err_set(e, ENOMEM, "no memory to read the store");
        return NULL;
    }
    q->r = r;
    q->arg = arg;
    stmt_init(&q->stmt, id);
    strbuf_init(&q->bytes, SCRIPT_MAX);
    return q;
}

static int question_send(struct store_reader_question *q, struct err *e)
{
    int rc = q->r->worker ? worker_submit(q->r->worker, store_reader_ask, store_reader_answered, q, e)
                          : err_set(e, PBSE_SYSTEM, "the server goes down");

    if (rc < 0)
        question_destroy(q);
    return rc;
}

/* ---- history ----------------------------------------------------------------------------------------- */

static int room_for_row(struct store_reader_question *q)
{
    size_t cap = q->cap ? 2 * q->cap : 16;
    struct history_row *rows;

    if (q->n < q->cap)
        return 0;
    rows = realloc(q->rows, cap * sizeof *rows);
    if (!rows)
        return -1;
    q->rows = rows;
    q->cap = cap;
    return 0;
}

static char *copy_text(const struct store_row *row, int column)
{
    size_t n = 0;
    const char *text = store_row_bytes(row, column, &n);

    return strndup(text ? text : "", n);
}

static int store_reader_take_history(void *arg, const struct store_row *row, struct err *e)
{
    struct store_reader_question *q = arg;
    struct history_row *h;

    if (room_for_row(q) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for finished jobs");
    h = &q->rows[q->n++];
    *h = (struct history_row){
        .key = {.seq = store_row_number(row, 0), .index = (int32_t)store_row_number(row, 1)},
        .id = copy_text(row, 2),
        .ended_s = store_row_number(row, 3),
        .owner = copy_text(row, 4),
        .queue = copy_text(row, 5),
        .attrs = copy_text(row, 6),
    };
    if (!h->id || !h->owner || !h->queue || !h->attrs)
        return err_set(e, PBSE_SYSTEM, "no memory for finished jobs");
    return 0;
}

static void store_reader_tell_history(struct store_reader_question *q, const struct err *why)
{
    q->history_fn(q->arg, q->rows, why ? 0 : q->n, why);
}

static int optional_text(struct store_reader_question *q, const char *text, char **copy, struct err *e)
{
    if (text && !(*copy = strdup(text)))
        return err_set(e, ENOMEM, "no memory to read the store");
    stmt_text(&q->stmt, *copy);
    return 0;
}

int store_reader_history(struct store_reader *r, struct job_key after, size_t limit, const char *owner,
                         const char *queue, store_reader_history_fn *fn, void *arg, struct err *e)
{
    struct store_reader_question *q = question_create(r, STMT_HISTORY_PAGE, arg, e);

    if (!q)
        return -1;
    q->take = store_reader_take_history;
    q->tell = store_reader_tell_history;
    q->history_fn = fn;
    stmt_number(&q->stmt, after.seq);
    stmt_number(&q->stmt, after.index);
    if (optional_text(q, owner, &q->owner, e) < 0 || optional_text(q, queue, &q->queue, e) < 0) {
        question_destroy(q);
        return -1;
    }
    stmt_number(&q->stmt, (int64_t)(limit < STORE_READER_PAGE_MAX ? limit : STORE_READER_PAGE_MAX));
    return question_send(q, e);
}

int store_reader_history_job(struct store_reader *r, struct job_key key, store_reader_history_fn *fn,
                             void *arg, struct err *e)
{
    struct store_reader_question *q = question_create(r, STMT_HISTORY_ONE, arg, e);

    if (!q)
        return -1;
    q->take = store_reader_take_history;
    q->tell = store_reader_tell_history;
    q->history_fn = fn;
    stmt_number(&q->stmt, key.seq);
    stmt_number(&q->stmt, key.index);
    return question_send(q, e);
}

/* ---- scripts ----------------------------------------------------------------------------------------- */

/* Pieces come in order; the first may begin before the offset, the last go beyond what is wanted. */
static int store_reader_take_script(void *arg, const struct store_row *row, struct err *e)
{
    struct store_reader_question *q = arg;
    uint64_t start = (uint64_t)store_row_number(row, 0), want = q->offset + q->bytes.len, skip;
    size_t n = 0, left = q->max - q->bytes.len;
    const char *bytes = store_row_bytes(row, 1, &n);

    if (start > want)
        return err_set(e, PBSE_SYSTEM, "the stored script has a hole at %llu", (unsigned long long)want);
    skip = want - start;
    if (skip >= n || !left)
        return 0;
    n -= (size_t)skip;
    if (strbuf_add_bytes(&q->bytes, bytes + skip, n < left ? n : left) < 0)
        return err_set(e, PBSE_SYSTEM, "no memory for a script");
    return 0;
}

static void store_reader_tell_script(struct store_reader_question *q, const struct err *why)
{
    q->script_fn(q->arg, q->bytes.s, why ? 0 : q->bytes.len, why);
}

int store_reader_script(struct store_reader *r, struct job_key key, uint64_t offset, size_t max,
                        store_reader_script_fn *fn, void *arg, struct err *e)
{
    struct store_reader_question *q = question_create(r, STMT_SCRIPT_GET, arg, e);

    if (!q)
        return -1;
    q->take = store_reader_take_script;
    q->tell = store_reader_tell_script;
    q->script_fn = fn;
    q->offset = offset;
    q->max = max < SCRIPT_MAX ? max : SCRIPT_MAX;
    stmt_number(&q->stmt, key.seq);
    stmt_number(&q->stmt, key.index);
    stmt_number(&q->stmt, (int64_t)offset);
    stmt_number(&q->stmt, (int64_t)(offset + q->max));
    return question_send(q, e);
}

/* ---- words about the store ---------------------------------------------------------------------------- */

static int store_reader_take_meta(void *arg, const struct store_row *row, struct err *e)
{
    struct store_reader_question *q = arg;
    const char *value = store_row_text(row, 0);

    return strbuf_add(&q->bytes, value ? value : "") < 0 ? err_set(e, PBSE_SYSTEM, "no memory for an answer")
                                                         : 0;
}

static void store_reader_tell_meta(struct store_reader_question *q, const struct err *why)
{
    q->meta_fn(q->arg, q->bytes.len ? strbuf_str(&q->bytes) : "", why);
}

int store_reader_meta(struct store_reader *r, const char *name, store_reader_meta_fn *fn, void *arg,
                      struct err *e)
{
    struct store_reader_question *q = question_create(r, STMT_META_GET, arg, e);

    if (!q)
        return -1;
    q->take = store_reader_take_meta;
    q->tell = store_reader_tell_meta;
    q->meta_fn = fn;
    stmt_text(&q->stmt, name);
    return question_send(q, e);
}

/* ---- life -------------------------------------------------------------------------------------------- */

struct store_reader *store_reader_create(struct loop *l, struct store *s, struct err *e)
{
    struct store_reader *r = calloc(1, sizeof *r);

    if (!r) {
        store_close(s);
        err_set(e, ENOMEM, "no memory to read the store");
        return NULL;
    }
    r->store = s;
    r->worker = worker_create(l, "store reader", WAITING_MAX, e);
    if (!r->worker) {
        store_reader_destroy(r);
        return NULL;
    }
    return r;
}

void store_reader_stop(struct store_reader *r)
{
    struct worker *w = r->worker;

    r->worker = NULL; /* the functions called now may ask again */
    worker_destroy(w);
}

void store_reader_destroy(struct store_reader *r)
{
    if (!r)
        return;
    store_reader_stop(r);
    store_close(r->store);
    free(r);
}
