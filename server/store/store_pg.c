/* The store in PostgreSQL, by libpq. See store.h.
 *
 * A batch is a pipeline: BEGIN, the epoch (locked against a takeover until the end), all statements, COMMIT, one
 * wait: one round trip whatever its size. An epoch that is not ours is made an error there, so that what is
 * behind it in the pipeline is skipped. The lease is an advisory lock of the
 * writer's session. When the session is lost the next call connects again and takes the lease again: batches check
 * the epoch, so nothing is written if another server was active meanwhile. The database finds out within seconds
 * when a host with a session is gone, and we when the database is (keep-alives, time limits of TCP). */
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "pbs_error.h"
#include "schema.h"
#include "store.h"
#include "strbuf.h"

enum { OID_BYTEA = 17, OID_INT8 = 20, OID_INT4 = 23, OID_TEXT = 25, OID_JSON = 114 };
enum { OPTIONS_MAX = 16, PASSWORD_MAX = 4096, LEASE_TRIES = 20, LEASE_PAUSE_US = 100000 };

#define LEASE_SQL "SELECT pg_try_advisory_lock(1128613957, 1)" /* "CEDE" */
#define HELD_SQL                                                                                             \
    "SELECT count(*) FROM pg_locks l JOIN pg_database d ON l.database = d.oid WHERE l.locktype = "           \
    "'advisory' AND l.classid = 1128613957 AND l.objid = 1 AND l.granted AND d.datname = current_database()"
/* Division by zero, if it is another; nothing else in a batch divides. */
#define EPOCH_SQL                                                                                            \
    "SELECT 1 / COALESCE((SELECT value FROM meta WHERE name = 'epoch' FOR SHARE) = $1, false)::int"
#define EPOCH_LOST "22012"
#define SESSION_OPTIONS                                                                                      \
    "-c synchronous_commit=on -c client_min_messages=warning -c tcp_keepalives_idle=5 "                      \
    "-c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"

struct store_pg_option {
    const char *name;
    char *value;
};

struct store_pg {
    struct store base;
    PGconn *conn;
    struct store_pg_option option[OPTIONS_MAX]; /* of the connection; by name and value, ended by NULL */
    size_t n_options;
    char *database;
    bool wants_lease;
    bool in_transaction; /* between begin and end: a new connection would not have the open transaction */
    bool prepared[STMT_COUNT], epoch_prepared;
};

/* A statement's parameters as libpq wants them. */
struct store_pg_params {
    const char *value[STORE_BATCH_PARAMS_MAX];
    int length[STORE_BATCH_PARAMS_MAX];
    int format[STORE_BATCH_PARAMS_MAX];
    uint64_t number[STORE_BATCH_PARAMS_MAX];
};

static struct store_pg *of(struct store *s)
{
    return (struct store_pg *)(void *)s;
}

/* libpq's messages end in a newline. */
static int store_pg_failed(struct store_pg *s, const char *what, const char *message, struct err *e)
{
    size_t n;

    if (!message || !*message)
        message = s->conn ? PQerrorMessage(s->conn) : "no memory";
    n = strlen(message);
    while (n && (message[n - 1] == '\n' || message[n - 1] == ' '))
        n--;
    return err_set(e, PBSE_SYSTEM, "PostgreSQL: %s: %.*s", what, (int)(n < 400 ? n : 400), message);
}

/* ---- connecting -------------------------------------------------------------------------------------- */

static int add_option(struct store_pg *s, const char *name, const char *value, struct err *e)
{
    struct store_pg_option *o = &s->option[s->n_options];

    if (!value)
        return 0;
    o->name = name;
    o->value = strdup(value);
    if (!o->value)
        return err_set(e, PBSE_SYSTEM, "no memory for the store");
    s->n_options++;
    return 0;
}

static int add_password(struct store_pg *s, const char *path, struct err *e)
{
    char *text = NULL;
    int rc;

    if (!path || access(path, R_OK) < 0)
        return 0;
    if (file_read(AT_FDCWD, path, PASSWORD_MAX, &text, NULL, e) < 0)
        return -1;
    text[strcspn(text, "\r\n")] = '\0';
    rc = add_option(s, "password", text, e);
    explicit_bzero(text, strlen(text));
    free(text);
    return rc;
}

static int add_user(struct store_pg *s, const char *user, struct err *e)
{
    const struct passwd *pw = user ? NULL : getpwuid(geteuid());

    return add_option(s, "user", pw ? pw->pw_name : user, e);
}

static int add_port(struct store_pg *s, int port, struct err *e)
{
    struct strbuf text;
    int rc;

    if (!port)
        return 0;
    strbuf_init(&text, 20);
    strbuf_addf(&text, "%d", port);
    rc = add_option(s, "port", strbuf_str(&text), e);
    strbuf_fini(&text);
    return rc;
}

/* Options that do not depend on the settings. A database host that is gone is noticed after 5 + 3 * 2 s while the connection is
 * quiet, and after 10 s when bytes are not acknowledged. */
static const struct {
    const char *name, *value;
} fixed_options[] = {
    {"connect_timeout", "10"},     {"application_name", "pbs_server"}, {"client_encoding", "UTF8"},
    {"keepalives_idle", "5"},      {"keepalives_interval", "2"},       {"keepalives_count", "3"},
    {"tcp_user_timeout", "10000"}, {"options", SESSION_OPTIONS},
};

static int set_options(struct store_pg *s, const struct store_where *w, struct err *e)
{
    s->database = strdup(w->database ? w->database : "pbs_datastore");
    if (!s->database)
        return err_set(e, PBSE_SYSTEM, "no memory for the store");
    if (add_option(s, "host", w->host, e) < 0 || add_port(s, w->port, e) < 0 || add_user(s, w->user, e) < 0 ||
        add_password(s, w->password_file, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof fixed_options / sizeof fixed_options[0]; i++)
        if (add_option(s, fixed_options[i].name, fixed_options[i].value, e) < 0)
            return -1;
    return 0;
}

static PGconn *store_pg_connect_to(const struct store_pg *s, const char *database)
{
    const char *name[OPTIONS_MAX + 2], *value[OPTIONS_MAX + 2];
    size_t n = 0;

    for (; n < s->n_options; n++) {
        name[n] = s->option[n].name;
        value[n] = s->option[n].value;
    }
    name[n] = "dbname";
    value[n++] = database;
    name[n] = value[n] = NULL;
    return PQconnectdbParams(name, value, 0);
}

static bool is_connected(const struct store_pg *s)
{
    return s->conn && PQstatus(s->conn) == CONNECTION_OK;
}

/* The lease of a session that broke may live on for a while on the server's side: that is not a loss yet, but
 * nothing may be written. */
static int take_lease(struct store_pg *s, struct err *e)
{
    PGresult *r = PQexec(s->conn, LEASE_SQL);
    bool got = PQresultStatus(r) == PGRES_TUPLES_OK && PQgetvalue(r, 0, 0)[0] == 't';
    int rc = 0;

    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        rc = store_pg_failed(s, "taking the lease", PQresultErrorMessage(r), e);
    else if (!got)
        rc = err_set(e, EWOULDBLOCK, "another session of database %s holds the lease of the store",
                     s->database);
    PQclear(r);
    return rc;
}

static int need_connection(struct store_pg *s, struct err *e)
{
    if (is_connected(s))
        return 0;
    if (s->in_transaction)
        return store_pg_failed(s, "the connection was lost, and the transaction with it", NULL, e);
    PQfinish(s->conn);
    memset(s->prepared, 0, sizeof s->prepared);
    s->epoch_prepared = false;
    s->conn = store_pg_connect_to(s, s->database);
    if (!is_connected(s))
        return store_pg_failed(s, "connecting", NULL, e);
    if (s->wants_lease && take_lease(s, e) < 0) {
        PQfinish(s->conn);
        s->conn = NULL;
        return -1;
    }
    return 0;
}

/* ---- statements -------------------------------------------------------------------------------------- */

static Oid oid_of(char letter)
{
    switch (letter) {
    case 'n':
        return OID_INT8;
    case 'j':
        return OID_JSON;
    case 'b':
        return OID_BYTEA;
    default:
        return OID_TEXT;
    }
}

static int prepare(struct store_pg *s, const char *name, const char *sql, unsigned n, const Oid *types,
                   struct err *e)
{
    PGresult *r = PQprepare(s->conn, name, sql, (int)n, types);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : store_pg_failed(s, name, PQresultErrorMessage(r), e);

    PQclear(r);
    return rc;
}

static int need_prepared(struct store_pg *s, unsigned id, struct err *e)
{
    const struct stmt_row *row = &stmt_rows[id];
    Oid types[STORE_BATCH_PARAMS_MAX];

    if (s->prepared[id])
        return 0;
    for (unsigned i = 0; i < row->params; i++)
        types[i] = oid_of(row->types[i]);
    if (prepare(s, row->name, row->sql, row->params, types, e) < 0)
        return -1;
    s->prepared[id] = true;
    return 0;
}

static void bind_params(const struct store_batch_stmt *q, struct store_pg_params *out)
{
    for (unsigned i = 0; i < q->n; i++) {
        const struct store_batch_param *p = &q->param[i];

        out->format[i] = 1;
        out->value[i] = p->bytes;
        out->length[i] = (int)p->n;
        if (p->type == STORE_BATCH_NUMBER) {
            out->number[i] = htobe64((uint64_t)p->number);
            out->value[i] = (const char *)&out->number[i];
            out->length[i] = sizeof out->number[i];
        } else if (p->type == STORE_BATCH_BYTES && p->n == 0) {
            out->value[i] = "";
        }
    }
}

static int each_row(struct store_pg *s, const PGresult *r, store_row_fn *fn, void *arg, struct err *e)
{
    int rc = 0;

    for (int i = 0; fn && rc == 0 && i < PQntuples(r); i++) {
        const struct store_row row = {.class = s->base.class, .result = r, .index = i};

        rc = fn(arg, &row, e);
    }
    return rc;
}

/* Rows come one by one, so that a large table is never held in memory. */
static int store_pg_read_rows(struct store_pg *s, const char *name, store_row_fn *fn, void *arg,
                              struct err *e)
{
    PGresult *r;
    int rc = 0;

    PQsetSingleRowMode(s->conn);
    while ((r = PQgetResult(s->conn))) {
        ExecStatusType status = PQresultStatus(r);

        if (rc == 0 && (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK))
            rc = each_row(s, r, fn, arg, e);
        else if (rc == 0 && status != PGRES_COMMAND_OK)
            rc = store_pg_failed(s, name, PQresultErrorMessage(r), e);
        PQclear(r);
    }
    return rc;
}

static int store_pg_query(struct store *base, const struct store_batch_stmt *q, store_row_fn *fn, void *arg,
                          struct err *e)
{
    struct store_pg *s = of(base);
    const char *name = stmt_rows[q->id].name;
    struct store_pg_params p;

    if (need_connection(s, e) < 0 || need_prepared(s, q->id, e) < 0)
        return -1;
    bind_params(q, &p);
    if (!PQsendQueryPrepared(s->conn, name, (int)q->n, p.value, p.length, p.format, 1))
        return store_pg_failed(s, name, NULL, e);
    return store_pg_read_rows(s, name, fn, arg, e);
}

static const char *store_pg_text(const struct store_row *row, int column, size_t *n)
{
    const PGresult *r = row->result;

    if (n)
        *n = (size_t)PQgetlength(r, row->index, column);
    return PQgetisnull(r, row->index, column) ? NULL : PQgetvalue(r, row->index, column);
}

static int64_t store_pg_number(const struct store_row *row, int column)
{
    const PGresult *r = row->result;
    const char *value = PQgetvalue(r, row->index, column);
    uint64_t wide;
    uint32_t narrow;

    if (PQgetlength(r, row->index, column) == (int)sizeof wide) {
        memcpy(&wide, value, sizeof wide);
        return (int64_t)be64toh(wide);
    }
    if (PQgetlength(r, row->index, column) == (int)sizeof narrow) {
        memcpy(&narrow, value, sizeof narrow);
        return (int32_t)be32toh(narrow);
    }
    return 0;
}

static int store_pg_script(struct store *base, const char *sql, struct err *e)
{
    struct store_pg *s = of(base);
    PGresult *r;
    int rc = 0;

    if (need_connection(s, e) < 0)
        return -1;
    r = PQexec(s->conn, sql); /* several statements in one message are one transaction */
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        rc = store_pg_failed(s, "script", PQresultErrorMessage(r), e);
    PQclear(r);
    return rc;
}

/* ---- a batch ----------------------------------------------------------------------------------------- */

static int prepare_all(struct store_pg *s, const struct store_batch *b, struct err *e)
{
    struct store_batch_stmt q;

    const Oid text = OID_TEXT;

    if (!s->epoch_prepared && prepare(s, "EPOCH", EPOCH_SQL, 1, &text, e) < 0)
        return -1;
    s->epoch_prepared = true;
    for (size_t at = 0; store_batch_next(b, &at, &q);)
        if (need_prepared(s, q.id, e) < 0)
            return -1;
    return 0;
}

static int send_text(struct store_pg *s, const char *sql, struct err *e)
{
    return PQsendQueryParams(s->conn, sql, 0, NULL, NULL, NULL, NULL, 0) ? 0
                                                                         : store_pg_failed(s, sql, NULL, e);
}

static int send_epoch(struct store_pg *s, uint64_t epoch, struct err *e)
{
    char text[24];
    const char *value[] = {text};

    snprintf(text, sizeof text, "%llu", (unsigned long long)epoch);
    return PQsendQueryPrepared(s->conn, "EPOCH", 1, value, NULL, NULL, 0)
               ? 0
               : store_pg_failed(s, "EPOCH", NULL, e);
}

static int send_batch(struct store_pg *s, const struct store_batch *b, struct err *e)
{
    struct store_batch_stmt q;
    struct store_pg_params p;

    for (size_t at = 0; store_batch_next(b, &at, &q);) {
        const char *name = stmt_rows[q.id].name;

        bind_params(&q, &p);
        if (!PQsendQueryPrepared(s->conn, name, (int)q.n, p.value, p.length, p.format, 1))
            return store_pg_failed(s, name, NULL, e);
    }
    return 0;
}

static int batch_failed(struct store_pg *s, const PGresult *r, struct err *e)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);

    if (state && strcmp(state, EPOCH_LOST) == 0)
        return err_set(e, ESTALE, "another server has taken the store over: its epoch is not ours any more");
    return store_pg_failed(s, "batch", PQresultErrorMessage(r), e);
}

/* All results up to the next sync; the first error counts. -1 too if the connection is lost: NULL ends each statement, which has at
 * least one result, so NULL twice in a row means that libpq waits for nothing more. After the FATAL of a database that ends its sessions
 * (a process of it has crashed) that comes without a sync, while libpq still calls the connection good. */
static int store_pg_drain(struct store_pg *s, struct err *e)
{
    int rc = 0, nulls = 0;

    if (!PQpipelineSync(s->conn))
        return store_pg_failed(s, "sync", NULL, e);
    for (;;) {
        PGresult *r = PQgetResult(s->conn);
        ExecStatusType status = PQresultStatus(r);

        if (!r) {
            if (++nulls > 1 || !is_connected(s))
                return rc < 0 ? rc : store_pg_failed(s, "batch", NULL, e);
            continue;
        }
        nulls = 0;
        if (rc == 0 && status == PGRES_FATAL_ERROR)
            rc = batch_failed(s, r, e);
        PQclear(r);
        if (status == PGRES_PIPELINE_SYNC)
            return rc;
    }
}

static int run_pipeline(struct store_pg *s, const struct store_batch *b, uint64_t epoch, struct err *e)
{
    if (send_text(s, "BEGIN", e) < 0 || send_epoch(s, epoch, e) < 0 || send_batch(s, b, e) < 0 ||
        send_text(s, "COMMIT", e) < 0)
        return -1;
    return store_pg_drain(s, e);
}

/* Another session has the lease: our old one is still known to the database, or the store has been taken over. */
static int check_taken(struct store_pg *s, uint64_t epoch, struct err *e)
{
    PGconn *conn = store_pg_connect_to(s, s->database);
    PGresult *r = PQexec(conn, "SELECT value FROM meta WHERE name = 'epoch'");
    bool taken = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1 &&
                 strtoull(PQgetvalue(r, 0, 0), NULL, 10) > epoch;

    PQclear(r);
    PQfinish(conn);
    return taken ? err_set(e, ESTALE, "another server has taken the store over while our session was lost")
                 : -1;
}

static int store_pg_apply(struct store *base, const struct store_batch *b, uint64_t epoch, struct err *e)
{
    struct store_pg *s = of(base);
    int rc;

    if (need_connection(s, e) < 0)
        return e->code == EWOULDBLOCK ? check_taken(s, epoch, e) : -1;
    if (prepare_all(s, b, e) < 0)
        return -1;
    if (!PQenterPipelineMode(s->conn))
        return store_pg_failed(s, "pipeline", NULL, e);
    rc = run_pipeline(s, b, epoch, e);
    if (rc == 0 && PQexitPipelineMode(s->conn))
        return 0;
    /* Only a new connection is in a state that is certain; the next try makes one. */
    if (rc == 0)
        rc = store_pg_failed(s, "pipeline", NULL, e);
    PQfinish(s->conn);
    s->conn = NULL;
    return rc;
}

/* ---- one transaction of many calls --------------------------------------------------------------------- */

static int pg_exec(struct store_pg *s, const char *sql, struct err *e)
{
    PGresult *r = PQexec(s->conn, sql);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : store_pg_failed(s, sql, PQresultErrorMessage(r), e);

    PQclear(r);
    return rc;
}

static int store_pg_begin(struct store *base, enum store_access how, struct err *e)
{
    struct store_pg *s = of(base);

    if (need_connection(s, e) < 0 ||
        pg_exec(s, how == STORE_WRITE ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", e) < 0)
        return -1;
    s->in_transaction = true;
    return 0;
}

/* A batch as a pipeline, as in apply(), within the transaction that is open. */
static int store_pg_add(struct store *base, const struct store_batch *b, struct err *e)
{
    struct store_pg *s = of(base);
    int rc;

    if (need_connection(s, e) < 0 || prepare_all(s, b, e) < 0)
        return -1;
    if (!PQenterPipelineMode(s->conn))
        return store_pg_failed(s, "pipeline", NULL, e);
    rc = send_batch(s, b, e);
    if (store_pg_drain(s, rc < 0 ? NULL : e) < 0)
        rc = -1;
    if (!PQexitPipelineMode(s->conn) && rc == 0)
        rc = store_pg_failed(s, "pipeline", NULL, e);
    return rc;
}

static int store_pg_end(struct store *base, bool keep, struct err *e)
{
    struct store_pg *s = of(base);
    bool is_aborted = is_connected(s) && PQtransactionStatus(s->conn) == PQTRANS_INERROR;
    int rc = 0;

    if (keep && is_aborted)
        rc = err_set(e, PBSE_SYSTEM, "PostgreSQL: a statement of the transaction has failed");
    else if (keep)
        rc = need_connection(s, e) < 0 ? -1 : pg_exec(s, "COMMIT", e);
    s->in_transaction = false;
    if ((!keep || rc < 0) && is_connected(s))
        pg_exec(s, "ROLLBACK", NULL);
    return rc;
}

/* The session of a server that has just ended may live for a moment longer than it. */
static int store_pg_lease(struct store *base, struct err *e)
{
    struct store_pg *s = of(base);
    struct err why = {0};
    int rc = -1;

    if (need_connection(s, e) < 0)
        return -1;
    if (s->wants_lease)
        return 0;
    for (int i = 0; i < LEASE_TRIES; i++) {
        rc = take_lease(s, &why);
        if (rc == 0 || why.code != EWOULDBLOCK)
            break;
        usleep(LEASE_PAUSE_US);
    }
    s->wants_lease = rc == 0;
    return rc == 0 ? 0 : err_set(e, why.code, "%s", why.text);
}

static int store_pg_held(struct store *base, bool *out, struct err *e)
{
    struct store_pg *s = of(base);
    PGresult *r;
    int rc = 0;

    if (need_connection(s, e) < 0)
        return -1;
    r = PQexec(s->conn, HELD_SQL);
    if (PQresultStatus(r) == PGRES_TUPLES_OK)
        *out = PQgetvalue(r, 0, 0)[0] != '0';
    else
        rc = store_pg_failed(s, "asking for the lease", PQresultErrorMessage(r), e);
    PQclear(r);
    return rc;
}

static void store_pg_close(struct store *base)
{
    struct store_pg *s = of(base);

    if (s->wants_lease && is_connected(s))
        PQclear(PQexec(s->conn, "SELECT pg_advisory_unlock_all()"));
    PQfinish(s->conn);
    for (size_t i = 0; i < s->n_options; i++) {
        explicit_bzero(s->option[i].value, strlen(s->option[i].value));
        free(s->option[i].value);
    }
    free(s->database);
    free(s);
}

static const struct store_class pg_class = {
    .name = "PostgreSQL",
    .number_key = "BIGINT PRIMARY KEY",
    .in_key = "",
    .close = store_pg_close,
    .script = store_pg_script,
    .query = store_pg_query,
    .apply = store_pg_apply,
    .lease = store_pg_lease,
    .held = store_pg_held,
    .begin = store_pg_begin,
    .add = store_pg_add,
    .end = store_pg_end,
    .text = store_pg_text,
    .number = store_pg_number,
};

/* ---- opening ----------------------------------------------------------------------------------------- */

static int create_in(struct store_pg *s, PGconn *admin, struct err *e)
{
    char *name = PQescapeIdentifier(admin, s->database, strlen(s->database));
    struct strbuf sql;
    PGresult *r;
    int rc = 0;

    strbuf_init(&sql, 1000);
    strbuf_addf(&sql, "CREATE DATABASE %s ENCODING 'UTF8' TEMPLATE template0", name ? name : "");
    r = PQexec(admin, strbuf_str(&sql));
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        rc = store_pg_failed(s, "creating the database", PQresultErrorMessage(r), e);
    PQclear(r);
    strbuf_fini(&sql);
    PQfreemem(name);
    return rc;
}

static bool is_missing(struct store_pg *s, PGconn *admin)
{
    const char *value[] = {s->database};
    PGresult *r =
        PQexecParams(admin, "SELECT 1 FROM pg_database WHERE datname = $1", 1, NULL, value, NULL, NULL, 0);
    bool missing = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 0;

    PQclear(r);
    return missing;
}

/* The database may not exist yet: then the cluster's default database answers, and creates it. */
static int create_if_missing(struct store_pg *s, struct err *e)
{
    PGconn *admin = store_pg_connect_to(s, "postgres");
    int rc = -1;

    if (PQstatus(admin) == CONNECTION_OK && is_missing(s, admin))
        rc = create_in(s, admin, e);
    PQfinish(admin);
    return rc;
}

struct store *store_pg_open(const struct store_where *w, struct err *e)
{
    struct store_pg *s = calloc(1, sizeof *s);

    if (!s) {
        err_set(e, PBSE_SYSTEM, "no memory for the store");
        return NULL;
    }
    s->base.class = &pg_class;
    if (set_options(s, w, e) < 0)
        goto fail;
    if (need_connection(s, e) < 0 &&
        (w->existing || create_if_missing(s, e) < 0 || need_connection(s, e) < 0))
        goto fail;
    return &s->base;
fail:
    store_pg_close(&s->base);
    return NULL;
}
