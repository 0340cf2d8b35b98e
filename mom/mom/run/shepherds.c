/* One struct for each shepherd, on its run. Its life: started (by the zygote or as a program, with one end of a socket pair) or
 * found after a restart (by the socket in the run's directory); HELLO; orders and news; its connection or its process ends.
 *
 * Three signs tell of a shepherd: its lock on the run's directory (rundir_is_held), its connection, and, where it was started as
 * a program, its process. They end in any order, some milliseconds apart. So each change only calls shepherds_check, which looks
 * at all three: a shepherd is lost when none is left and no end is recorded. Records are read before that is decided, since a
 * shepherd writes its end and then leaves. A record is told once, whether it comes as NEWS or is read from the directory.
 *
 * A connection that ends answers each order under way with RPC_ST_LOST; shepherd_orders.c says what the callers hear. The orders
 * themselves are there, and the delivery of files is in shepherd_close.c. */
#include "shepherds.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "zygote_link.h"
#include "rpc_conn.h"
#include "mom_run.h"
#include "rundir.h"
#include "shepherds_private.h"
#include "spawn.h"
#include "strbuf.h"

/* AGAIN_MS: the pause before a socket is tried again that did not answer. A shepherd that has just been started listens within
 * milliseconds; on a host under load it may take longer, and then costs some more tries. */
enum { AGAIN_MS = 200, PATH_LEN_MAX = 8192 };

/* ---- records */
static void copy_end(struct run *r, const struct shep_ended *d)
{
    free(r->ended_record.text);
    r->ended_record = *d;
    r->ended_record.text = strdup(d->text);
    r->usage = d->usage;
}

static void shepherds_see_record(void *arg, void *item)
{
    struct run *r = arg;
    const struct shep_record *rec = item;

    if (rec->kind == SHEP_RECORD_STARTED) {
        r->started_record = rec->shep_record_u.started;
        r->started = true;
    } else if (rec->kind == SHEP_RECORD_ENDED) {
        copy_end(r, &rec->shep_record_u.ended);
        r->ended = true;
    }
}

/* Call the hooks for records that are new. No hook here may drop the run: its release is not reported yet. */
static void shepherds_tell_new(struct shepherds *s, struct run *r, bool started, bool ended)
{
    if (!started && r->started)
        s->hooks.started(s->hooks.arg, r);
    if (!ended && r->ended)
        s->hooks.ended(s->hooks.arg, r);
}

static void read_records(struct shepherds *s, struct run *r)
{
    bool started = r->started, ended = r->ended;
    struct err e = {0};

    if (rundir_records_read(r->path, (xdrproc_t)xdr_shep_record, sizeof(struct shep_record),
                            shepherds_see_record, r, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: the records of its shepherd cannot be read", r->key.run);
    shepherds_tell_new(s, r, started, ended);
}

static void shepherds_on_news(void *arg, struct rpc_request *req);

static void shepherds_on_peer(void *arg, struct rpc_request *req);

static void shepherds_on_hook(void *arg, struct rpc_request *req);

static void shepherds_on_notice_reply(void *arg, struct rpc_request *req);

static void shepherds_on_declare(void *arg, struct rpc_request *req);

static void shepherds_on_task_news(void *arg, struct rpc_request *req);

static const struct rpc_proc procs[] = {
    {SHEP_TASK_NEWS, "TASK_NEWS", (xdrproc_t)xdr_shep_task_news, sizeof(struct shep_task_news), NULL,
     shepherds_on_task_news},
    {SHEP_NEWS, "NEWS", (xdrproc_t)xdr_shep_record, sizeof(struct shep_record), NULL, shepherds_on_news},
    {SHEP_PEER, "PEER", (xdrproc_t)xdr_shep_letter_args, sizeof(struct shep_letter_args),
     (xdrproc_t)xdr_shep_letter_result, shepherds_on_peer},
    {SHEP_HOOK, "HOOK", (xdrproc_t)xdr_shep_hook_args, sizeof(struct shep_hook_args),
     (xdrproc_t)xdr_shep_hook_result, shepherds_on_hook},
    {SHEP_NOTICE_REPLY, "NOTICE_REPLY", (xdrproc_t)xdr_shep_notice_reply, sizeof(struct shep_notice_reply),
     NULL, shepherds_on_notice_reply},
    {SHEP_DECLARE, "DECLARE", (xdrproc_t)xdr_shep_declared, sizeof(struct shep_declared), NULL,
     shepherds_on_declare},
};

/* What hangs on the connection of a shepherd: its struct. */
static const struct rpc_conn_tag shepherd_tag = {.name = "shepherd"};

/* Its socket lies in the directory of the run, which is root's (ours in a private complex). */
static bool shepherds_is_shepherd(const struct auth_peer *p)
{
    return p->kind == AUTH_LOCAL && (p->uid == 0 || p->uid == geteuid());
}

static const struct rpc_program program = {.prog = PBS_SHEP_PROG,
                                           .vers = PBS_SHEP_V1,
                                           .name = "shepherd",
                                           .procs = procs,
                                           .n_procs = sizeof procs / sizeof procs[0],
                                           .serves = shepherds_is_shepherd};

/* ---- life */
struct shepherds *shepherds_create(struct loop *l, const struct home *h, const struct shepherds_hooks *hooks)
{
    struct shepherds *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->loop = l;
    s->home = h;
    s->zygote = zygote_link_create(l, h);
    s->hooks = *hooks;
    s->served[0] = (struct rpc_served){&program, s};
    if (s->zygote)
        return s;
    free(s);
    return NULL;
}

void shepherds_destroy(struct shepherds *s)
{
    if (s)
        zygote_link_destroy(s->zygote);
    free(s);
}

static void shepherds_check(struct shepherd *sh);

static void shepherds_on_retry(void *arg)
{
    shepherds_check(arg);
}

static struct shepherd *attach(struct shepherds *s, struct run *r)
{
    struct shepherd *sh = r->shepherd;

    if (sh)
        return sh;
    sh = calloc(1, sizeof *sh);
    if (!sh)
        return NULL;
    sh->all = s;
    sh->run = r;
    sh->errand_out = -1;
    sh->again = loop_timer_create(s->loop, LOOP_REAL, shepherds_on_retry, sh);
    if (!sh->again) {
        free(sh);
        return NULL;
    }
    r->shepherd = sh;
    return sh;
}

static void shepherds_drop_link(struct run *r, void (*drop)(struct spawn *s))
{
    struct shepherd *sh = r->shepherd;

    if (!sh)
        return;
    r->shepherd = NULL;
    shepherd_forget_orders(sh);
    rpc_conn_destroy(sh->conn);
    drop(sh->process);
    drop(sh->errand);
    loop_timer_destroy(sh->again);
    if (sh->errand_out >= 0)
        close(sh->errand_out);
    if (sh->has_closing)
        xdr_free((xdrproc_t)xdr_shep_close_args, &sh->closing);
    free(sh->notice.text);
    free(sh);
}

void shepherds_let_go(struct run *r)
{
    shepherds_drop_link(r, spawn_destroy);
}

void shepherds_leave(struct run *r)
{
    shepherds_drop_link(r, spawn_leave);
}

static void shepherds_on_process_end(void *arg, int status)
{
    struct shepherd *sh = arg;

    spawn_destroy(sh->process);
    sh->process = NULL;
    shepherds_check(sh);
}

static void shepherds_on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct shepherd *sh = arg;

    bool was_open = sh->open;

    rpc_conn_destroy(c);
    sh->conn = NULL;
    sh->open = false;
    sh->close_said = false;
    if (was_open)
        shepherds_check(sh);
    else
        loop_timer_set(sh->again, AGAIN_MS);
}

static void shepherds_on_opened(void *arg, struct rpc_conn *c);

static const struct rpc_conn_events conn_events = {.opened = shepherds_on_opened,
                                                   .closed = shepherds_on_closed};

static struct rpc_conn_options conn_options(struct shepherd *sh)
{
    return (struct rpc_conn_options){.served = sh->all->served,
                                     .keepalive_ms = -1, /* a shepherd may be busy delivering */
                                     .ping_prog = PBS_SHEP_PROG,
                                     .ping_vers = PBS_SHEP_V1,
                                     .events = &conn_events,
                                     .arg = sh};
}

static int spawn_it(struct shepherd *sh, int theirs, struct err *e)
{
    char verb[] = "hold", fd[] = "3         "; /* room for a word about its job (shep_title.h) */
    char *argv[] = {sh->all->home->shepherd, verb, sh->run->path, fd, NULL};
    const int fds[] = {-1, -1, -1, theirs};
    const struct spawn_options o = spawn_own(argv, fds, 4);

    sh->process = spawn_start(sh->all->loop, &o, shepherds_on_process_end, sh, e);
    return sh->process ? 0 : -1;
}

int shepherds_start(struct shepherds *s, struct run *r, struct err *e)
{
    struct shepherd *sh = attach(s, r);
    struct rpc_conn_options o;
    int pair[2], rc;

    if (!sh)
        return err_set(e, ENOMEM, "no memory for the shepherd of job %s", r->id);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, errno, "cannot make a socket for the shepherd of job %s", r->id);
    rc = zygote_link_ask(s->zygote, r->path, pair[1]);
    sh->by_zygote = rc == 0;
    if (rc < 0)
        rc = spawn_it(sh, pair[1], e);
    close(pair[1]);
    if (rc < 0) {
        close(pair[0]);
        return err_prefix(e, "cannot start the shepherd of job %s", r->id);
    }
    o = conn_options(sh);
    sh->conn = rpc_conn_adopt(s->loop, pair[0], &o, e);
    sh->open = sh->conn != NULL;
    if (sh->conn)
        rpc_conn_set_user(sh->conn, &shepherd_tag, sh);
    shepherds_update(sh->run);
    shepherd_say_terminate(sh);
    return 0; /* without a connection: it will be found by its socket */
}

/* ---- finding it again */
/* A MOM that was killed between an order and its outcome: what the journal says is made true, and the server, which has
 * heard nothing, asks again. */
static void agree_on_suspension(struct shepherd *sh, const struct shep_hello_result *said)
{
    bool ours = sh->run->slot.state == RUN_SUSPENDED;

    if (said->ended || ours == (bool)said->suspended)
        return;
    log_event(LOGC_JOB, LOGE_DEBUG, sh->run->id,
              "its shepherd has the job %s, the journal says %s: that is ordered again",
              said->suspended ? "suspended" : "running", ours ? "suspended" : "running");
    if (ours)
        shepherds_suspend(sh->run, NULL, NULL);
    else
        shepherds_resume(sh->run, NULL, NULL);
}

static void shepherds_on_hello(void *arg, const struct rpc_outcome *out)
{
    struct shepherd *sh = arg;

    if (out->status != RPC_ST_OK)
        return; /* `closed` follows */
    sh->open = true;
    agree_on_suspension(sh, out->result);
    if (sh->run->ckpt.interrupted) /* the tool of the checkpoint may have stopped it */
        shepherds_continue(sh->run, NULL, NULL);
    shepherd_say_attempt(sh);
    read_records(sh->all, sh->run);
    shepherds_update(sh->run);
    shepherd_say_notice(sh);
    shepherd_say_terminate(sh);
    shepherd_say_close(sh);
}

static void shepherds_on_opened(void *arg, struct rpc_conn *c)
{
    struct shepherd *sh = arg;
    char none[1] = "";
    struct shep_hello_args a = {.protocol = SHEP_VERSION, .ext = {0, none}};
    const struct rpc_call_spec spec = {.id = {PBS_SHEP_PROG, PBS_SHEP_V1, SHEP_HELLO},
                                       .xargs = (xdrproc_t)xdr_shep_hello_args,
                                       .args = &a,
                                       .xres = (xdrproc_t)xdr_shep_hello_result,
                                       .res_size = sizeof(struct shep_hello_result)};

    rpc_conn_call(c, &spec, shepherds_on_hello, sh, NULL);
}

static void shepherds_connect_to(struct shepherd *sh)
{
    struct rpc_conn_options o = conn_options(sh);
    struct strbuf path;
    struct rpc_conn_target t = {0};
    struct err e = {0};

    assert(!sh->conn); /* a second one would outlive the first one's end */
    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/" RUNDIR_SOCKET, sh->run->path);
    t.unix_path = path.s;
    sh->conn = rpc_conn_connect(sh->all->loop, &t, &o, &e);
    if (sh->conn)
        rpc_conn_set_user(sh->conn, &shepherd_tag, sh);
    else
        loop_timer_set(sh->again, AGAIN_MS);
    strbuf_fini(&path);
}

/* Called after any change of a shepherd: look whether it is there, whether it has reported the end, and whether it has
 * gone. */
static void shepherds_check(struct shepherd *sh)
{
    struct run *r = sh->run;
    bool held = rundir_is_held(r->path);

    read_records(sh->all, r);
    if (r->shepherd != sh)
        return;
    if (held) {
        if (!sh->conn && !sh->leaving)
            shepherds_connect_to(sh);
        return;
    }
    if (sh->conn)
        return; /* it has not begun, or its end is about to be told */
    if (sh->process) {
        loop_timer_set(sh->again, AGAIN_MS);
        return;
    }
    if (sh->by_zygote && !r->started && !r->ended)
        zygote_link_distrust(sh->all->zygote);
    if (sh->has_closing && !sh->errand)
        shepherd_close_by_errand(sh);
    else if (!r->ended)
        sh->all->hooks.lost(sh->all->hooks.arg, r);
}

bool shepherds_find(struct shepherds *s, struct run *r)
{
    struct shepherd *sh;

    read_records(s, r);
    if (!rundir_is_held(r->path))
        return false;
    sh = attach(s, r);
    if (!sh)
        return false;
    if (!sh->conn) /* what the records told may have closed the run already, and that speaks to it */
        shepherds_connect_to(sh);
    return true;
}

static void shepherds_on_news(void *arg, struct rpc_request *req)
{
    struct shepherds *s = arg;
    struct rpc_conn *c = rpc_request_conn(req);
    struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;
    struct run *r = sh ? sh->run : NULL;
    bool started, ended;

    rpc_reply(req, (xdrproc_t)rpc_buf_xdr_none, NULL);
    if (!r)
        return;
    started = r->started;
    ended = r->ended;
    shepherds_see_record(r, rpc_request_args(req));
    shepherds_tell_new(s, r, started, ended);
}

static void shepherds_on_peer(void *arg, struct rpc_request *req)
{
    const struct shepherds *s = arg;
    struct rpc_conn *c = rpc_request_conn(req);
    struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;

    if (sh)
        s->hooks.letter(s->hooks.arg, sh->run, req);
    else
        rpc_reply_error(req, RPC_ST_SYSTEM_ERR);
}

static void shepherds_on_hook(void *arg, struct rpc_request *req)
{
    const struct shepherds *s = arg;
    struct rpc_conn *c = rpc_request_conn(req);
    struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;

    if (sh)
        s->hooks.task(s->hooks.arg, sh->run, req);
    else
        rpc_reply_error(req, RPC_ST_SYSTEM_ERR);
}

/* Answer the shepherd when its news is stored; until then it repeats it. */
static void shepherds_on_notice_reply(void *arg, struct rpc_request *req)
{
    const struct shepherds *s = arg;
    struct rpc_conn *c = rpc_request_conn(req);
    struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;

    if (sh)
        s->hooks.notice_reply(s->hooks.arg, sh->run, rpc_request_args(req));
    rpc_reply(req, (xdrproc_t)rpc_buf_xdr_none, NULL);
}

static void shepherds_on_declare(void *arg, struct rpc_request *req)
{
    const struct shepherds *s = arg;
    struct rpc_conn *c = rpc_request_conn(req);
    struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;

    if (sh)
        s->hooks.declared(s->hooks.arg, sh->run, rpc_request_args(req));
    rpc_reply(req, (xdrproc_t)rpc_buf_xdr_none, NULL);
}

static void tell_task(const struct run *r, const struct shep_task_news *n)
{
    if (!n->pid)
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "task %08X terminated", n->id);
    else if (n->attached)
        log_event(LOGC_JOB, LOGE_JOB, r->id, "pid %d sid %d cmd %s attached as task %08X", n->pid, n->session,
                  n->text, n->id);
    else
        log_event(LOGC_JOB, LOGE_JOB, r->id, "task %08X started, %s", n->id, n->text);
}

static void shepherds_on_task_news(void *arg, struct rpc_request *req)
{
    struct rpc_conn *c = rpc_request_conn(req);
    const struct shepherd *sh = c ? rpc_conn_user(c, &shepherd_tag) : NULL;

    if (sh)
        tell_task(sh->run, rpc_request_args(req));
    rpc_reply(req, (xdrproc_t)rpc_buf_xdr_none, NULL);
}

/* ---- closing it */
void shepherds_close(struct shepherds *s, struct run *r, struct shep_close_args *a, shepherds_closed_fn *fn,
                     void *arg)
{
    struct shepherd *sh = attach(s, r);
    char text[] = "no memory to deliver its files, they stay in the spool";
    const struct shep_close_result none = {.failed = 1, .text = text};

    if (!sh) {
        xdr_free((xdrproc_t)xdr_shep_close_args, a);
        fn(arg, r, &none);
        return;
    }
    sh->closing = *a;
    sh->has_closing = true;
    sh->closed = fn;
    sh->closed_arg = arg;
    if (!shepherd_say_close(sh))
        shepherds_check(sh);
}
