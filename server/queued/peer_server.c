/* Connections to servers of other complexes. See peer_server.h.
 *
 * move_out.c has one for each move, depend_link.c one for each server. Each attempt: certificates are read, the host is looked up (names),
 * TCP and TLS are opened, and procedure 0 is answered; any failure on the way is `failed`, once.
 *
 * A question to `names` cannot be taken back: when its peer has gone meanwhile, the answer frees it; an answer that
 * never comes, since names goes, leaves it to peer_servers_destroy. */
#include "peer_server.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include <ifl.h>
#include <openssl/ssl.h>

#include "certs.h"
#include "conf.h"
#include "log.h"
#include "names.h"
#include "names_address.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "rpc_conn.h"
#include "words.h"

/* A choice: a TLS handshake on a loaded host; the request that waits for the peer is answered by then. */
enum { OPEN_LIMIT_MS = 10000 };

/* What the answer of names is for; the answer frees it. `peer_server` NULL: it was destroyed. */
struct peer_server_lookup {
    struct peer_server *peer_server;
};

struct peer_servers {
    struct loop *loop;
    struct names *names;
    const char *certs, *allowed; /* allowed: NULL: any */
    unsigned port;
};

struct peer_server {
    struct peer_servers *p;
    char host[PBS_MAXHOSTNAME + 1];
    uint16_t port;
    const struct peer_server_events *ev;
    void *arg;
    struct rpc_conn *conn;
    SSL_CTX *tls;
    bool ready; /* it is a server that trusts us, and we it */
    struct peer_server_lookup *asking;
    size_t n_dials;
};

static void peer_server_fail(struct peer_server *x, const struct err *why)
{
    struct err kept = *why;

    peer_server_hang_up(x);
    x->ev->failed(x->arg, &kept);
}

/* Who asks is any user, and has named the host and the port: whether something listens there, and what, is not told. */
static void fail_to_reach(struct peer_server *x, const struct err *why)
{
    struct err e;

    if (x->ready) {
        peer_server_fail(x, why);
        return;
    }
    log_event(LOGC_SVR, LOGE_DEBUG, x->host, "port %u: %s", x->port, why->text);
    err_set(&e, PBSE_SYSTEM,
            "no server that trusts this one, and is trusted by it, answers there (its log says more)");
    peer_server_fail(x, &e);
}

static void peer_server_on_let_in(void *arg, const struct rpc_outcome *o)
{
    struct peer_server *x = arg;

    if (o->status == RPC_ST_LOST)
        return; /* `closed` follows */
    if (o->status != RPC_ST_OK) {
        fail_to_reach(x, o->why);
    } else {
        x->ready = true;
        x->ev->ready(x->arg, x->conn);
    }
}

/* In TLS 1.3 our end is open before the other has looked at our certificate: procedure 0 tells that it has. */
static void peer_server_on_opened(void *arg, struct rpc_conn *c)
{
    const struct rpc_call_spec ping = {.id = {PBS_IFL_PROG, PBS_IFL_V1, 0}};
    struct err e;

    if (rpc_conn_call(c, &ping, peer_server_on_let_in, arg, &e) < 0)
        fail_to_reach(arg, &e);
}

static void peer_server_on_closed(void *arg, struct rpc_conn *c, const struct err *why)
{
    fail_to_reach(arg, why);
}

static const struct rpc_conn_events events = {.opened = peer_server_on_opened,
                                              .closed = peer_server_on_closed};

static void peer_server_connect_to(struct peer_server *x, const char *address)
{
    const struct rpc_conn_target where = {
        .address = address, .port = x->port, .tls = x->tls, .expect = AUTH_FOREIGN_SERVER};
    const struct rpc_conn_options o = {.events = &events,
                                       .arg = x,
                                       .open_limit_ms = OPEN_LIMIT_MS,
                                       .ping_prog = PBS_IFL_PROG,
                                       .ping_vers = PBS_IFL_V1};
    struct err e;

    x->conn = rpc_conn_connect(x->p->loop, &where, &o, &e);
    if (!x->conn)
        fail_to_reach(x, &e);
}

static void peer_server_on_host(void *arg, const struct names_host *h, const struct err *why)
{
    struct peer_server_lookup *a = arg;
    struct peer_server *x = a->peer_server;
    char text[INET6_ADDRSTRLEN];

    free(a);
    if (!x)
        return;
    x->asking = NULL;
    if (!h) {
        peer_server_fail(x, why);
        return;
    }
    names_address_text(h, x->n_dials++, text);
    peer_server_connect_to(x, text);
}

static void ask_names(struct peer_server *x)
{
    struct err e;

    x->asking = malloc(sizeof *x->asking);
    if (!x->asking) {
        err_set(&e, PBSE_SYSTEM, "no memory to ask for %s", x->host);
        peer_server_fail(x, &e);
        return;
    }
    *x->asking = (struct peer_server_lookup){.peer_server = x};
    names_ask_host(x->p->names, x->host, peer_server_on_host, x->asking);
}

/* The files are read at each try: an administrator may just have put them there. */
void peer_server_dial(struct peer_server *x)
{
    struct err e;

    SSL_CTX_free(x->tls);
    x->tls = certs_context(x->p->certs, "server", CERTS_PEER_CLIENT, &e);
    if (!x->tls)
        peer_server_fail(x, &e);
    else if (names_address_is_one(x->host))
        peer_server_connect_to(x, x->host);
    else
        ask_names(x);
}

void peer_server_hang_up(struct peer_server *x)
{
    rpc_conn_destroy(x->conn);
    x->conn = NULL;
    x->ready = false;
    if (x->asking)
        x->asking->peer_server = NULL;
    x->asking = NULL;
}

static bool is_entry(const struct peer_servers *p, const char *entry, const struct peer_server *x)
{
    char host[PBS_MAXHOSTNAME + 1];
    uint16_t port;

    return conf_split_host(entry, host, sizeof host, &port, (uint16_t)p->port, NULL) == 0 &&
           port == x->port && strcasecmp(host, x->host) == 0;
}

static int check_allowed(const struct peer_servers *p, const struct peer_server *x, struct err *e)
{
    struct words list;
    bool found = !p->allowed;

    words_init(&list);
    if (p->allowed && words_parse_commas(p->allowed, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.n && !found; i++)
        found = is_entry(p, list.w[i], x);
    words_fini(&list);
    return found ? 0
                 : err_set(e, PBSE_PERM,
                           "server %s port %u is not in PBS_PEER_SERVERS of this server's pbs.conf", x->host,
                           x->port);
}

struct peer_server *peer_server_create(struct peer_servers *p, const char *server,
                                       const struct peer_server_events *ev, void *arg, struct err *e)
{
    struct peer_server *x = calloc(1, sizeof *x);

    if (!x) {
        err_set(e, PBSE_SYSTEM, "no memory to ask %s", server);
        return NULL;
    }
    x->p = p;
    x->ev = ev;
    x->arg = arg;
    if (conf_split_host(server, x->host, sizeof x->host, &x->port, (uint16_t)p->port, e) == 0 &&
        check_allowed(p, x, e) == 0)
        return x;
    free(x);
    return NULL;
}

void peer_server_destroy(struct peer_server *x)
{
    if (!x)
        return;
    peer_server_hang_up(x);
    SSL_CTX_free(x->tls);
    free(x);
}

struct peer_servers *peer_servers_create(struct loop *l, struct names *n, const char *certs,
                                         const char *allowed, unsigned port)
{
    struct peer_servers *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct peer_servers){.loop = l, .names = n, .certs = certs, .allowed = allowed, .port = port};
    return p;
}

void peer_servers_destroy(struct peer_servers *p)
{
    free(p);
}
