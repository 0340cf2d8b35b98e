/* One connection, each piece asked for when the one before is written.
 *
 * Two things end the patience: nothing has been heard of the other host for LIMIT_MS (an open connection is heard, however
 * long it packs), or it was tried TRIES_MAX times without a piece, since a host that answers may be one whose run before does not
 * end, or that falls each time it is asked. */
#include "sis_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sis.h>

#include "clock.h"
#include "conf.h"
#include "file.h"
#include "loop.h"
#include "mom.h"
#include "pbs_error.h"
#include "revoked.h"
#include "rpc_conn.h"
#include "mom_run.h"

/* LIMIT_MS: a choice; a host that is not heard for so long, or does not open a connection in that time, is given up, since a job waits.
 * TRIES_MAX: two minutes of tries, for a host that answers and each time puts off without a piece. */
enum { LIMIT_MS = 10000, AGAIN_MS = 500, TRIES_MAX = 240, ADDRESS_MAX = 300 };

struct sis_fetch {
    struct mom *m;
    const struct run *run;
    struct sis_fetch_spec spec;
    struct sis_fetch **owner; /* to be cleared when it frees itself */
    struct rpc_conn *conn;
    struct loop_timer *timer;
    char service[PBS_NAME_MAX + 1], address[ADDRESS_MAX];
    char key[PBS_NAME_MAX + 1];
    int64_t heard_mono_ms; /* of the other host; only what is older than a connection that is open counts */
    int tries;             /* since the last piece */
    size_t file;
    int fd;
    uint64_t got;
    bool is_open, arrived;
};

static void close_file(struct sis_fetch *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
}

void sis_fetch_stop(struct sis_fetch *b)
{
    if (!b)
        return;
    rpc_conn_destroy(b->conn);
    loop_timer_destroy(b->timer);
    close_file(b);
    free(b);
}

const char *sis_fetch_service(const struct sis_fetch *b)
{
    return b->service;
}

static void sis_fetch_leave(struct sis_fetch *b)
{
    if (b->owner)
        *b->owner = NULL;
    sis_fetch_stop(b);
}

/* ---- the end */
static void sis_fetch_give_up(struct sis_fetch *b, int code, const char *text)
{
    struct err why = {0};

    err_set(&why, code, "%s", text);
    close_file(b);
    b->spec.over(b->spec.arg, &why);
}

static void sis_fetch_retry(struct sis_fetch *b, const char *why)
{
    close_file(b);
    rpc_conn_destroy(b->conn);
    b->conn = NULL;
    if (b->is_open)
        b->heard_mono_ms = clock_real_mono_ms();
    b->is_open = false;
    if (++b->tries < TRIES_MAX && clock_real_mono_ms() - b->heard_mono_ms < LIMIT_MS)
        loop_timer_set(b->timer, AGAIN_MS);
    else
        sis_fetch_give_up(b, PBSE_SISCOMM, why);
}

/* ---- pieces */
static void sis_fetch_ask(struct sis_fetch *b);

static int take_piece(struct sis_fetch *b, const sis_fetch_result *res, struct err *e)
{
    b->tries = 0;
    if (res->bytes.bytes_len && b->fd < 0 && (b->fd = b->spec.make(b->spec.arg, b->file, e)) < 0)
        return -1;
    if (res->bytes.bytes_len && file_write_all(b->fd, res->bytes.bytes_val, res->bytes.bytes_len, e) < 0)
        return -1;
    b->got += res->bytes.bytes_len;
    if (res->bytes.bytes_len && b->got < res->size)
        return 0;
    close_file(b);
    b->file++;
    b->got = 0;
    return 0;
}

static void sis_fetch_on_piece(void *arg, const struct rpc_outcome *out)
{
    struct sis_fetch *b = arg;
    const sis_fetch_result *res = out->result;
    struct err e = {0};

    if (out->status != RPC_ST_OK) {
        sis_fetch_retry(b, "the connection was lost");
    } else if (res->code == PBSE_TRYAGAIN) {
        sis_fetch_retry(b, res->text);
    } else if (res->code) {
        sis_fetch_give_up(b, res->code, res->text); /* a later try would have the same result */
    } else if (take_piece(b, res, &e) < 0) {
        sis_fetch_give_up(b, PBSE_SYSTEM, e.text);
    } else if (b->file < b->spec.n_files) {
        sis_fetch_ask(b);
    } else {
        b->arrived = true;
        b->spec.over(b->spec.arg, NULL);
    }
}

/* Taken back while the files come: no further piece is taken from there, and no new connection opens. */
static bool is_revoked(const struct sis_fetch *b)
{
    return revoked_has(revoked_of(b->m->tls), rpc_conn_peer(b->conn)->serial);
}

static int call(struct sis_fetch *b, bool done, rpc_outcome_fn *fn)
{
    const struct run *r = b->run;
    sis_fetch_args a = {.job = run_job(r),
                        .id = r->id,
                        .store = r->start.store,
                        .key = b->key,
                        .file = (char *)b->spec.files[done ? 0 : b->file],
                        .offset = b->got,
                        .done = done};
    const struct rpc_call_spec spec = {.id = {PBS_SIS_PROG, PBS_SIS_V1, SIS_FETCH},
                                       .xargs = (xdrproc_t)xdr_sis_fetch_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_sis_fetch_result,
                                       .res_size = sizeof(sis_fetch_result)};

    return b->conn && !is_revoked(b) ? rpc_conn_call(b->conn, &spec, fn, b, NULL) : -1;
}

static void sis_fetch_ask(struct sis_fetch *b)
{
    if (call(b, false, sis_fetch_on_piece) < 0)
        sis_fetch_retry(b, "the connection was lost");
}

static void sis_fetch_on_confirmed(void *arg, const struct rpc_outcome *out)
{
    sis_fetch_leave(arg);
}

void sis_fetch_confirm(struct sis_fetch *b, struct sis_fetch **at)
{
    b->owner = at;
    if (call(b, true, sis_fetch_on_confirmed) < 0)
        sis_fetch_leave(b);
}

/* ---- the connection */
static void sis_fetch_on_opened(void *arg, struct rpc_conn *c)
{
    struct sis_fetch *b = arg;

    b->is_open = true;
    b->file = 0;
    b->got = 0;
    sis_fetch_ask(b);
}

static void sis_fetch_on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct sis_fetch *b = arg;

    if (!b->arrived && b->conn)
        sis_fetch_retry(b, why->text[0] ? why->text : "it has closed the connection");
    else if (b->owner)
        sis_fetch_leave(b);
}

static void sis_fetch_connect_now(void *arg)
{
    static const struct rpc_conn_events events = {.opened = sis_fetch_on_opened,
                                                  .closed = sis_fetch_on_closed};
    struct sis_fetch *b = arg;
    const struct rpc_conn_options o = {.open_limit_ms = LIMIT_MS,
                                       .ping_prog = PBS_SIS_PROG,
                                       .ping_vers = PBS_SIS_V1,
                                       .events = &events,
                                       .arg = b};
    char host[ADDRESS_MAX];
    struct rpc_conn_target t = {.address = host, .tls = b->m->tls, .expect = b->service};
    struct err e = {0};

    if (strcmp(b->address, "-") == 0) {
        sis_fetch_give_up(b, PBSE_SISCOMM, "which is away");
        return;
    }
    if (conf_split_host(b->address, host, sizeof host, &t.port, 0, &e) == 0)
        b->conn = rpc_conn_connect(b->m->loop, &t, &o, &e);
    if (!b->conn)
        sis_fetch_retry(b, e.text);
}

struct sis_fetch *sis_fetch_begin(struct mom *m, const struct run *r, const struct sis_fetch_spec *spec,
                                  struct err *e)
{
    const char *blank = strchr(spec->from, ' ');
    struct sis_fetch *b = calloc(1, sizeof *b);
    int n_key;
    const char *key = run_files_key(r, &n_key);

    if (b) {
        *b = (struct sis_fetch){
            .m = m, .run = r, .spec = *spec, .fd = -1, .heard_mono_ms = clock_real_mono_ms()};
        snprintf(b->service, sizeof b->service, "%.*s", (int)(blank ? blank - spec->from : 0), spec->from);
        snprintf(b->address, sizeof b->address, "%s", blank ? blank + 1 : "-");
        b->address[strcspn(b->address, " ")] = '\0';
        snprintf(b->key, sizeof b->key, "%.*s", n_key, key);
        b->timer = loop_timer_create(m->loop, LOOP_REAL, sis_fetch_connect_now, b);
    }
    if (!b || !b->timer) {
        free(b);
        err_set(e, PBSE_SYSTEM, "no memory for what job %s has left elsewhere", r->id);
        return NULL;
    }
    loop_timer_set(b->timer, 0);
    return b;
}
