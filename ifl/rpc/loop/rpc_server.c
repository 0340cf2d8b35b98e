/* Listeners and the list of connections. See rpc_server.h.
 *
 * The list's links lie in the connections (rpc_conn_link), and connections tell of their life through hooks: they
 * know no server. A TCP caller counts as a stranger from accept until it is known or gone, and strangers have a bound
 * of their own, at which one of them gives way (rpc_strangers.h). A user has a share of the connections; connections
 * beyond it are closed. */
#include "rpc_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "loop.h"
#include "rpc_frame.h"
#include "rpc_plug.h"
#include "rpc_shares.h"
#include "rpc_strangers.h"

/* Where the options say nothing. Strangers cost a descriptor and a TLS handshake each; 10 s is long for a handshake over
 * any network. SHARE_BYTES is a user's memory for calls, and once more for answers: some of the largest ones. All are
 * choices, and doc/security.md lists them. */
enum { MAX_CONNECTIONS = 20000, MAX_STRANGERS = 256, STRANGER_MS = 10000, SHARE_BYTES = 64 << 20 };
/* Choices too. ACCEPT_AT_ONCE: then those who are connected have their turn. COMPLAIN_MS: a flood is one line a minute.
 * OTHER_FILES: descriptors kept for files, children and connections that we make. USERS_AT_LEAST: so many users it takes
 * to use up all connections. */
enum { ACCEPT_AT_ONCE = 64, COMPLAIN_MS = 60000, OTHER_FILES = 256, USERS_AT_LEAST = 4 };

struct listener {
    struct listener *next;
    struct rpc_server *server;
    struct loop_watch *watch;
    int fd;
};

struct rpc_server {
    struct loop *loop;
    struct rpc_server_options o;
    struct rpc_conn_options conn;
    struct rpc_conn_door door;
    struct listener *listeners;
    struct rpc_conn *first;
    struct rpc_server_counts counts;
    struct rpc_shares *shares;
    struct rpc_strangers *strangers;
    int spare; /* a descriptor to give up when there is none left, so that a caller can be turned away */
    int64_t complained_mono_ms;
};

/* --- the list */

static void rpc_server_link_in(struct rpc_server *s, struct rpc_conn *c)
{
    *rpc_conn_link(c, true) = s->first;
    *rpc_conn_link(c, false) = NULL;
    if (s->first)
        *rpc_conn_link(s->first, false) = c;
    s->first = c;
}

static void rpc_server_unlink_from(struct rpc_server *s, struct rpc_conn *c)
{
    struct rpc_conn *next = *rpc_conn_link(c, true), *prev = *rpc_conn_link(c, false);

    if (prev)
        *rpc_conn_link(prev, true) = next;
    else
        s->first = next;
    if (next)
        *rpc_conn_link(next, false) = prev;
}

static void rpc_server_complain(struct rpc_server *s, const char *why)
{
    int64_t now = clock_real_mono_ms();

    s->counts.refused++;
    if (s->complained_mono_ms && now - s->complained_mono_ms < COMPLAIN_MS)
        return;
    s->complained_mono_ms = now;
    log_event(LOGC_TPP, LOGE_ERROR, s->o.name,
              "connections are closed: %s (%zu open, %zu of them not authenticated yet)", why,
              s->counts.connections, rpc_strangers_count(s->strangers));
}

/* Close a connection that is beyond its user's share. */
static void charge(struct rpc_server *s, struct rpc_conn *c)
{
    bool ok;
    struct rpc_share *u = rpc_shares_get(s->shares, rpc_conn_peer(c), &ok);
    const struct auth_peer *p = rpc_conn_peer(c);
    struct err e;

    if (ok && rpc_share_connect(u)) {
        rpc_conn_set_share(c, u);
        return;
    }
    rpc_share_unref(u);
    if (p->kind == AUTH_DAEMON)
        err_set(&e, EUSERS, "%s has %zu connections already, its share", p->role, s->o.each.connections);
    else
        err_set(&e, EUSERS, "user %ld has %zu connections already, the share of one user", (long)p->uid,
                s->o.each.connections);
    rpc_server_complain(s, e.text);
    rpc_conn_close(c, &e);
}

/* --- what connections tell us */

static void rpc_server_on_known(void *arg, struct rpc_conn *c)
{
    struct rpc_server *s = arg;

    if (rpc_conn_peer(c)->kind == AUTH_DAEMON)
        rpc_strangers_trust(s->strangers, c);
    rpc_strangers_remove(s->strangers, c);
    charge(s, c);
}

static void rpc_server_on_gone(void *arg, struct rpc_conn *c, const struct err *why)
{
    struct rpc_server *s = arg;

    rpc_server_unlink_from(s, c);
    s->counts.connections--;
    rpc_strangers_remove(s->strangers, c);
    rpc_share_disconnect(rpc_conn_share(c));
    if (why->code == EBADMSG || why->code == EMSGSIZE)
        s->counts.broken++;
}

static void rpc_server_on_called(void *arg)
{
    ((struct rpc_server *)arg)->counts.calls++;
}

static const struct rpc_conn_hooks hooks = {
    .known = rpc_server_on_known, .gone = rpc_server_on_gone, .called = rpc_server_on_called};

/* --- accepting */

static bool is_inet(int fd)
{
    int domain = 0;
    socklen_t n = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 && domain != AF_UNIX;
}

/* When all places are taken, another stranger gives way. */
static void make_place(struct rpc_server *s)
{
    struct rpc_conn *c;
    struct err e;

    while ((c = rpc_strangers_victim(s->strangers))) {
        err_set(&e, EUSERS, "%zu connections wait to say who they are, most of them from there",
                s->o.max_strangers);
        rpc_server_complain(s, "too many that did not say who they are, the oldest of those with most");
        rpc_conn_end(c, &e);
    }
}

static void rpc_server_take(struct rpc_server *s, int fd)
{
    struct rpc_conn *c;
    struct err e;
    bool stranger = is_inet(fd);
    rpc_address_key from = stranger ? rpc_strangers_key(fd) : 0;

    if (s->counts.connections >= s->o.max_connections) {
        rpc_server_complain(s, "too many connections");
        close(fd);
        return;
    }
    if (stranger)
        make_place(s);
    c = rpc_conn_accept(s->loop, fd, &s->conn, &s->door, &e);
    if (!c) {
        rpc_server_complain(s, e.text);
        return;
    }
    rpc_server_link_in(s, c);
    s->counts.accepted++;
    s->counts.connections++;
    if (stranger)
        rpc_strangers_add(s->strangers, c, from);
    charge(s, c);
}

/* Without a descriptor the listener would stay readable for ever: take one caller and close it. */
static void turn_away(struct rpc_server *s, int listen_fd)
{
    int fd;

    rpc_server_complain(s, "no file descriptor is left");
    if (s->spare < 0)
        return;
    close(s->spare);
    fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void rpc_server_on_ready(void *arg, unsigned ready)
{
    struct listener *l = arg;
    int i;

    for (i = 0; i < ACCEPT_AT_ONCE; i++) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0)
            rpc_server_take(l->server, fd);
        else if (errno == EMFILE || errno == ENFILE)
            turn_away(l->server, l->fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* --- making and listening */

/* How many descriptors we may have in the end. */
static size_t raise_files(size_t wanted)
{
    struct rlimit r, more;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return wanted;
    more = r;
    more.rlim_cur = r.rlim_max < wanted ? r.rlim_max : wanted;
    if (r.rlim_cur >= wanted || setrlimit(RLIMIT_NOFILE, &more) < 0)
        return (size_t)r.rlim_cur;
    return (size_t)more.rlim_cur;
}

/* Files, children and outgoing connections need descriptors as well, so accepted connections must leave some. */
static void bound_by_files(struct rpc_server_options *o)
{
    size_t files = raise_files(o->max_connections + OTHER_FILES);
    size_t others = files / 2 < OTHER_FILES ? files / 2 : OTHER_FILES;

    if (o->max_connections > files - others)
        o->max_connections = files - others;
    if (!o->each.connections || o->each.connections > o->max_connections / USERS_AT_LEAST)
        o->each.connections = o->max_connections / USERS_AT_LEAST;
}

static void fill_defaults(struct rpc_server_options *o)
{
    o->max_connections = o->max_connections ? o->max_connections : MAX_CONNECTIONS;
    o->max_strangers = o->max_strangers ? o->max_strangers : MAX_STRANGERS;
    o->stranger_ms = o->stranger_ms ? o->stranger_ms : STRANGER_MS;
    o->each.memory_bytes = o->each.memory_bytes ? o->each.memory_bytes : SHARE_BYTES;
    o->each.output_bytes = o->each.output_bytes ? o->each.output_bytes : SHARE_BYTES;
    o->client_limit = o->client_limit ? o->client_limit : RPC_LIMIT_CLIENT;
    o->daemon_limit = o->daemon_limit ? o->daemon_limit : RPC_LIMIT_DAEMON;
}

struct rpc_server *rpc_server_create(struct loop *l, const struct rpc_server_options *o, struct err *e)
{
    struct rpc_server *s = calloc(1, sizeof *s);

    if (!s) {
        err_set(e, ENOMEM, "no memory for the RPC server");
        return NULL;
    }
    s->loop = l;
    s->o = *o;
    fill_defaults(&s->o);
    bound_by_files(&s->o);
    s->shares = rpc_shares_create(l, &s->o.each);
    s->strangers = rpc_strangers_create(s->o.max_strangers);
    if (!s->shares || !s->strangers) {
        rpc_shares_destroy(s->shares);
        rpc_strangers_destroy(s->strangers);
        free(s);
        err_set(e, ENOMEM, "no memory for the RPC server");
        return NULL;
    }
    s->o.tls = rpc_plug_ref_context(o->tls);
    s->conn = (struct rpc_conn_options){.served = o->served,
                                        .limit = s->o.client_limit,
                                        .open_limit_ms = s->o.stranger_ms,
                                        .keepalive_ms = o->keepalive_ms,
                                        .unread_ms = o->unread_ms,
                                        .events = o->events,
                                        .arg = o->arg};
    if (o->served && o->served->program) {
        s->conn.ping_prog = o->served->program->prog;
        s->conn.ping_vers = o->served->program->vers;
    }
    s->door = (struct rpc_conn_door){.tls = s->o.tls,
                                     .guests = o->guests,
                                     .daemon_limit = s->o.daemon_limit,
                                     .hooks = &hooks,
                                     .server = s};
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return s;
}

static int listen_on(struct rpc_server *s, int fd, struct err *e)
{
    struct listener *l = calloc(1, sizeof *l);

    if (l) {
        l->server = s;
        l->fd = fd;
        l->watch = loop_watch_create(s->loop, fd, LOOP_READ, rpc_server_on_ready, l, e);
        if (l->watch) {
            l->next = s->listeners;
            s->listeners = l;
            return 0;
        }
        free(l);
    } else {
        err_set(e, ENOMEM, "no memory for a listener");
    }
    close(fd);
    return -1;
}

int rpc_server_listen_unix(struct rpc_server *s, const char *path, mode_t mode, struct err *e)
{
    int fd = rpc_plug_listen_unix(path, mode, e);

    return fd < 0 ? -1 : listen_on(s, fd, e);
}

int rpc_server_listen_tcp(struct rpc_server *s, const char *address, uint16_t port, struct err *e)
{
    uint16_t bound;
    int fd = rpc_plug_listen_tcp(address, port, &bound, e);

    if (fd < 0 || listen_on(s, fd, e) < 0)
        return -1;
    return bound;
}

static void rpc_server_stop_listening(struct rpc_server *s)
{
    while (s->listeners) {
        struct listener *l = s->listeners;

        s->listeners = l->next;
        loop_watch_destroy(l->watch);
        close(l->fd);
        free(l);
    }
}

void rpc_server_destroy(struct rpc_server *s)
{
    struct err why;

    if (!s)
        return;
    rpc_server_stop_listening(s);
    err_set(&why, ESHUTDOWN, "this side shuts down");
    for (struct rpc_conn *c = s->first; c; c = *rpc_conn_link(c, true))
        rpc_conn_mute(c); /* the end of one may answer calls of another; no turn follows that could send it */
    while (s->first)
        rpc_conn_end(s->first, &why);
    rpc_plug_free_context(s->o.tls);
    rpc_shares_destroy(s->shares);
    rpc_strangers_destroy(s->strangers);
    if (s->spare >= 0)
        close(s->spare);
    free(s);
}

/* The connection called about may end itself meanwhile; the next one is looked up before. */
void rpc_server_each(struct rpc_server *s, void (*fn)(void *arg, struct rpc_conn *c), void *arg)
{
    struct rpc_conn *c, *next;

    for (c = s->first; c; c = next) {
        next = *rpc_conn_link(c, true);
        fn(arg, c);
    }
}

struct rpc_server_counts rpc_server_get_counts(const struct rpc_server *s)
{
    struct rpc_server_counts counts = s->counts;

    counts.strangers = rpc_strangers_count(s->strangers);
    return counts;
}
