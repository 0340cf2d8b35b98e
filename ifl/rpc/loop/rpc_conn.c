/* A connection's life on the loop.
 *
 *   client  CONNECTING -> (ASKING -> SHAKING ->) OPEN -> ENDED
 *   server  STRANGER -> SHAKING -> OPEN -> ENDED, or OPEN at once when the kernel says who it is
 *
 * Memory is counted: the owner has one reference, so has each deferred call and each callback from below.
 * What ends the connection inside a callback ends it there; what ends it from above is deferred, so that
 * nobody's call returns to a connection that has gone. Output collects in the core and is written at the end
 * of an input or of the turn.
 */
#include "rpc_conn.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "loop.h"
#include "rpc_core.h"
#include "rpc_frame.h"
#include "rpc_plug.h"
#include "rpc_requests.h"
#include "stream.h"
#include "tls_loop.h"

enum { OPEN_LIMIT_MS = 30000, KEEPALIVE_MS = 60000 };
enum { OUT_HIGH = 256 << 10, OUT_LOW = 128 << 10, OUT_MAX = 256 << 20 };
enum { HELD_MAX = 256 << 10, REQUESTS_MAX = 16384, SCANS_AT_ONCE = 64 };

enum conn_state { CONNECTING, ASKING, STRANGER, SHAKING, OPEN, ENDED };

struct rpc_conn {
    struct loop *loop;
    enum conn_state state;
    unsigned refs;
    bool is_server, destroyed;
    bool in_data, dirty, closing, pulling, holding, upgrade, announced;
    struct rpc_conn_options o;
    struct rpc_conn_door door;
    struct rpc_conn *next, *prev; /* the server's list */
    struct stream *stream;
    struct rpc_core *core;
    struct rpc_requests requests;
    struct auth_peer *peer;
    struct loop_watch *watch; /* CONNECTING */
    int fd;                   /* CONNECTING: ours; later the stream's */
    struct loop_timer *timer;
    int64_t heard_mono_ms;
    struct ssl_ctx_st *tls; /* client: demanded */
    char *expect;
    struct rpc_pending asking;
    struct err why;
    void *user;
    void (*user_closed)(void *user, struct rpc_conn *c, const struct err *why);
};

static void end(struct rpc_conn *c, const struct err *why);
static void open_up(struct rpc_conn *c);

/* --- memory */

static void unref(struct rpc_conn *c)
{
    if (--c->refs)
        return;
    rpc_plug_free_context(c->tls);
    free(c->expect);
    rpc_core_destroy(c->core);
    auth_peer_unref(c->peer);
    free(c);
}

/* Run `fn` at the end of the turn, unless the connection has ended by then. -1: no memory. */
static int defer(struct rpc_conn *c, loop_fn *fn)
{
    c->refs++;
    if (loop_defer(c->loop, fn, c) == 0)
        return 0;
    c->refs--;
    return -1;
}

/* --- ending */

/* Let go of everything but memory. Calls under way are told only when `why` is given. */
static void release(struct rpc_conn *c, const struct err *why)
{
    c->state = ENDED;
    loop_timer_destroy(c->timer);
    c->timer = NULL;
    loop_watch_destroy(c->watch);
    c->watch = NULL;
    if (c->stream)
        stream_destroy(c->stream);
    else if (c->fd >= 0)
        close(c->fd);
    c->stream = NULL;
    c->fd = -1;
    rpc_core_fail(c->core, why);
    rpc_requests_die(&c->requests);
}

static void tell_closed(struct rpc_conn *c, const struct err *why)
{
    if (c->user_closed && !c->destroyed)
        c->user_closed(c->user, c, why);
    if (c->o.events && c->o.events->closed && !c->destroyed)
        c->o.events->closed(c->o.arg, c, why);
    if (c->door.hooks && !c->destroyed)
        c->door.hooks->gone(c->door.server, c, why);
}

static void end(struct rpc_conn *c, const struct err *why)
{
    struct err gone = *why;

    if (c->state == ENDED)
        return;
    if (!gone.code)
        err_set(&gone, ECONNRESET, "the peer has closed the connection");
    c->refs++;
    release(c, &gone);
    tell_closed(c, &gone);
    if (c->is_server && !c->destroyed) {
        c->destroyed = true;
        c->refs--; /* the server's; ours is still held */
    }
    unref(c);
}

/* A peer that breaks the protocol costs one log line. */
static void end_broken(struct rpc_conn *c, struct err *e)
{
    log_event(LOGC_TPP, LOGE_ERROR | LOGE_SECURITY, "rpc", "closing the connection of %s: %s", c->peer->from,
              e->text);
    end(c, e);
}

void rpc_conn_end(struct rpc_conn *c, const struct err *why)
{
    end(c, why);
}

void rpc_conn_destroy(struct rpc_conn *c)
{
    if (!c || c->destroyed)
        return;
    c->destroyed = true;
    if (c->state != ENDED)
        release(c, NULL);
    unref(c);
}

static void close_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    end(c, &c->why);
    unref(c);
}

void rpc_conn_close(struct rpc_conn *c, const struct err *why)
{
    if (c->state == ENDED || c->closing)
        return;
    c->closing = true;
    c->why = *why;
    rpc_core_stop(c->core, true);
    if (defer(c, close_deferred) < 0)
        stream_close_when_sent(c->stream, 0); /* no memory for a deferred call: the stream ends it */
}

/* --- output */

static void update_hold(struct rpc_conn *c)
{
    /* Daemons are never held: both sides of a connection could then wait for each other. */
    bool hold =
        c->peer->kind != AUTH_DAEMON &&
        (stream_is_full(c->stream) || rpc_core_held(c->core) > HELD_MAX || c->requests.n > REQUESTS_MAX);

    if (c->upgrade || hold == c->holding)
        return;
    c->holding = hold;
    stream_hold_input(c->stream, hold);
}

static int flush(struct rpc_conn *c, struct err *e)
{
    struct rpc_buf *out = rpc_core_output(c->core);
    int rc = 0;

    if (out->len)
        rc = stream_write(c->stream, out->bytes, out->len, e);
    rpc_buf_clear(out);
    return rc;
}

static void on_wake(struct rpc_conn *c)
{
    if (c->stream && c->pulling)
        stream_wake(c->stream);
}

static void wake_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    on_wake(c);
    unref(c);
}

/* A producer may look at much before it finds an entry: it is asked a few times, then in the next turn. */
static int pull_some(struct rpc_conn *c, bool *failed)
{
    int rc, i = 0;

    do
        rc = rpc_core_pull(c->core, failed);
    while (rc == 1 && !rpc_core_output(c->core)->len && ++i < SCANS_AT_ONCE);
    if (rc == 1 && !rpc_core_output(c->core)->len)
        *failed = defer(c, wake_deferred) < 0;
    return rc;
}

static int pull(void *arg)
{
    struct rpc_conn *c = arg;
    struct err e;
    bool failed;
    int rc = pull_some(c, &failed);

    if (failed)
        err_set(&e, EIO, "an answer to %s cannot be completed", c->peer->from);
    if (failed || flush(c, &e) < 0) {
        rpc_conn_close(c, &e);
        rc = 0;
    }
    c->pulling = rc != 0;
    update_hold(c);
    return rc;
}

/* Everything there is to send; may close. */
static void send_all(struct rpc_conn *c)
{
    struct err e;

    c->dirty = false;
    if (!c->stream || c->closing)
        return;
    if (flush(c, &e) < 0) {
        rpc_conn_close(c, &e);
        return;
    }
    if (!c->pulling && rpc_core_has_long(c->core)) {
        c->pulling = true;
        stream_pull(c->stream, pull, c);
    }
    update_hold(c);
}

static void send_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    send_all(c);
    unref(c);
}

static void touch(struct rpc_conn *c)
{
    if (c->dirty || c->in_data || !c->stream)
        return;
    c->dirty = true;
    if (defer(c, send_deferred) < 0)
        send_all(c);
}

static void on_answered(struct rpc_conn *c, const struct err *fatal)
{
    if (fatal)
        rpc_conn_close(c, fatal);
    else
        touch(c);
}

/* --- TLS, both ends */

static void on_tls_ready(void *arg, struct tls_loop *t)
{
    struct rpc_conn *c = arg;
    char *name = tls_loop_peer_name(t);
    struct err e;
    int rc;

    if (!name)
        rc = err_set(&e, EACCES, "%s showed no certificate", c->peer->from);
    else
        rc = auth_peer_set_role(c->peer, name, &e);
    if (rc == 0 && c->expect && strcmp(c->expect, name) != 0)
        rc = err_set(&e, EACCES, "%s is \"%s\", not \"%s\"", c->peer->from, name, c->expect);
    free(name);
    if (rc == 0)
        open_up(c);
    else
        rpc_conn_close(c, &e);
}

static void start_tls(struct rpc_conn *c)
{
    struct tls_loop_options o = {.ctx = c->is_server ? c->door.tls : c->tls,
                                 .side = c->is_server ? TLS_LOOP_SERVER : TLS_LOOP_CLIENT,
                                 .ready = on_tls_ready,
                                 .arg = c};
    struct err e;

    c->upgrade = false;
    c->state = SHAKING;
    rpc_core_stop(c->core, false);
    if (tls_loop_start(c->stream, &o, &e))
        stream_hold_input(c->stream, false);
    else
        rpc_conn_close(c, &e);
}

static void start_tls_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    if (c->stream && !c->closing)
        start_tls(c);
    unref(c);
}

/* Nothing more is read in the clear; the filter goes in when this input is done. */
static void begin_upgrade(struct rpc_conn *c)
{
    struct err e;

    c->upgrade = true;
    rpc_core_stop(c->core, true);
    stream_hold_input(c->stream, true);
    if (defer(c, start_tls_deferred) < 0) {
        err_set(&e, ENOMEM, "no memory for TLS");
        rpc_conn_close(c, &e);
    }
}

static void on_tls_offer(struct rpc_pending *p, const struct rpc_reply_hdr *r)
{
    struct rpc_conn *c = (struct rpc_conn *)((char *)p - offsetof(struct rpc_conn, asking));
    struct err e;

    if (rpc_msg_is_starttls(r)) {
        begin_upgrade(c);
        return;
    }
    err_set(&e, EPROTONOSUPPORT, "%s offers no TLS", c->peer->from);
    rpc_conn_close(c, &e);
}

static void on_tls_lost(struct rpc_pending *p, const struct err *why)
{
    (void)p;
    (void)why; /* `closed` says it */
}

static const struct rpc_pending_ops asking_ops = {.reply = on_tls_offer, .lost = on_tls_lost};

/* --- input */

/* In the clear: procedure 0, and the wish for TLS; nothing else. */
static void take_stranger(struct rpc_conn *c, const struct rpc_call_hdr *h)
{
    enum { AUTH_TOOWEAK = 5 };
    struct err e;
    int rc;

    if (h->id.proc == 0 && h->cred.flavour == RPC_AUTH_TLS && c->door.tls) {
        rc = rpc_core_reply_starttls(c->core, h->xid, &e);
        begin_upgrade(c);
    } else if (h->id.proc == 0 && h->cred.flavour == RPC_AUTH_TLS) {
        rc = rpc_core_reply_error(c->core, h->xid, RPC_ST_AUTH, AUTH_TOOWEAK, 0, &e);
    } else if (h->id.proc == 0) {
        rc = rpc_core_reply(c->core, h->xid, NULL, NULL, &e);
    } else {
        rc = rpc_core_reply_error(c->core, h->xid, RPC_ST_AUTH, AUTH_TOOWEAK, 0, &e);
    }
    if (rc < 0)
        rpc_conn_close(c, &e);
}

static void on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct rpc_conn *c = arg;

    if (c->door.hooks)
        c->door.hooks->called(c->door.server);
    if (c->state == OPEN)
        rpc_requests_call(&c->requests, h);
    else if (c->state == STRANGER)
        take_stranger(c, h);
}

static const struct rpc_core_events core_events = {.call = on_call};

static size_t on_data(void *arg, const void *bytes, size_t n)
{
    struct rpc_conn *c = arg;
    struct err e;
    ptrdiff_t used;

    if (c->upgrade || c->closing)
        return 0;
    c->refs++;
    c->heard_mono_ms = clock_real_mono_ms();
    c->in_data = true;
    used = rpc_core_input(c->core, bytes, n, &e);
    c->in_data = false;
    if (used >= 0 && c->upgrade && (size_t)used < n)
        used = err_set(&e, EBADMSG, "bytes in the clear before the TLS handshake");
    if (used < 0 && c->state != ENDED)
        end_broken(c, &e);
    else if (c->state != ENDED)
        send_all(c);
    unref(c);
    return n;
}

static void on_drained(void *arg)
{
    struct rpc_conn *c = arg;

    if (c->stream && !c->closing)
        update_hold(c);
}

static void on_stream_closed(void *arg, const struct err *why)
{
    struct rpc_conn *c = arg;

    end(c, c->closing ? &c->why : why);
}

static const struct stream_events stream_events = {
    .data = on_data, .drained = on_drained, .closed = on_stream_closed};

/* --- opening */

static int64_t keepalive_ms(const struct rpc_conn *c)
{
    return c->o.keepalive_ms ? c->o.keepalive_ms : KEEPALIVE_MS;
}

/* Silence: first ask whether it lives, then give up. */
static void check_silence(struct rpc_conn *c)
{
    const struct rpc_call_spec ping = {.id = {c->o.ping_prog, c->o.ping_vers, 0}};
    int64_t silent_ms = clock_real_mono_ms() - c->heard_mono_ms, every_ms = keepalive_ms(c);
    struct err e;

    if (silent_ms >= 2 * every_ms) {
        err_set(&e, ETIMEDOUT, "nothing was heard of %s for %lld s", c->peer->from,
                (long long)silent_ms / 1000);
        end(c, &e);
        return;
    }
    if (silent_ms >= every_ms)
        rpc_conn_call(c, &ping, NULL, NULL, NULL);
    loop_timer_set(c->timer, silent_ms >= every_ms ? 2 * every_ms - silent_ms : every_ms - silent_ms);
}

static void on_timer(void *arg)
{
    struct rpc_conn *c = arg;
    struct err e;

    c->refs++;
    if (c->state == OPEN) {
        check_silence(c);
    } else {
        err_set(&e, ETIMEDOUT, "%s did not say who it is in time", c->peer ? c->peer->from : "the peer");
        end(c, &e);
    }
    unref(c);
}

static int set_timer(struct rpc_conn *c, int64_t delay_ms)
{
    if (!c->timer)
        c->timer = loop_timer_create(c->loop, LOOP_REAL, on_timer, c);
    if (!c->timer)
        return -1;
    loop_timer_set(c->timer, delay_ms);
    return 0;
}

static void open_up(struct rpc_conn *c)
{
    c->state = OPEN;
    c->heard_mono_ms = clock_real_mono_ms();
    if (c->is_server && c->peer->kind == AUTH_DAEMON) {
        rpc_core_set_limit(c->core, c->door.daemon_limit);
        if (c->door.hooks)
            c->door.hooks->known(c->door.server, c);
    }
    if (keepalive_ms(c) > 0 && !(c->is_server && c->peer->kind == AUTH_LOCAL)) {
        set_timer(c, keepalive_ms(c));
    } else if (c->timer) {
        loop_timer_destroy(c->timer);
        c->timer = NULL;
    }
    if (c->o.events && c->o.events->opened)
        c->o.events->opened(c->o.arg, c);
}

static void open_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    if (c->state != ENDED && !c->closing)
        open_up(c);
    unref(c);
}

static struct rpc_conn *make(struct loop *l, const struct rpc_conn_options *o, size_t limit, struct err *e)
{
    struct rpc_conn *c = calloc(1, sizeof *c);

    if (c)
        c->core = rpc_core_create(&core_events, c, limit);
    if (!c || !c->core) {
        free(c);
        err_set(e, ENOMEM, "no memory for a connection");
        return NULL;
    }
    c->loop = l;
    c->refs = 1;
    c->fd = -1;
    c->o = *o;
    c->requests = (struct rpc_requests){
        .core = c->core, .conn = c, .served = o->served, .answered = on_answered, .wake = on_wake};
    return c;
}

/* The socket is connected: who is there, and bytes may flow. Takes fd. */
static int attach(struct rpc_conn *c, int fd, struct err *e)
{
    const struct stream_options o = {.out_high = OUT_HIGH, .out_low = OUT_LOW, .out_max = OUT_MAX};

    rpc_plug_tune(fd);
    c->peer = auth_peer_of_socket(fd, e);
    if (!c->peer) {
        close(fd);
        return -1;
    }
    c->requests.peer = c->peer;
    c->stream = stream_create(c->loop, fd, &o, &stream_events, c, e);
    c->fd = c->stream ? fd : -1;
    return c->stream ? 0 : -1;
}

struct rpc_conn *rpc_conn_adopt(struct loop *l, int fd, const struct rpc_conn_options *o, struct err *e)
{
    struct rpc_conn *c = make(l, o, o->limit ? o->limit : RPC_LIMIT_DAEMON, e);

    if (!c) {
        close(fd);
        return NULL;
    }
    if (attach(c, fd, e) < 0) {
        rpc_conn_destroy(c);
        return NULL;
    }
    c->state = OPEN;
    c->heard_mono_ms = clock_real_mono_ms();
    if (keepalive_ms(c) > 0)
        set_timer(c, keepalive_ms(c));
    return c;
}

struct rpc_conn *rpc_conn_accept(struct loop *l, int fd, const struct rpc_conn_options *o,
                                 const struct rpc_conn_door *door, struct err *e)
{
    struct rpc_conn *c = make(l, o, RPC_LIMIT_STRANGER, e);

    if (!c) {
        close(fd);
        return NULL;
    }
    c->door = *door;
    c->is_server = true;
    if (attach(c, fd, e) < 0) {
        rpc_conn_destroy(c);
        return NULL;
    }
    c->state = STRANGER;
    if (c->peer->kind == AUTH_LOCAL) {
        rpc_core_set_limit(c->core, o->limit ? o->limit : RPC_LIMIT_CLIENT);
        open_up(c);
    } else {
        set_timer(c, o->open_limit_ms ? o->open_limit_ms : OPEN_LIMIT_MS);
    }
    return c;
}

/* --- the client's way */

static void connected(struct rpc_conn *c, int fd)
{
    struct err e;

    c->fd = -1;
    if (attach(c, fd, &e) < 0) {
        end(c, &e);
        return;
    }
    if (!c->tls) {
        open_up(c);
        return;
    }
    c->state = ASKING;
    c->asking.ops = &asking_ops;
    if (rpc_core_call_starttls(c->core, &c->asking, c->o.ping_prog, c->o.ping_vers, &e) < 0)
        end(c, &e);
    else
        send_all(c);
}

static void on_connect_ready(void *arg, unsigned ready)
{
    struct rpc_conn *c = arg;
    int fd = c->fd, failure = 0;
    socklen_t n = sizeof failure;
    struct err e;

    (void)ready;
    c->refs++;
    loop_watch_destroy(c->watch);
    c->watch = NULL;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) < 0)
        failure = errno;
    if (failure) {
        err_errno(&e, failure, "cannot connect");
        end(c, &e);
    } else {
        connected(c, fd);
    }
    unref(c);
}

static int keep_target(struct rpc_conn *c, const struct rpc_conn_target *t, struct err *e)
{
    c->tls = rpc_plug_ref_context(t->tls);
    c->expect = t->expect ? strdup(t->expect) : NULL;
    if (t->expect && !c->expect)
        return err_set(e, ENOMEM, "no memory for a connection");
    return 0;
}

/* Connected already (unix sockets), or on the way. */
static int begin(struct rpc_conn *c, const struct rpc_conn_target *t, struct err *e)
{
    bool done;
    int fd = rpc_plug_dial(t, &done, e);

    if (fd < 0)
        return -1;
    if (set_timer(c, c->o.open_limit_ms ? c->o.open_limit_ms : OPEN_LIMIT_MS) < 0) {
        close(fd);
        return err_set(e, ENOMEM, "no memory for a connection");
    }
    if (done) {
        if (attach(c, fd, e) < 0)
            return -1;
        return defer(c, open_deferred) < 0 ? err_set(e, ENOMEM, "no memory for a connection") : 0;
    }
    c->fd = fd;
    c->watch = loop_watch_create(c->loop, fd, LOOP_WRITE, on_connect_ready, c, e);
    return c->watch ? 0 : -1;
}

struct rpc_conn *rpc_conn_connect(struct loop *l, const struct rpc_conn_target *t,
                                  const struct rpc_conn_options *o, struct err *e)
{
    struct rpc_conn *c = make(l, o, o->limit ? o->limit : RPC_LIMIT_DAEMON, e);

    if (!c)
        return NULL;
    if (keep_target(c, t, e) == 0 && begin(c, t, e) == 0)
        return c;
    rpc_conn_destroy(c);
    return NULL;
}

/* --- what others ask */

void rpc_conn_close_when_sent(struct rpc_conn *c, int64_t linger_ms)
{
    struct err e;

    if (!c->stream || c->closing)
        return;
    if (flush(c, &e) < 0) {
        rpc_conn_close(c, &e);
        return;
    }
    c->closing = true;
    rpc_core_stop(c->core, true);
    err_set(&c->why, ECONNABORTED, "closed from this side");
    stream_close_when_sent(c->stream, linger_ms);
}

bool rpc_conn_is_open(const struct rpc_conn *c)
{
    return c->state == OPEN && !c->closing;
}

struct auth_peer *rpc_conn_peer(const struct rpc_conn *c)
{
    return c->peer;
}

int rpc_conn_fd(const struct rpc_conn *c)
{
    return c->fd;
}

void rpc_conn_set_limit(struct rpc_conn *c, size_t limit)
{
    rpc_core_set_limit(c->core, limit);
}

void rpc_conn_set_user(struct rpc_conn *c, void *user,
                       void (*closed)(void *user, struct rpc_conn *c, const struct err *why))
{
    c->user = user;
    c->user_closed = closed;
}

void *rpc_conn_user(const struct rpc_conn *c)
{
    return c->user;
}

struct rpc_conn **rpc_conn_link(struct rpc_conn *c, bool next)
{
    return next ? &c->next : &c->prev;
}

/* --- calling */

static struct rpc_pending *new_call(struct rpc_conn *c, const struct rpc_call_spec *s, rpc_outcome_fn *fn,
                                    void *arg, struct err *e)
{
    if (!rpc_conn_is_open(c)) {
        err_set(e, ENOTCONN, "the connection is not open");
        return NULL;
    }
    if (stream_unsent(c->stream) > OUT_MAX / 2 || rpc_core_held(c->core) > OUT_MAX / 2) {
        err_set(e, ENOBUFS, "%s does not read what it is sent", c->peer->from);
        return NULL;
    }
    return rpc_calls_create(s, fn, arg, e);
}

int rpc_conn_call(struct rpc_conn *c, const struct rpc_call_spec *s, rpc_outcome_fn *fn, void *arg,
                  struct err *e)
{
    struct rpc_pending *p = new_call(c, s, fn, arg, e);

    if (!p)
        return -1;
    if (rpc_core_call(c->core, p, &s->id, s->xargs, s->args, e) < 0) {
        rpc_calls_drop(p);
        return -1;
    }
    touch(c);
    return 0;
}

int rpc_conn_call_bytes(struct rpc_conn *c, const struct rpc_call_spec *s, const void *bytes, size_t n,
                        rpc_outcome_fn *fn, void *arg, struct err *e)
{
    struct rpc_pending *p = new_call(c, s, fn, arg, e);

    if (!p)
        return -1;
    if (rpc_core_call_bytes(c->core, p, &s->id, bytes, n, e) < 0) {
        rpc_calls_drop(p);
        return -1;
    }
    touch(c);
    return 0;
}
