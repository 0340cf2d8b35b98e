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
#include "rpc_conn_parts.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "rpc_frame.h"
#include "rpc_plug.h"
#include "stream.h"

enum { OUT_HIGH = 256 << 10, OUT_LOW = 128 << 10, OUT_MAX = 256 << 20 };
enum { HELD_MAX = 256 << 10, REQUESTS_MAX = 16384, REQUEST_BYTES_MAX = 32 << 20, SCANS_AT_ONCE = 64 };
enum { DENIED_MS = 1000 }; /* a peer that reads has the denial by then; it is of no use to others */

/* --- memory */

void rpc_conn_unref(struct rpc_conn *c)
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
int rpc_conn_defer(struct rpc_conn *c, loop_fn *fn)
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
    if (c->tag && c->tag->closed && !c->destroyed)
        c->tag->closed(c->user, c, why);
    if (c->o.events && c->o.events->closed && !c->destroyed)
        c->o.events->closed(c->o.arg, c, why);
    if (c->door.hooks && !c->destroyed)
        c->door.hooks->gone(c->door.server, c, why);
}

void rpc_conn_end(struct rpc_conn *c, const struct err *why)
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
    rpc_conn_unref(c);
}

/* A peer that breaks the protocol costs one log line. */
static void end_broken(struct rpc_conn *c, struct err *e)
{
    log_event(LOGC_TPP, LOGE_ERROR | LOGE_SECURITY, "rpc", "closing the connection of %s: %s", c->peer->from,
              e->text);
    rpc_conn_end(c, e);
}

void rpc_conn_destroy(struct rpc_conn *c)
{
    if (!c || c->destroyed)
        return;
    c->destroyed = true;
    if (c->state != ENDED)
        release(c, NULL);
    rpc_conn_unref(c);
}

static void close_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    rpc_conn_end(c, &c->why);
    rpc_conn_unref(c);
}

void rpc_conn_close(struct rpc_conn *c, const struct err *why)
{
    if (c->state == ENDED || c->closing)
        return;
    c->closing = true;
    c->why = *why;
    rpc_core_stop(c->core, true);
    if (rpc_conn_defer(c, close_deferred) < 0)
        stream_close_when_sent(c->stream, 0); /* no memory for a deferred call: the stream ends it */
}

/* --- output */

/* Who does not read its answers, or asks for more while much of what it asked for waits, is not read from. */
static bool has_enough(const struct rpc_conn *c)
{
    return stream_is_full(c->stream) || rpc_core_held(c->core) > HELD_MAX || c->requests.n > REQUESTS_MAX ||
           c->requests.bytes > REQUEST_BYTES_MAX;
}

static void update_hold(struct rpc_conn *c)
{
    /* Daemons are never held: both sides of a connection could then wait for each other. */
    bool hold = c->peer->kind != AUTH_DAEMON && has_enough(c);

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
    rpc_conn_unref(c);
}

/* A producer may look at much before it finds an entry: it is asked a few times, then in the next turn. 1: more
 * follows, -1: later, 0: that was all. */
static int pull_some(struct rpc_conn *c, bool *failed)
{
    int rc, i = 0;

    do
        rc = rpc_core_pull(c->core, failed);
    while (rc == 1 && !rpc_core_output(c->core)->len && ++i < SCANS_AT_ONCE);
    if (rc == 1 && !rpc_core_output(c->core)->len)
        *failed = rpc_conn_defer(c, wake_deferred) < 0;
    return rc == 1 && !rpc_core_has_long(c->core) ? 0 : rc;
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
    if (c->pulling)
        stream_pull_soon(c->stream, rpc_core_has_news(c->core));
    update_hold(c);
    return rc;
}

/* The first fragment of a long answer, which may be all, leaves at once. What follows comes as there is room, in the
 * background. May close. */
static void begin_to_pull(struct rpc_conn *c)
{
    if (c->pulling || !rpc_core_has_long(c->core))
        return;
    if (!stream_is_full(c->stream) && pull(c) == 0)
        return;
    c->pulling = true;
    stream_pull_soon(c->stream, rpc_core_has_news(c->core));
    stream_pull(c->stream, pull, c);
}

/* Everything there is to send; may close. */
void rpc_conn_send(struct rpc_conn *c)
{
    struct err e;

    c->dirty = false;
    if (!c->stream || c->closing)
        return;
    if (flush(c, &e) < 0) {
        rpc_conn_close(c, &e);
        return;
    }
    begin_to_pull(c);
    update_hold(c);
}

static void send_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    rpc_conn_send(c);
    rpc_conn_unref(c);
}

static void touch(struct rpc_conn *c)
{
    if (c->dirty || c->in_data || !c->stream)
        return;
    c->dirty = true;
    if (rpc_conn_defer(c, send_deferred) < 0)
        rpc_conn_send(c);
}

static void on_answered(struct rpc_conn *c, const struct err *fatal)
{
    if (fatal)
        rpc_conn_close(c, fatal);
    else
        touch(c);
}

/* A peer asks for what it has no right to: it is told so, and costs one log line. */
static void on_denied(struct rpc_conn *c, const struct err *why)
{
    if (c->state == ENDED || c->closing)
        return;
    log_event(LOGC_TPP, LOGE_ERROR | LOGE_SECURITY, "rpc", "closing the connection of %s: %s", c->peer->from,
              why->text);
    rpc_conn_close_when_sent(c, DENIED_MS);
    c->why = *why;
}

/* --- input */

static void on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct rpc_conn *c = arg;

    if (c->door.hooks)
        c->door.hooks->called(c->door.server);
    if (c->state == OPEN)
        rpc_requests_call(&c->requests, h);
    else if (c->state == STRANGER)
        c->stranger(c, h);
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
        rpc_conn_send(c);
    rpc_conn_unref(c);
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

    rpc_conn_end(c, c->closing ? &c->why : why);
}

static const struct stream_events stream_events = {
    .data = on_data, .drained = on_drained, .closed = on_stream_closed};

/* --- making */

struct rpc_conn *rpc_conn_make(struct loop *l, const struct rpc_conn_options *o, size_t limit, struct err *e)
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
    c->requests = (struct rpc_requests){.core = c->core,
                                        .conn = c,
                                        .served = o->served,
                                        .answered = on_answered,
                                        .wake = on_wake,
                                        .denied = on_denied};
    return c;
}

/* The socket is connected: who is there, and bytes may flow. Takes fd. */
int rpc_conn_attach(struct rpc_conn *c, int fd, struct err *e)
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

int64_t rpc_conn_silent_ms(const struct rpc_conn *c)
{
    return clock_real_mono_ms() - c->heard_mono_ms;
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

void rpc_conn_set_user(struct rpc_conn *c, const struct rpc_conn_tag *tag, void *user)
{
    assert(!c->tag || c->tag == tag);
    c->tag = user ? tag : NULL;
    c->user = user;
}

void *rpc_conn_user(const struct rpc_conn *c, const struct rpc_conn_tag *tag)
{
    return c->tag == tag ? c->user : NULL;
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
