/* A connection's life on the loop.
 *
 *   client  CONNECTING -> (ASKING -> SHAKING ->) OPEN -> ENDED
 *   server  STRANGER -> SHAKING -> OPEN -> ENDED, or OPEN at once when the kernel says who it is
 *
 * Memory is counted: the owner has one reference, so has each deferred call and each callback from below. A failure
 * inside a callback ends the connection at once; an end asked for by the owner is deferred, so that no call returns
 * to a connection that has been freed. Output collects in the core and is written at the end of an input or of the
 * turn.
 *
 * Both sides may call at any time. Calls that cannot be taken in now wait in `backlog`, our own that cannot be sent now
 * in `unasked`; neither overtakes what lies before it. Answers come in any order, or, where the connection is lost,
 * never: then each call under way ends as RPC_ST_LOST, once, unless the owner has destroyed the connection. The way to
 * OPEN is rpc_conn_open.c, requests are rpc_request.c, records rpc_core.c.
 */
#include "rpc_conn_parts.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "rpc_buf.h"
#include "rpc_frame.h"
#include "rpc_plug.h"
#include "stream.h"

/* Unsent output, bytes. Above OUT_HIGH no call is taken in until it is down at OUT_LOW: a few fragments of an endless
 * answer, so that the kernel always has something to send. Beyond OUT_MAX nothing is written; at half of it calls of ours
 * fail, which leaves room for answers. Choices, but for HIGH above LOW. */
enum { OUT_HIGH = 256 << 10, OUT_LOW = 128 << 10, OUT_MAX = 256 << 20 };
/* What one connection may have in work: answers held behind a long one, requests that are not answered, and what those
 * take of memory (two of the largest a daemon may send). More waits unread. SCANS_AT_ONCE: how often a producer that has
 * found nothing is asked before the loop's other events have their turn. Choices. */
enum { HELD_MAX = 256 << 10, REQUESTS_MAX = 16384, REQUEST_MEMORY_MAX = 32 << 20, SCANS_AT_ONCE = 64 };
/* Our calls that are not answered: so many, and so many bytes and one more; the rest waits here. A peer that does the
 * same has at most a record of the largest size beyond that. */
enum { ASKED_MAX = 1024, ASKED_BYTES = 1 << 20, BACKLOG_MAX = RPC_LIMIT_DAEMON + (4 << 20) };
/* An hour is a choice: a qstat whose pager waits for its user stops for as long. The memory that it takes is counted
 * in the user's share (rpc_shares.h). */
enum { UNREAD_MS = 3600000 };
enum { DENIED_MS = 1000 }; /* a choice: a peer that reads has received the denial by then */

/* --- memory */

void rpc_conn_unref(struct rpc_conn *c)
{
    if (--c->refs)
        return;
    rpc_plug_free_context(c->tls);
    free(c->expect);
    rpc_core_destroy(c->core);
    auth_peer_unref(c->peer);
    rpc_share_unref(c->requests.share);
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

static void drop_backlogs(struct rpc_conn *c, const struct err *why)
{
    struct rpc_backlog_call *w;

    while ((w = rpc_backlog_take(&c->backlog)))
        free(w);
    while ((w = rpc_backlog_take(&c->unasked))) {
        w->pending->ops->lost(w->pending, why);
        free(w);
    }
}

/* Let go of everything but memory. Calls under way are told only when `why` is given. */
static void rpc_conn_release(struct rpc_conn *c, const struct err *why)
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
    loop_timer_destroy(c->slow);
    c->slow = NULL;
    rpc_core_fail(c->core, why);
    drop_backlogs(c, why);
    rpc_requests_die(&c->requests);
    rpc_share_leave(&c->waiter);
    rpc_share_change_output(c->requests.share, c->counted, 0);
    c->counted = 0;
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
    rpc_conn_release(c, &gone);
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
        rpc_conn_release(c, NULL);
    rpc_conn_unref(c);
}

static void rpc_conn_close_deferred(void *arg)
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
    if (rpc_conn_defer(c, rpc_conn_close_deferred) < 0)
        stream_close_when_sent(c->stream, 0); /* no memory for a deferred call: the stream ends it */
}

/* --- output */

/* A peer that does not read its answers, or has much that waits for one: its calls are not taken in now. A long
 * answer is finished before the next call is taken, since the cursor of that call's answer would take memory while it
 * waits. */
static bool has_enough(const struct rpc_conn *c)
{
    return stream_is_full(c->stream) || rpc_core_output(c->core)->len > OUT_HIGH ||
           rpc_core_has_long(c->core) || rpc_core_held(c->core) > HELD_MAX || c->requests.n > REQUESTS_MAX ||
           c->requests.memory > REQUEST_MEMORY_MAX;
}

static bool may_take(const struct rpc_conn *c)
{
    return !has_enough(c) && !rpc_share_is_over(c->requests.share, clock_real_mono_ms());
}

static void rpc_conn_serve_backlogs(void *arg);

static void serve_backlogs_soon(struct rpc_conn *c)
{
    if (!c->serves_soon && c->stream && !c->closing) /* no memory: the next event asks again */
        c->serves_soon = rpc_conn_defer(c, rpc_conn_serve_backlogs) == 0;
}

static void rpc_conn_on_slow(void *arg)
{
    struct rpc_conn *c = arg;
    struct err e;

    if (stream_unsent(c->stream) != c->slow_unsent) {
        c->slow_unsent = stream_unsent(c->stream);
        loop_timer_set(c->slow, c->o.unread_ms);
        return;
    }
    err_set(&e, ETIMEDOUT, "it has read none of the %zu bytes that wait for it in %lld s", c->slow_unsent,
            (long long)c->o.unread_ms / 1000);
    end_broken(c, &e);
}

/* While the output is full it counts, and is given so much time to move. */
static void watch_output(struct rpc_conn *c)
{
    bool full = stream_is_full(c->stream);
    size_t now = full ? stream_unsent(c->stream) : 0;

    rpc_share_change_output(c->requests.share, c->counted, now);
    c->counted = now;
    if (full && !c->slow && (c->slow = loop_timer_create(c->loop, LOOP_REAL, rpc_conn_on_slow, c))) {
        c->slow_unsent = now;
        loop_timer_set(c->slow, c->o.unread_ms);
    } else if (!full) {
        loop_timer_destroy(c->slow);
        c->slow = NULL;
    }
}

/* Calls that came are waiting. Those of a peer that we have asked nothing are left unread behind them. A peer that
 * owes us answers is read on, or its answers would be behind its calls and both sides would wait for each other: it
 * has agreed to ask for no more than ASKED_BYTES before it is answered (doc/internals/wire.md). */
static void update_hold(struct rpc_conn *c)
{
    bool waits = c->backlog.first != NULL, hold = waits && !c->asked;
    struct err e;

    watch_output(c);
    if (waits && may_take(c))
        serve_backlogs_soon(c);
    else if (waits && !has_enough(c))
        rpc_share_wait(c->requests.share, &c->waiter, clock_real_mono_ms());
    if (waits && !hold && c->backlog.bytes > BACKLOG_MAX) {
        err_set(&e, ENOBUFS, "it has asked for %zu bytes more than it was answered", c->backlog.bytes);
        log_event(LOGC_TPP, LOGE_ERROR | LOGE_SECURITY, "rpc", "closing the connection of %s: %s",
                  c->peer->from, e.text);
        rpc_conn_close(c, &e);
    }
    if (c->upgrade || hold == c->holding)
        return;
    c->holding = hold;
    stream_hold_input(c->stream, hold);
}

static int rpc_conn_flush(struct rpc_conn *c, struct err *e)
{
    struct byte_buf *out = rpc_core_output(c->core);
    int rc = 0;

    if (out->len)
        rc = stream_write(c->stream, out->bytes, out->len, e);
    byte_buf_clear(out);
    return rc;
}

static void rpc_conn_on_wake(struct rpc_conn *c)
{
    if (c->stream && c->pulling)
        stream_wake(c->stream);
}

static void rpc_conn_wake_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    rpc_conn_on_wake(c);
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
        *failed = rpc_conn_defer(c, rpc_conn_wake_deferred) < 0;
    return rc == 1 && !rpc_core_has_long(c->core) ? 0 : rc;
}

static int rpc_conn_pull(void *arg)
{
    struct rpc_conn *c = arg;
    struct err e;
    bool failed;
    int rc = pull_some(c, &failed);

    if (failed)
        err_set(&e, EIO, "an answer to %s cannot be completed", c->peer->from);
    if (failed || rpc_conn_flush(c, &e) < 0) {
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
    if (!stream_is_full(c->stream) && rpc_conn_pull(c) == 0)
        return;
    c->pulling = true;
    stream_pull_soon(c->stream, rpc_core_has_news(c->core));
    stream_pull(c->stream, rpc_conn_pull, c);
}

/* Send all that waits to be sent. May close the connection. */
void rpc_conn_send(struct rpc_conn *c)
{
    struct err e;

    c->dirty = false;
    if (!c->stream || c->closing)
        return;
    if (rpc_conn_flush(c, &e) < 0) {
        rpc_conn_close(c, &e);
        return;
    }
    begin_to_pull(c);
    update_hold(c);
}

static void rpc_conn_send_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    rpc_conn_send(c);
    rpc_conn_unref(c);
}

static void touch(struct rpc_conn *c)
{
    if (c->dirty || c->in_data || c->closing || !c->stream)
        return;
    c->dirty = true;
    if (rpc_conn_defer(c, rpc_conn_send_deferred) < 0)
        rpc_conn_send(c);
}

static void rpc_conn_on_answered(struct rpc_conn *c, const struct err *fatal)
{
    if (fatal)
        rpc_conn_close(c, fatal);
    else
        touch(c);
}

/* A peer asked for what it has no right to: answer so, write one log line and close. */
static void rpc_conn_on_denied(struct rpc_conn *c, const struct err *why)
{
    if (c->state == ENDED || c->closing)
        return;
    log_event(LOGC_TPP, LOGE_ERROR | LOGE_SECURITY, "rpc", "closing the connection of %s: %s", c->peer->from,
              why->text);
    rpc_conn_close_when_sent(c, DENIED_MS);
    c->why = *why;
}

/* --- input */

static void take_call(struct rpc_conn *c, const struct rpc_call_hdr *h)
{
    rpc_share_count_call(c->requests.share, c->heard_mono_ms);
    rpc_requests_call(&c->requests, h);
}

/* A ping passes the calls that wait, or a peer that asks for much would look dead; not where its answer would wait with
 * others that are not read. */
static bool is_passing_ping(const struct rpc_conn *c, const struct rpc_call_hdr *h)
{
    return h->id.proc == 0 && !stream_is_full(c->stream);
}

static void open_call(struct rpc_conn *c, const struct rpc_call_hdr *h)
{
    struct err e;

    if (is_passing_ping(c, h) ||
        (!c->backlog.first && !has_enough(c) && !rpc_share_is_over(c->requests.share, c->heard_mono_ms))) {
        take_call(c, h);
    } else if (rpc_backlog_add(&c->backlog, h, NULL) < 0) {
        err_set(&e, ENOMEM, "no memory for a call");
        rpc_conn_close(c, &e);
    }
}

static void rpc_conn_on_call(void *arg, const struct rpc_call_hdr *h)
{
    struct rpc_conn *c = arg;

    if (c->door.hooks)
        c->door.hooks->called(c->door.server);
    if (c->state == OPEN)
        open_call(c, h);
    else if (c->state == STRANGER)
        c->stranger(c, h);
}

static const struct rpc_core_events core_events = {.call = rpc_conn_on_call};

static size_t rpc_conn_on_data(void *arg, const void *bytes, size_t n)
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

static void rpc_conn_on_drained(void *arg)
{
    struct rpc_conn *c = arg;

    if (c->stream && !c->closing)
        update_hold(c);
}

static void rpc_conn_on_stream_closed(void *arg, const struct err *why)
{
    struct rpc_conn *c = arg;

    rpc_conn_end(c, c->closing ? &c->why : why);
}

/* --- what waits: calls of the peer, and ours */

static void take_backlog(struct rpc_conn *c)
{
    struct rpc_backlog_call *w;

    while (c->stream && !c->closing && c->backlog.first && may_take(c)) {
        w = rpc_backlog_take(&c->backlog);
        take_call(c, &w->h);
        free(w);
    }
}

static bool may_ask(const struct rpc_conn *c)
{
    return c->asked < ASKED_MAX && c->asked_bytes < ASKED_BYTES;
}

static void rpc_conn_on_asked_over(void *arg, size_t asked)
{
    struct rpc_conn *c = arg;

    c->asked--;
    c->asked_bytes -= asked;
    if (c->unasked.first || c->backlog.first)
        serve_backlogs_soon(c);
}

static void count_asked(struct rpc_conn *c, struct rpc_pending *p, size_t n)
{
    rpc_calls_on_over(p, &(struct rpc_call_over){rpc_conn_on_asked_over, c, n});
    c->asked++;
    c->asked_bytes += n;
}

static void ask_backlog(struct rpc_conn *c)
{
    struct rpc_backlog_call *w;
    struct err e;

    while (c->stream && !c->closing && c->unasked.first && may_ask(c)) {
        w = rpc_backlog_take(&c->unasked);
        count_asked(c, w->pending, w->h.n_args);
        if (rpc_core_call_bytes(c->core, w->pending, &w->h.id, w->h.args, w->h.n_args, &e) < 0)
            w->pending->ops->lost(w->pending, &e);
        free(w);
    }
}

/* At the end of the turn: our calls that waited, then the peer's, then what both have written. */
static void rpc_conn_serve_backlogs(void *arg)
{
    struct rpc_conn *c = arg;

    c->serves_soon = false;
    if (c->stream && !c->closing) {
        ask_backlog(c);
        take_backlog(c);
        rpc_conn_send(c);
    }
    if (!c->stream || c->closing || !c->backlog.first || has_enough(c))
        rpc_share_pass_on(
            c->requests.share); /* this connection may have had the turn, which it cannot use any more */
    rpc_conn_unref(c);
}

/* A call that is never made gives its reference back here. */
static void drop_deferred(struct rpc_conn *c)
{
    static loop_fn *const fns[] = {rpc_conn_close_deferred, rpc_conn_wake_deferred, rpc_conn_send_deferred,
                                   rpc_conn_serve_backlogs, rpc_conn_start_tls_deferred};

    for (size_t i = 0; i < sizeof fns / sizeof fns[0]; i++)
        for (size_t n = loop_forget(c->loop, fns[i], c); n; n--)
            rpc_conn_unref(c); /* the server still has one */
}

void rpc_conn_mute(struct rpc_conn *c)
{
    if (c->dirty)
        rpc_conn_send(c);
    if (c->stream)
        stream_flush(c->stream);
    c->closing = true;
    drop_deferred(c);
}

static void rpc_conn_on_share_wake(void *arg)
{
    serve_backlogs_soon(arg);
}

static void rpc_conn_on_request_over(struct rpc_conn *c)
{
    if (c->backlog.first)
        serve_backlogs_soon(c);
}

static const struct stream_events stream_events = {
    .data = rpc_conn_on_data, .drained = rpc_conn_on_drained, .closed = rpc_conn_on_stream_closed};

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
                                        .answered = rpc_conn_on_answered,
                                        .wake = rpc_conn_on_wake,
                                        .denied = rpc_conn_on_denied,
                                        .over = rpc_conn_on_request_over};
    c->o.unread_ms = o->unread_ms ? o->unread_ms : UNREAD_MS;
    c->waiter = (struct rpc_share_waiter){.wake = rpc_conn_on_share_wake, .arg = c};
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

/* --- questions about the connection */

void rpc_conn_close_when_sent(struct rpc_conn *c, int64_t linger_ms)
{
    struct err e;

    if (!c->stream || c->closing)
        return;
    if (rpc_conn_flush(c, &e) < 0) {
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

void rpc_conn_set_share(struct rpc_conn *c, struct rpc_share *u)
{
    assert(!c->requests.share);
    c->requests.share = u;
}

struct rpc_share *rpc_conn_share(const struct rpc_conn *c)
{
    return c->requests.share;
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
    if (stream_unsent(c->stream) > OUT_MAX / 2 || rpc_core_held(c->core) > OUT_MAX / 2 ||
        c->unasked.bytes > OUT_MAX / 2) {
        err_set(e, ENOBUFS, "%s does not read what it is sent", c->peer->from);
        return NULL;
    }
    return rpc_calls_create(s, fn, arg, e);
}

/* Send the call now, or when enough earlier calls are answered. A ping is never delayed, since it asks for
 * nothing that a peer could owe. */
static int rpc_conn_ask(struct rpc_conn *c, struct rpc_pending *p, const struct rpc_proc_id *id,
                        const void *bytes, size_t n, struct err *e)
{
    const struct rpc_call_hdr h = {.id = *id, .args = bytes, .n_args = n};
    bool is_ping = id->proc == 0;

    if (!is_ping && (c->unasked.first || !may_ask(c)))
        return rpc_backlog_add(&c->unasked, &h, p) < 0 ? err_set(e, ENOMEM, "no memory for a call") : 0;
    if (rpc_core_call_bytes(c->core, p, id, bytes, n, e) < 0)
        return -1;
    if (!is_ping)
        count_asked(c, p, n);
    touch(c);
    return 0;
}

int rpc_conn_call(struct rpc_conn *c, const struct rpc_call_spec *s, rpc_outcome_fn *fn, void *arg,
                  struct err *e)
{
    struct rpc_pending *p = new_call(c, s, fn, arg, e);
    struct byte_buf b = {0};
    int rc;

    if (!p)
        return -1;
    if (s->xargs && rpc_buf_encode(&b, s->xargs, s->args) < 0)
        rc = err_set(e, EINVAL, "the arguments of procedure %u are beyond what can be sent", s->id.proc);
    else
        rc = rpc_conn_ask(c, p, &s->id, b.bytes, b.len, e);
    byte_buf_fini(&b);
    if (rc < 0)
        rpc_calls_drop(p);
    return rc;
}

int rpc_conn_call_bytes(struct rpc_conn *c, const struct rpc_call_spec *s, const void *bytes, size_t n,
                        rpc_outcome_fn *fn, void *arg, struct err *e)
{
    struct rpc_pending *p = new_call(c, s, fn, arg, e);

    if (!p)
        return -1;
    if (rpc_conn_ask(c, p, &s->id, bytes, n, e) == 0)
        return 0;
    rpc_calls_drop(p);
    return -1;
}
