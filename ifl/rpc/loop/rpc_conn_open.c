/* How a connection comes to be open: connecting, asking for TLS or being asked, showing certificates; and
 * the timer that first bounds this and then listens for silence. See rpc_conn.c for its life.
 *
 * Over TCP the client speaks first, in the clear: procedure 0 with the wish for TLS (RFC 9289). After that answer
 * nothing more is read in the clear, on either side; then come the handshake and the certificates. TLS begins only
 * when the present input has been handled, since that input was read in the clear. */
#include "rpc_conn_parts.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth_munge.h"
#include "clock.h"
#include "loop.h"
#include "rpc_frame.h"
#include "rpc_plug.h"
#include "stream.h"
#include "tls_loop.h"

/* Where the options say nothing; both are choices. OPEN_LIMIT_MS bounds connecting, TLS and certificates together, on
 * either side. A peer silent for KEEPALIVE_MS is pinged, and given up when it is silent for as long again. */
enum { OPEN_LIMIT_MS = 30000, KEEPALIVE_MS = 60000 };

/* --- TLS, both ends */

static bool is_guest(const struct rpc_conn *c)
{
    return c->peer->kind == AUTH_GUEST;
}

static void open_up(struct rpc_conn *c);

static void rpc_conn_open_on_tls_ready(void *arg, struct tls_loop *t)
{
    struct rpc_conn *c = arg;
    char *name = tls_loop_peer_name(t);
    struct err e;
    int rc;

    if (!name && c->is_server && c->door.guests) {
        auth_peer_set_guest(c->peer);
        rc = tls_loop_export(t, AUTH_MUNGE_LABEL, c->binding, sizeof c->binding, &e);
    } else if (!name)
        rc = err_set(&e, EACCES, "%s showed no certificate", c->peer->from);
    else
        rc = auth_peer_set_role(c->peer, name, &e);
    tls_loop_peer_serial(t, c->peer->serial, sizeof c->peer->serial);
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
                                 .ready = rpc_conn_open_on_tls_ready,
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

void rpc_conn_start_tls_deferred(void *conn)
{
    struct rpc_conn *c = conn;

    if (c->stream && !c->closing)
        start_tls(c);
    rpc_conn_unref(c);
}

/* Nothing more is read in the clear; the filter goes in when this input is done. */
static void begin_upgrade(struct rpc_conn *c)
{
    struct err e;

    c->upgrade = true;
    rpc_core_stop(c->core, true);
    stream_hold_input(c->stream, true);
    if (rpc_conn_defer(c, rpc_conn_start_tls_deferred) < 0) {
        err_set(&e, ENOMEM, "no memory for TLS");
        rpc_conn_close(c, &e);
    }
}

static void rpc_conn_open_on_tls_offer(struct rpc_pending *p, const struct rpc_reply_hdr *r)
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

static void rpc_conn_open_on_tls_lost(struct rpc_pending *p, const struct err *why)
{
}

static const struct rpc_pending_ops asking_ops = {.reply = rpc_conn_open_on_tls_offer,
                                                  .lost = rpc_conn_open_on_tls_lost};

/* In the clear: procedure 0, and the wish for TLS; nothing else. */
static void rpc_conn_open_take_stranger(struct rpc_conn *c, const struct rpc_call_hdr *h)
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

/* --- opening */

static int64_t keepalive_ms(const struct rpc_conn *c)
{
    return c->o.keepalive_ms ? c->o.keepalive_ms : KEEPALIVE_MS;
}

/* Send a ping to a peer that is silent. Give up when one keepalive has passed after it without a word.
 * A timer that comes late proves nothing: this process was stopped, and the answer may lie unread. Ask again then. */
static void check_silence(struct rpc_conn *c)
{
    const struct rpc_call_spec ping = {.id = {c->o.ping_prog, c->o.ping_vers, 0}};
    int64_t now_ms = clock_real_mono_ms(), every_ms = keepalive_ms(c);
    bool waits = c->pinged_mono_ms >= c->heard_mono_ms;
    int64_t still_ms = now_ms - (waits ? c->pinged_mono_ms : c->heard_mono_ms);
    struct err e;

    if (still_ms < every_ms) {
        loop_timer_set(c->timer, every_ms - still_ms);
    } else if (waits && still_ms < every_ms + every_ms / 2) {
        err_set(&e, ETIMEDOUT, "nothing was heard of %s for %lld s", c->peer->from,
                (long long)(now_ms - c->heard_mono_ms) / 1000);
        rpc_conn_end(c, &e);
    } else {
        rpc_conn_call(c, &ping, NULL, NULL, NULL);
        c->pinged_mono_ms = now_ms;
        loop_timer_set(c->timer, every_ms);
    }
}

static void rpc_conn_open_on_timer(void *arg)
{
    struct rpc_conn *c = arg;
    struct err e;

    c->refs++;
    if (c->state == OPEN && !is_guest(c)) {
        check_silence(c);
    } else {
        err_set(&e, ETIMEDOUT, "%s did not say who it is in time", c->peer ? c->peer->from : "the peer");
        rpc_conn_end(c, &e);
    }
    rpc_conn_unref(c);
}

static int rpc_conn_open_set_timer(struct rpc_conn *c, int64_t delay_ms)
{
    if (!c->timer)
        c->timer = loop_timer_create(c->loop, LOOP_REAL, rpc_conn_open_on_timer, c);
    if (!c->timer)
        return -1;
    loop_timer_set(c->timer, delay_ms);
    return 0;
}

static void open_up(struct rpc_conn *c)
{
    c->state = OPEN;
    c->heard_mono_ms = clock_real_mono_ms();
    if (is_guest(c))
        return; /* the stranger's timer continues */
    if (c->is_server && c->peer->kind == AUTH_DAEMON) {
        rpc_core_set_limit(c->core, c->door.daemon_limit);
        if (c->door.hooks)
            c->door.hooks->known(c->door.server, c);
    }
    if (keepalive_ms(c) > 0 && !(c->is_server && c->peer->kind == AUTH_LOCAL)) {
        rpc_conn_open_set_timer(c, keepalive_ms(c));
    } else if (c->timer) {
        loop_timer_destroy(c->timer);
        c->timer = NULL;
    }
    if (c->o.events && c->o.events->opened)
        c->o.events->opened(c->o.arg, c);
}

const void *rpc_conn_binding(const struct rpc_conn *c)
{
    return c->binding;
}

void rpc_conn_admit(struct rpc_conn *c, uid_t uid, const char *origin)
{
    if (c->state != OPEN || !is_guest(c))
        return;
    auth_peer_set_user(c->peer, uid, origin);
    rpc_core_set_limit(c->core, c->o.limit ? c->o.limit : RPC_LIMIT_CLIENT);
    if (c->door.hooks)
        c->door.hooks->known(c->door.server, c);
    open_up(c);
}

static void rpc_conn_open_deferred(void *arg)
{
    struct rpc_conn *c = arg;

    if (c->state != ENDED && !c->closing)
        open_up(c);
    rpc_conn_unref(c);
}

struct rpc_conn *rpc_conn_adopt(struct loop *l, int fd, const struct rpc_conn_options *o, struct err *e)
{
    struct rpc_conn *c = rpc_conn_make(l, o, o->limit ? o->limit : RPC_LIMIT_DAEMON, e);

    if (!c) {
        close(fd);
        return NULL;
    }
    if (rpc_conn_attach(c, fd, e) < 0) {
        rpc_conn_destroy(c);
        return NULL;
    }
    c->state = OPEN;
    c->heard_mono_ms = clock_real_mono_ms();
    if (keepalive_ms(c) > 0)
        rpc_conn_open_set_timer(c, keepalive_ms(c));
    return c;
}

/* A local process that could read our key has a daemon's limits: a simulator says HELLO for thousands of vnodes. */
static bool is_one_of_us(const struct rpc_conn *c)
{
    return c->door.daemon_limit && (c->peer->uid == 0 || c->peer->uid == geteuid());
}

struct rpc_conn *rpc_conn_accept(struct loop *l, int fd, const struct rpc_conn_options *o,
                                 const struct rpc_conn_door *door, struct err *e)
{
    struct rpc_conn *c = rpc_conn_make(l, o, RPC_LIMIT_STRANGER, e);

    if (!c) {
        close(fd);
        return NULL;
    }
    c->door = *door;
    c->stranger = rpc_conn_open_take_stranger;
    c->is_server = true;
    if (rpc_conn_attach(c, fd, e) < 0) {
        rpc_conn_destroy(c);
        return NULL;
    }
    c->state = STRANGER;
    if (c->peer->kind == AUTH_LOCAL) {
        rpc_core_set_limit(c->core, is_one_of_us(c) ? door->daemon_limit
                                    : o->limit      ? o->limit
                                                    : RPC_LIMIT_CLIENT);
        open_up(c);
    } else {
        rpc_conn_open_set_timer(c, o->open_limit_ms ? o->open_limit_ms : OPEN_LIMIT_MS);
    }
    return c;
}

/* --- the client's way */

static void connected(struct rpc_conn *c, int fd)
{
    struct err e;

    c->fd = -1;
    if (rpc_conn_attach(c, fd, &e) < 0) {
        rpc_conn_end(c, &e);
        return;
    }
    if (!c->tls) {
        open_up(c);
        return;
    }
    c->state = ASKING;
    c->asking.ops = &asking_ops;
    if (rpc_core_call_starttls(c->core, &c->asking, c->o.ping_prog, c->o.ping_vers, &e) < 0)
        rpc_conn_end(c, &e);
    else
        rpc_conn_send(c);
}

static void rpc_conn_open_on_connect_ready(void *arg, unsigned ready)
{
    struct rpc_conn *c = arg;
    int fd = c->fd, failure = 0;
    socklen_t n = sizeof failure;
    struct err e;

    c->refs++;
    loop_watch_destroy(c->watch);
    c->watch = NULL;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) < 0)
        failure = errno;
    if (failure) {
        err_errno(&e, failure, "cannot connect");
        rpc_conn_end(c, &e);
    } else {
        connected(c, fd);
    }
    rpc_conn_unref(c);
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
static int rpc_conn_open_begin(struct rpc_conn *c, const struct rpc_conn_target *t, struct err *e)
{
    bool done;
    int fd = rpc_plug_dial(t, &done, e);

    if (fd < 0)
        return -1;
    if (rpc_conn_open_set_timer(c, c->o.open_limit_ms ? c->o.open_limit_ms : OPEN_LIMIT_MS) < 0) {
        close(fd);
        return err_set(e, ENOMEM, "no memory for a connection");
    }
    if (done) {
        if (rpc_conn_attach(c, fd, e) < 0)
            return -1;
        return rpc_conn_defer(c, rpc_conn_open_deferred) < 0
                   ? err_set(e, ENOMEM, "no memory for a connection")
                   : 0;
    }
    c->fd = fd;
    c->watch = loop_watch_create(c->loop, fd, LOOP_WRITE, rpc_conn_open_on_connect_ready, c, e);
    return c->watch ? 0 : -1;
}

struct rpc_conn *rpc_conn_connect(struct loop *l, const struct rpc_conn_target *t,
                                  const struct rpc_conn_options *o, struct err *e)
{
    struct rpc_conn *c = rpc_conn_make(l, o, o->limit ? o->limit : RPC_LIMIT_DAEMON, e);

    if (!c)
        return NULL;
    if (keep_target(c, t, e) == 0 && rpc_conn_open_begin(c, t, e) == 0)
        return c;
    rpc_conn_destroy(c);
    return NULL;
}
