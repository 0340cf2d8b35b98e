/* The store in one file, by SQLite. See store.h.
 *
 * Write-ahead log with full synchronisation: what apply() has returned is on disk. A lock file beside the
 * database is the lease, since SQLite's own locks are taken for moments only. Statements are prepared once. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "pbs_error.h"
#include "schema.h"
#include "store.h"
#include "strbuf.h"
#include "wal_room.h"

/* BUSY_MS: pbs_store reads the file while the server writes. CHECKPOINT_PAGES: 16 MB of log between two checkpoints, so
 * that each is short. */
enum { BUSY_MS = 10000, CHECKPOINT_PAGES = 4000 };

/* What frames a batch: prepared once, as the statements in it. */
enum frame { FRAME_BEGIN, FRAME_READ, FRAME_COMMIT, FRAME_ROLLBACK, FRAMES };

static const char *const frame_sql[FRAMES] = {"BEGIN IMMEDIATE", "BEGIN", "COMMIT", "ROLLBACK"};

struct store_sqlite {
    struct store base;
    sqlite3 *db;
    char *lock_path;
    int lock_fd; /* -1: no lease */
    struct wal_room room;
    bool is_synced; /* what is committed waits for the disk */
    sqlite3_stmt *stmt[STMT_COUNT];
    sqlite3_stmt *frame[FRAMES];
};

static struct store_sqlite *of(struct store *s)
{
    return (struct store_sqlite *)(void *)s;
}

static int store_sqlite_failed(struct store_sqlite *s, const char *what, struct err *e)
{
    return err_set(e, PBSE_SYSTEM, "SQLite: %s: %s", what, sqlite3_errmsg(s->db));
}

static int store_sqlite_run(struct store_sqlite *s, const char *sql, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_sqlite_failed(s, sql, e);
}

static int frame(struct store_sqlite *s, enum frame f, struct err *e)
{
    sqlite3_stmt **st = &s->frame[f];
    int rc =
        *st ? SQLITE_OK : sqlite3_prepare_v3(s->db, frame_sql[f], -1, SQLITE_PREPARE_PERSISTENT, st, NULL);

    if (rc == SQLITE_OK) {
        (void)sqlite3_step(*st);
        rc = sqlite3_reset(*st); /* says what the step said */
    }
    return rc == SQLITE_OK ? 0 : store_sqlite_failed(s, frame_sql[f], e);
}

static sqlite3_stmt *prepared(struct store_sqlite *s, unsigned id, struct err *e)
{
    if (!s->stmt[id] && sqlite3_prepare_v3(s->db, stmt_rows[id].sql, -1, SQLITE_PREPARE_PERSISTENT,
                                           &s->stmt[id], NULL) != SQLITE_OK)
        store_sqlite_failed(s, stmt_rows[id].name, e);
    return s->stmt[id];
}

static int bind_param(sqlite3_stmt *st, int i, const struct store_batch_param *p)
{
    switch (p->type) {
    case STORE_BATCH_NULL:
        return sqlite3_bind_null(st, i);
    case STORE_BATCH_NUMBER:
        return sqlite3_bind_int64(st, i, p->number);
    case STORE_BATCH_TEXT:
        return sqlite3_bind_text64(st, i, p->bytes, p->n, SQLITE_STATIC, SQLITE_UTF8);
    case STORE_BATCH_BYTES:
        return sqlite3_bind_blob64(st, i, p->n ? p->bytes : "", p->n, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static sqlite3_stmt *bound(struct store_sqlite *s, const struct store_batch_stmt *q, struct err *e)
{
    sqlite3_stmt *st = prepared(s, q->id, e);

    for (unsigned i = 0; st && i < q->n; i++)
        if (bind_param(st, (int)i + 1, &q->param[i]) != SQLITE_OK) {
            store_sqlite_failed(s, stmt_rows[q->id].name, e);
            return NULL;
        }
    return st;
}

static int store_sqlite_query(struct store *base, const struct store_batch_stmt *q, store_row_fn *fn,
                              void *arg, struct err *e)
{
    struct store_sqlite *s = of(base);
    sqlite3_stmt *st = bound(s, q, e);
    struct store_row row = {.class = base->class, .result = st};
    int step, rc = 0;

    if (!st)
        return -1;
    while ((step = sqlite3_step(st)) == SQLITE_ROW && rc == 0)
        rc = fn ? fn(arg, &row, e) : 0;
    if (rc == 0 && step != SQLITE_DONE)
        rc = store_sqlite_failed(s, stmt_rows[q->id].name, e);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc;
}

static const char *store_sqlite_text(const struct store_row *row, int column, size_t *n)
{
    sqlite3_stmt *st = (sqlite3_stmt *)row->result;
    const char *text;

    if (sqlite3_column_type(st, column) == SQLITE_BLOB)
        text = sqlite3_column_blob(st, column);
    else
        text = (const char *)sqlite3_column_text(st, column);
    if (n)
        *n = (size_t)sqlite3_column_bytes(st, column);
    return text;
}

static int64_t store_sqlite_number(const struct store_row *row, int column)
{
    return sqlite3_column_int64((sqlite3_stmt *)row->result, column);
}

static int store_sqlite_script(struct store *base, const char *sql, struct err *e)
{
    struct store_sqlite *s = of(base);

    if (frame(s, FRAME_BEGIN, e) < 0)
        return -1;
    if (store_sqlite_run(s, sql, e) < 0 || frame(s, FRAME_COMMIT, e) < 0) {
        frame(s, FRAME_ROLLBACK, NULL);
        return -1;
    }
    return 0;
}

static int store_sqlite_take_number(void *arg, const struct store_row *row, struct err *e)
{
    *(uint64_t *)arg = strtoull(row->class->text(row, 0, NULL), NULL, 10);
    return 0;
}

static int check_epoch(struct store *base, uint64_t epoch, struct err *e)
{
    struct store_batch_stmt q;
    uint64_t found = 0;

    stmt_init(&q, STMT_META_GET);
    stmt_text(&q, "epoch");
    if (store_sqlite_query(base, &q, store_sqlite_take_number, &found, e) < 0)
        return -1;
    if (found == epoch)
        return 0;
    return err_set(e, ESTALE, "another server has taken the store over (epoch %llu, ours is %llu)",
                   (unsigned long long)found, (unsigned long long)epoch);
}

static int run_stmt(struct store_sqlite *s, const struct store_batch_stmt *q, struct err *e)
{
    sqlite3_stmt *st = bound(s, q, e);
    int step;

    if (!st)
        return -1;
    step = sqlite3_step(st);
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        store_sqlite_failed(s, stmt_rows[q->id].name, e);
    sqlite3_reset(st);
    return step == SQLITE_DONE || step == SQLITE_ROW ? 0 : -1;
}

static int store_sqlite_apply(struct store *base, const struct store_batch *b, uint64_t epoch, struct err *e)
{
    struct store_sqlite *s = of(base);
    struct store_batch_stmt q;
    size_t at = 0;
    int rc;

    if (s->is_synced)
        wal_room_make(&s->room);
    if (frame(s, FRAME_BEGIN, e) < 0)
        return -1;
    rc = check_epoch(base, epoch, e);
    while (rc == 0 && store_batch_next(b, &at, &q))
        rc = run_stmt(s, &q, e);
    if (rc == 0)
        rc = frame(s, FRAME_COMMIT, e);
    if (rc < 0)
        frame(s, FRAME_ROLLBACK, NULL); /* which does nothing where the failure has rolled back already */
    return rc;
}

/* ---- one transaction of many calls --------------------------------------------------------------------- */

/* "BEGIN" alone takes no snapshot: the first look does. */
static int store_sqlite_begin(struct store *base, enum store_access how, struct err *e)
{
    struct store_sqlite *s = of(base);

    if (how == STORE_WRITE)
        return frame(s, FRAME_BEGIN, e);
    if (frame(s, FRAME_READ, e) < 0)
        return -1;
    if (store_sqlite_run(s, "SELECT count(*) FROM sqlite_schema", e) == 0)
        return 0;
    frame(s, FRAME_ROLLBACK, NULL);
    return -1;
}

static int store_sqlite_add(struct store *base, const struct store_batch *b, struct err *e)
{
    struct store_batch_stmt q;

    for (size_t at = 0; store_batch_next(b, &at, &q);)
        if (run_stmt(of(base), &q, e) < 0)
            return -1;
    return 0;
}

static int store_sqlite_end(struct store *base, bool keep, struct err *e)
{
    int rc = keep ? frame(of(base), FRAME_COMMIT, e) : 0;

    if (!keep || rc < 0)
        frame(of(base), FRAME_ROLLBACK, NULL);
    return rc;
}

static int store_sqlite_examine(struct store *base, store_row_fn *fault, void *arg, struct err *e)
{
    struct store_sqlite *s = of(base);
    sqlite3_stmt *st = NULL;
    int step = SQLITE_DONE, rc = 0;

    if (sqlite3_prepare_v2(s->db, "PRAGMA integrity_check", -1, &st, NULL) != SQLITE_OK)
        return store_sqlite_failed(s, "integrity_check", e);
    while (rc == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
        const struct store_row row = {.class = base->class, .result = st};

        if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
            rc = fault(arg, &row, e);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = store_sqlite_failed(s, "integrity_check", e);
    sqlite3_finalize(st);
    return rc;
}

static int store_sqlite_lease(struct store *base, struct err *e)
{
    struct store_sqlite *s = of(base);

    if (s->lock_fd < 0)
        s->lock_fd = file_lock(s->lock_path, 0600, e);
    return s->lock_fd < 0 ? -1 : 0;
}

static int store_sqlite_held(struct store *base, bool *out, struct err *e)
{
    pid_t holder = access(of(base)->lock_path, F_OK) == 0 ? file_lock_holder(of(base)->lock_path, e) : 0;

    *out = holder > 0;
    return holder < 0 ? -1 : 0;
}

static void store_sqlite_close(struct store *base)
{
    struct store_sqlite *s = of(base);

    for (int i = 0; i < STMT_COUNT; i++)
        sqlite3_finalize(s->stmt[i]);
    for (int i = 0; i < FRAMES; i++)
        sqlite3_finalize(s->frame[i]);
    sqlite3_close(s->db);
    if (s->lock_fd >= 0)
        file_unlock(s->lock_fd);
    free(s->lock_path);
    free(s);
}

static const struct store_class sqlite_class = {
    .name = "SQLite",
    .number_key =
        "INTEGER PRIMARY KEY", /* exactly this word makes it the row's own number, without an index */
    .in_key = " WITHOUT ROWID",
    .close = store_sqlite_close,
    .script = store_sqlite_script,
    .query = store_sqlite_query,
    .apply = store_sqlite_apply,
    .lease = store_sqlite_lease,
    .held = store_sqlite_held,
    .begin = store_sqlite_begin,
    .add = store_sqlite_add,
    .end = store_sqlite_end,
    .examine = store_sqlite_examine,
    .text = store_sqlite_text,
    .number = store_sqlite_number,
};

/* Attributes may hold secrets (environments): the file is the daemon's own. SQLite gives its log files the mode
 * of the database. A file that is there is not touched: closing any descriptor of it would drop the locks of
 * other connections of this process, and SQLite would take the log for unused and remove it. */
static int make_private(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno == EEXIST ? 0 : err_errno(e, errno, "cannot make the store %s", path);
    close(fd);
    return 0;
}

static int configure(struct store_sqlite *s, const struct store_where *w, struct err *e)
{
    struct strbuf sql;
    int rc;

    sqlite3_busy_timeout(s->db, BUSY_MS);
    strbuf_init(&sql, 1000);
    strbuf_addf(
        &sql,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=%s; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=OFF;",
        w->is_fleeting ? "OFF" : "FULL");
    rc = store_sqlite_run(s, strbuf_str(&sql), e);
    strbuf_fini(&sql);
    s->is_synced = !w->is_fleeting;
    wal_room_watch(&s->room, s->db, CHECKPOINT_PAGES);
    return rc;
}

struct store *store_sqlite_open(const struct store_where *w, struct err *e)
{
    struct store_sqlite *s = calloc(1, sizeof *s);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

    if (!s || asprintf(&s->lock_path, "%s.lock", w->path) < 0) {
        free(s);
        err_set(e, PBSE_SYSTEM, "no memory for the store");
        return NULL;
    }
    s->base.class = &sqlite_class;
    s->lock_fd = -1;
    if (w->existing && access(w->path, F_OK) < 0) {
        err_errno(e, errno, "the store %s", w->path);
        goto fail;
    }
    if (make_private(w->path, e) < 0)
        goto fail;
    if (sqlite3_open_v2(w->path, &s->db, flags, NULL) != SQLITE_OK) {
        store_sqlite_failed(s, w->path, e);
        goto fail;
    }
    if (configure(s, w, e) < 0)
        goto fail;
    return &s->base;
fail:
    store_sqlite_close(&s->base);
    return NULL;
}
