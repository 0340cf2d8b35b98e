/* From a call to its handler. See dispatch.h.
 *
 * Steps of one call, each of which can be the last:
 *   dispatch_call       a guest's call goes to munge_login.c; else the connection's session is found or made
 *   ask_name, locate    at the first call: user by uid, then host by address; both may ask the lookup worker
 *   become              the session has a client; its queue opens
 *   conn_queue          calls in order; those that look wait for a turn of the background
 *   dispatch_check      level of the client, least level of the row, lists of the server, and for changes: is the store well
 *   dispatch_is_gated   hooks of the row's event: the request is parked, and dispatch_pass checks again afterwards
 *   row->handler        answers now or later; it holds no permission code but that for its own objects
 *
 * A connection carries a `session`, made at its first call. The kernel or MUNGE give a number, people and lists
 * know names: so a user's first call may have to wait for the lookup worker, and all calls that come meanwhile
 * wait behind it in the connection queue. Then the session has a client, and the queue is opened. A daemon has
 * its role as its name; a guest, a peer that is not authenticated yet, is served by munge_login.c alone.
 *
 * The connection may close while the name is asked for; the answer, which names_stop() gives where the server ends before, then
 * finds `gone` and frees the session. And a handler may close the connection under us: no
 * session is touched after a handler ran. */
#include "dispatch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "munge_login.h"
#include "histogram.h"
#include "host_address.h"
#include "intern.h"
#include "conn_queue.h"
#include "log.h"
#include "names.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "server_ctx.h"
#include "server_events.h"

enum { PROCS = 256 };              /* numbers of procedures are below that */
enum { UNNAMED_LINGER_MS = 1000 }; /* a peer that reads has the refusal by then (as in rpc_conn.c) */

struct dispatch {
    struct dispatch_options o;
    struct histogram *took; /* a row each */
    uint8_t row_of[PROCS];  /* by procedure: its row and 1; 0: it has none */
};

/* What belongs to a connection: its calls, and its client once that is known. */
struct dispatch_session {
    struct dispatch *d;
    struct client *client;
    struct conn_queue *conn_queue;
    struct rpc_conn *conn;
    struct auth_peer *peer; /* whose name is asked for */
    char *user;             /* the answer, while the host's name is asked for */
    struct err unnamed;     /* why the name could not be asked for; code 0: it could, or none is needed */
    bool asked, gone;
};

/* Lists may name this host in full. No request waits for it: a resolver may be slow. */
static void dispatch_own_name_cb(void *arg, const struct names_host *h, const struct err *why)
{
    struct dispatch *d = arg;

    if (h && h->other && !d->o.ctx->full_name)
        d->o.ctx->full_name = intern_ref(h->other);
}

struct dispatch *dispatch_create(const struct dispatch_options *o)
{
    struct dispatch *d = calloc(1, sizeof *d);

    if (!d || !(d->took = calloc(o->n_rows, sizeof *d->took))) {
        free(d);
        return NULL;
    }
    d->o = *o;
    assert(o->n_rows < PROCS);
    for (size_t i = 0; i < o->n_rows; i++) {
        assert(o->rows[i].proc < PROCS);
        d->row_of[o->rows[i].proc] = (uint8_t)(i + 1);
    }
    names_ask_host(o->names, o->ctx->name, dispatch_own_name_cb, d);
    return d;
}

static const struct request_row *find_row(const struct dispatch *d, unsigned proc)
{
    size_t at = proc < PROCS ? d->row_of[proc] : 0;

    return at ? &d->o.rows[at - 1] : NULL;
}

void dispatch_answered(void *dispatch, const struct rpc_proc *p, int64_t us)
{
    struct dispatch *d = dispatch;

    if (p->proc < PROCS && d->row_of[p->proc])
        histogram_add(&d->took[d->row_of[p->proc] - 1], us);
}

const struct histogram *dispatch_took(const struct dispatch *d, size_t row)
{
    return &d->took[row];
}

/* PBS's text, to the blank at its end: programs compare it. A server of another complex and a user are never served
 * the same row: what one of them may ask is refused to the other. */
static int may(const struct request_row *row, const struct client *c, struct err *e)
{
    if (client_is_foreign_server(c) != (row->least == LEVEL_SERVER))
        return err_set(e, PBSE_PERM, "Unauthorized Request ");
    switch (row->least) {
    case LEVEL_USER:
        return 0;
    case LEVEL_OPERATOR:
        return client_level(c) >= LEVEL_OPERATOR ? 0 : err_set(e, PBSE_PERM, "Unauthorized Request ");
    case LEVEL_MANAGER:
        return client_level(c) >= LEVEL_MANAGER ? 0 : err_set(e, PBSE_PERM, "Unauthorized Request ");
    case LEVEL_SCHED:
        if (client_sched(c))
            return 0;
        return err_set(e, PBSE_PERM, "only a registered scheduler may ask for this (pbs_register_sched)");
    case LEVEL_SERVER:
        return 0;
    case LEVEL_COUNT:
        break;
    }
    return err_set(e, PBSE_PERM, "Unauthorized Request ");
}

static int dispatch_check(struct dispatch *d, const struct request *r, const struct request_row *row,
                          struct client *c, struct err *e)
{
    client_set_level(c, access_level_of(d->o.ctx, c));
    if (may(row, c, e) < 0) {
        request_log_unauthorized(r, "server", d->o.ctx->name);
        return -1;
    }
    if (d->o.serves(d->o.ctx, c, e) < 0)
        return -1;
    return row->kind == REQUEST_CHANGES ? d->o.open(d->o.open_arg, row, e) : 0;
}

/* Check again: what may be done and by whom can have changed while hooks ran. */
static void dispatch_pass(void *dispatch, struct request *r)
{
    struct dispatch *d = dispatch;
    struct err e;

    if (dispatch_check(d, r, request_row(r), request_client(r), &e) < 0)
        request_fail(r, &e);
    else
        request_row(r)->handler(d->o.parts, r);
}

static bool dispatch_is_gated(struct dispatch *d, struct request *r)
{
    return d->o.gates && *d->o.gates && request_row(r)->gate && d->o.gate(d->o.gate_arg, r, dispatch_pass, d);
}

static void dispatch_run(struct dispatch *d, struct rpc_request *rpc, struct client *c)
{
    const struct request_row *row = find_row(d, rpc_request_proc(rpc)->proc);
    struct request *r;
    struct err e;

    if (!row || !(r = request_create(rpc, row, c))) {
        rpc_reply_error(rpc, row ? RPC_ST_SYSTEM_ERR : RPC_ST_PROC_UNAVAIL);
        return;
    }
    log_event(LOGC_REQ, LOGE_DEBUG, "", "Type %u request received from %s, sock=%d", row->proc, client_who(c),
              rpc_request_conn(rpc) ? rpc_conn_fd(rpc_request_conn(rpc)) : -1);
    if (client_sched(c))
        server_events_tell(d->o.ctx->events, &(struct server_event){.kind = EVENT_SCHED_HEARD, .client = c});
    if (dispatch_check(d, r, row, c, &e) < 0)
        request_fail(r, &e);
    else if (!dispatch_is_gated(d, r))
        row->handler(d->o.parts, r);
    request_unref(r);
}

/* A client whose name cannot be looked up now is not served: its connection ends, and its next one asks again. */
static void refuse_unnamed(struct dispatch_session *s, struct rpc_request *rpc)
{
    const struct request_row *row = find_row(s->d, rpc_request_proc(rpc)->proc);
    struct request *r = row ? request_create(rpc, row, s->client) : NULL;

    if (r)
        request_fail(r, &s->unnamed);
    else
        rpc_reply_error(rpc, row ? RPC_ST_SYSTEM_ERR : RPC_ST_PROC_UNAVAIL);
    request_unref(r);
    rpc_conn_close_when_sent(s->conn, UNNAMED_LINGER_MS);
}

static void dispatch_make_call(void *session, void *rpc)
{
    struct dispatch_session *s = session;
    struct client *c = client_ref(s->client);

    if (s->unnamed.code)
        refuse_unnamed(s, rpc);
    else
        dispatch_run(s->d, rpc, c); /* s may be gone now */
    rpc_request_unref(rpc);
    client_unref(c);
}

static void dispatch_drop_call(void *rpc)
{
    rpc_request_unref(rpc);
}

static const struct conn_queue_ops dispatch_queue_ops = {.make = dispatch_make_call,
                                                         .drop = dispatch_drop_call};

static void session_free(struct dispatch_session *s)
{
    conn_queue_destroy(s->conn_queue);
    client_unref(s->client);
    auth_peer_unref(s->peer);
    free(s->user);
    free(s);
}

/* While the name is being asked for, the answer still needs the session: it is freed there. */
static void dispatch_session_closed(void *user, struct rpc_conn *conn, const struct err *why)
{
    struct dispatch_session *s = user;

    if (s->client)
        client_set_conn(s->client, NULL);
    if (s->client)
        server_events_tell(s->d->o.ctx->events,
                           &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = s->client});
    if (s->asked)
        s->gone = true;
    else
        session_free(s);
}

void dispatch_destroy(struct dispatch *d)
{
    if (d)
        free(d->took);
    free(d);
}

static const struct rpc_conn_tag session_tag = {"ifl", dispatch_session_closed};

/* The address of the host that a user comes from; NULL: this host. A user from elsewhere is where the connection comes from, or,
 * where a relay on this host lies between, at the address that the credential names. Root by MUNGE is never at this host. */
static const char *foreign_address(const struct server_ctx *ctx, const struct auth_peer *peer, char out[64])
{
    if (peer->kind != AUTH_USER)
        return NULL;
    if (auth_peer_is_loopback(peer) && peer->origin[0])
        return peer->origin;
    return !auth_peer_is_loopback(peer) || access_is_distant(ctx, peer) ? auth_peer_address(peer, out) : NULL;
}

/* The names are known. Without memory there is no client: the queue stays closed, and the next call of the connection
 * tries again. */
static void become(struct dispatch_session *s, const struct auth_peer *peer, const char *user,
                   const char *host, const char *other)
{
    s->asked = false;
    s->client = client_create(s->d->o.ctx, peer, user, host);
    if (!s->client)
        return;
    if (other)
        client_set_other_host(s->client, other);
    client_set_conn(s->client, s->conn);
    conn_queue_open(s->conn_queue); /* s may be gone now */
}

/* An address that has no name of its own remains an address. */
static void dispatch_located(void *arg, const struct names_host *h, const struct err *why)
{
    struct dispatch_session *s = arg;
    char room[64];

    if (s->gone)
        session_free(s);
    else
        become(s, s->peer, s->user, h ? h->name : foreign_address(s->d->o.ctx, s->peer, room),
               h ? h->other : NULL);
}

/* Root of the realm can put any address into a credential, and a user of this host can relay it: where the connection does not
 * come from another host, it stays at an address, so that a list that names this host does not mean it. */
static bool stays_at_address(const struct server_ctx *ctx, const struct auth_peer *peer, const char *address)
{
    return access_is_distant(ctx, peer) &&
           (auth_peer_is_loopback(peer) || host_address_is_of_this_host(address));
}

/* The user is known; look up the name of the host, which Job_Owner, ACLs and paths of output need. */
static void locate(struct dispatch_session *s, struct auth_peer *peer, const char *user)
{
    char room[64];
    const struct server_ctx *ctx = s->d->o.ctx;
    const char *address = foreign_address(ctx, peer, room);
    const struct names_host *known;

    if (!address || stays_at_address(ctx, peer, address)) {
        become(s, peer, user, address ? address : ctx->name, NULL);
        return;
    }
    known = names_find_address(s->d->o.names, address);
    if (known) {
        become(s, peer, user, known->name, known->other);
        return;
    }
    s->asked = true;
    if (!s->peer)
        s->peer = auth_peer_ref(peer);
    free(s->user);
    s->user = strdup(user);
    if (s->user)
        names_ask_address(s->d->o.names, address, dispatch_located, s);
    else
        become(s, peer, user, address, NULL);
}

/* A uid without a name here is served under its number, which no ACL names. A lookup that failed for another reason
 * (the directory service is away) is not the same: the user may have a name, so the call is refused. */
static void dispatch_named(void *arg, const struct names_user *u, const struct err *why)
{
    struct dispatch_session *s = arg;
    char number[32];

    if (s->gone) {
        session_free(s);
        return;
    }
    snprintf(number, sizeof number, "%u", (unsigned)s->peer->uid);
    if (!u && why->code != ENOENT) {
        log_err(LOGC_REQ, "names", why, "uid %s cannot be looked up, and its calls are refused", number);
        err_set(&s->unnamed, PBSE_TRYAGAIN,
                "user %s cannot be looked up on the server's host now, try again later: %s", number,
                why->text);
        become(s, s->peer, number, s->d->o.ctx->name, NULL);
        return;
    }
    if (!u)
        log_err(LOGC_REQ, "names", why, "uid %s has no name on this host and is served as user %s", number,
                number);
    locate(s, s->peer, u ? u->name : number);
}

/* NULL: no memory. */
static struct dispatch_session *session_of(struct dispatch *d, struct rpc_conn *conn)
{
    struct dispatch_session *s = rpc_conn_user(conn, &session_tag);

    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->d = d;
    s->conn = conn;
    s->conn_queue = conn_queue_create(d->o.loop, &dispatch_queue_ops, s);
    if (!s->conn_queue) {
        free(s);
        return NULL;
    }
    rpc_conn_set_user(conn, &session_tag, s);
    return s;
}

static void ask_name(struct dispatch_session *s, struct rpc_request *rpc)
{
    struct auth_peer *peer = rpc_request_peer(rpc);
    const struct names_user *known;

    if (peer->kind == AUTH_DAEMON) {
        become(s, peer, peer->role, s->d->o.ctx->name, NULL);
        return;
    }
    known = names_find_uid(s->d->o.names, peer->uid);
    if (known) {
        locate(s, peer, known->name);
        return;
    }
    s->asked = true;
    if (!s->peer)
        s->peer = auth_peer_ref(peer);
    names_ask_uid(s->d->o.names, peer->uid, dispatch_named, s);
}

static bool looks(const struct dispatch *d, const struct rpc_request *rpc)
{
    const struct request_row *row = find_row(d, rpc_request_proc(rpc)->proc);

    return row && row->kind == REQUEST_LOOKS;
}

void dispatch_on_hung(void *dispatch, const struct server_event *ev)
{
    struct rpc_conn *conn = client_conn(ev->client);
    struct err e;

    err_set(&e, PBSE_SYSTEM, "the scheduler hangs");
    if (conn)
        rpc_conn_close(conn, &e);
}

void dispatch_call(void *dispatch, struct rpc_request *rpc)
{
    struct dispatch *d = dispatch;
    struct dispatch_session *s;

    if (rpc_request_peer(rpc)->kind == AUTH_GUEST) {
        munge_login_serve(d->o.munge_login, rpc);
        return;
    }
    s = session_of(d, rpc_request_conn(rpc));
    if (s && !s->client && !s->asked)
        ask_name(s, rpc);
    rpc_request_ref(rpc);
    if (s && conn_queue_call(s->conn_queue, rpc, looks(d, rpc)) == 0)
        return;
    rpc_reply_error(rpc, RPC_ST_SYSTEM_ERR);
    rpc_request_unref(rpc);
}
