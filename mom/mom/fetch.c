/* One connection for one run, to the address in START: the two files one after the other, each piece asked for when the
 * one before is written. Whatever goes wrong is tried again from the beginning, until the time is over. The other host
 * removes nothing before fetch_confirm, when the journal says that all is here; a MOM that dies before that begins anew.
 *
 * Files are made in the spool, for the owner, under names that nobody else can have taken (O_EXCL). */
#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>
#include <sis.h>

#include "clock.h"
#include "conf.h"
#include "file.h"
#include "home.h"
#include "log.h"
#include "loop.h"
#include "outputs.h"
#include "parts.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "run.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, LIMIT_MS = 10000, AGAIN_MS = 500, ADDRESS_MAX = 300, N_FILES = 2 };

struct fetch {
    struct parts *m;
    struct run *run;
    struct rpc_conn *conn;
    struct loop_timer *timer;
    fetch_fn *fn;
    char service[PBS_NAME_MAX + 1], address[ADDRESS_MAX];
    char key[PBS_NAME_MAX + 1];
    int64_t begin_mono_ms;
    int file, fd;
    uint64_t got;
    bool arrived;
    char why[ERR_TEXT_MAX];
};

static const char *const files[N_FILES] = {"OU", "ER"};

bool fetch_is_wanted(const struct run *r)
{
    return !r->fetched && r->start.last_host[0] && !run_is_sister(r);
}

bool fetch_is_under_way(const struct run *r)
{
    return r->fetching && !r->fetching->arrived;
}

static void close_file(struct fetch *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

void fetch_stop(struct run *r)
{
    struct fetch *f = r->fetching;

    if (!f)
        return;
    r->fetching = NULL;
    rpc_conn_destroy(f->conn);
    loop_timer_destroy(f->timer);
    close_file(f);
    free(f);
}

/* ---- files */
static int make_file(const struct fetch *f, const char *suffix, struct err *e)
{
    const struct run *r = f->run;
    struct strbuf path;
    int fd;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/%s.%s", f->m->home.spool, r->id, suffix);
    unlink(strbuf_str(&path));
    fd = open(strbuf_str(&path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || (geteuid() == 0 && fchown(fd, (uid_t)strtoul(r->owner_uid, NULL, 10),
                                            (gid_t)strtoul(r->owner_gid, NULL, 10)) < 0)) {
        err_errno(e, errno, "cannot write %s", path.s);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    strbuf_fini(&path);
    return fd;
}

/* Into what will be the job's error file. */
static void say_missing(struct fetch *f)
{
    struct strbuf text;
    struct err e = {0};
    int fd = make_file(f, outputs_error_suffix(f->run), &e);

    strbuf_init(&text, PATH_LEN_MAX);
    strbuf_addf(&text, "=>> PBS: what this job had written before is missing: it is on %s, %s\n", f->service,
                f->why);
    log_event(LOGC_JOB, LOGE_ERROR, f->run->id, "%.*s", (int)(text.len - 1), text.s);
    if (fd < 0 || file_write_all(fd, text.s, text.len, &e) < 0)
        log_err(LOGC_JOB, f->run->id, &e, "fetch");
    if (fd >= 0)
        close(fd);
    strbuf_fini(&text);
}

/* ---- the end */
static void give_up(struct fetch *f)
{
    struct run *r = f->run;
    struct parts *m = f->m;
    fetch_fn *fn = f->fn;

    close_file(f);
    say_missing(f);
    fetch_stop(r);
    fn(m, r);
}

static void again(struct fetch *f, const char *why)
{
    snprintf(f->why, sizeof f->why, "%s", why);
    close_file(f);
    rpc_conn_destroy(f->conn);
    f->conn = NULL;
    if (clock_real_mono_ms() - f->begin_mono_ms < LIMIT_MS)
        loop_timer_set(f->timer, AGAIN_MS);
    else
        give_up(f);
}

/* ---- pieces */
static void ask(struct fetch *f);

static int take_piece(struct fetch *f, const sis_fetch_result *res, struct err *e)
{
    if (res->bytes.bytes_len && f->fd < 0 && (f->fd = make_file(f, files[f->file], e)) < 0)
        return -1;
    if (res->bytes.bytes_len && file_write_all(f->fd, res->bytes.bytes_val, res->bytes.bytes_len, e) < 0)
        return -1;
    f->got += res->bytes.bytes_len;
    if (res->bytes.bytes_len && f->got < res->size)
        return 0;
    close_file(f);
    f->file++;
    f->got = 0;
    return 0;
}

static void on_piece(void *arg, const struct rpc_outcome *out)
{
    struct fetch *f = arg;
    const sis_fetch_result *res = out->result;
    struct err e = {0};

    if (out->status != RPC_ST_OK) {
        again(f, "the connection was lost");
    } else if (res->code) {
        f->begin_mono_ms -= LIMIT_MS; /* it will not be otherwise in a moment */
        again(f, res->text);
    } else if (take_piece(f, res, &e) < 0) {
        again(f, e.text);
    } else if (f->file < N_FILES) {
        ask(f);
    } else {
        log_event(LOGC_JOB, LOGE_DEBUG, f->run->id, "fetched the output of the run before from %s",
                  f->service);
        f->arrived = true;
        f->fn(f->m, f->run);
    }
}

static int call(struct fetch *f, bool done, rpc_outcome_fn *fn)
{
    struct run *r = f->run;
    sis_fetch_args a = {.job = run_job(r),
                        .id = r->id,
                        .store = r->start.store,
                        .key = f->key,
                        .file = (char *)files[done ? 0 : f->file],
                        .offset = f->got,
                        .done = done};
    const struct rpc_call_spec spec = {.id = {PBS_SIS_PROG, PBS_SIS_V1, SIS_FETCH},
                                       .xargs = (xdrproc_t)xdr_sis_fetch_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_sis_fetch_result,
                                       .res_size = sizeof(sis_fetch_result)};

    return f->conn ? rpc_conn_call(f->conn, &spec, fn, f, NULL) : -1;
}

static void ask(struct fetch *f)
{
    if (call(f, false, on_piece) < 0)
        again(f, "the connection was lost");
}

static void on_confirmed(void *arg, const struct rpc_outcome *out)
{
    struct fetch *f = arg;

    (void)out;
    fetch_stop(f->run);
}

void fetch_confirm(struct run *r)
{
    if (r->fetching && call(r->fetching, true, on_confirmed) < 0)
        fetch_stop(r);
}

/* ---- the connection */
static void on_opened(void *arg, struct rpc_conn *c)
{
    struct fetch *f = arg;

    (void)c;
    f->file = 0;
    f->got = 0;
    ask(f);
}

static void on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct fetch *f = arg;

    (void)c;
    if (f->arrived)
        fetch_stop(f->run);
    else if (f->conn)
        again(f, why->text[0] ? why->text : "it has closed the connection");
}

static void connect_now(void *arg)
{
    static const struct rpc_conn_events events = {.opened = on_opened, .closed = on_closed};
    struct fetch *f = arg;
    const struct rpc_conn_options o = {.open_limit_ms = LIMIT_MS,
                                       .ping_prog = PBS_SIS_PROG,
                                       .ping_vers = PBS_SIS_V1,
                                       .events = &events,
                                       .arg = f};
    char host[ADDRESS_MAX];
    struct rpc_conn_target t = {.address = host, .tls = f->m->tls, .expect = f->service};
    struct err e = {0};

    if (strcmp(f->address, "-") == 0) {
        snprintf(f->why, sizeof f->why, "which is away");
        give_up(f);
        return;
    }
    if (conf_split_host(f->address, host, sizeof host, &t.port, 0, &e) == 0)
        f->conn = rpc_conn_connect(f->m->loop, &t, &o, &e);
    if (!f->conn)
        again(f, e.text);
}

int fetch_begin(struct parts *m, struct run *r, fetch_fn *fn, struct err *e)
{
    const char *blank = strchr(r->start.last_host, ' ');
    struct fetch *f = calloc(1, sizeof *f);
    int n_key;
    const char *key = run_files_key(r, &n_key);

    if (!f)
        return err_set(e, PBSE_SYSTEM, "no memory for the output of job %s", r->id);
    *f = (struct fetch){.m = m, .run = r, .fn = fn, .fd = -1, .begin_mono_ms = clock_real_mono_ms()};
    snprintf(f->service, sizeof f->service, "%.*s", (int)(blank ? blank - r->start.last_host : 0),
             r->start.last_host);
    snprintf(f->address, sizeof f->address, "%s", blank ? blank + 1 : "-");
    snprintf(f->key, sizeof f->key, "%.*s", n_key, key);
    f->timer = loop_timer_create(m->loop, LOOP_REAL, connect_now, f);
    r->fetching = f;
    if (!f->timer) {
        fetch_stop(r);
        return err_set(e, PBSE_SYSTEM, "no memory for the output of job %s", r->id);
    }
    connect_now(f);
    return 0;
}
