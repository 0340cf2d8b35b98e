/* Handles, links and tickets of libpbs. See connection.h.
 *
 * A handle is an index into one table of the process, as the interface wants it. Behind it: connection -> link ->
 * rpc. The link is counted, by its connection, by each ticket and by each call under way. So a thread that waits
 * never sees its rpc freed, even if another disconnects; and the handle may get a new link while calls on the old one
 * end. One lock guards table, counts and tickets. It is not held while connecting or waiting.
 *
 * Connecting: the local socket first, if this host is meant; only if no server answers there, TCP with TLS. A program
 * without a daemon's certificate then proves its user by MUNGE, before the handle is returned. The standby server of
 * a failover pair does not serve IFL, and says so to procedure 0: then the other one is tried. */
#include "connection.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "auth_munge.h"
#include "rpc_transport.h"
#include "clock.h"
#include "module_path.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "replaceable.h"
#include "pbs_info.h"
#include "report.h"

#include <ifl.h>

/* Choices. HANDLES: more than any program has use for, and a bound for one that never disconnects. CONNECT_LIMIT_MS: for
 * connecting and TLS, so that a dead host is noticed by a person who waits. AGAIN_PAUSE_MS: between two tries to reach a
 * server that was lost. */
enum { HANDLES = 4096, CONNECT_LIMIT_MS = 10000, AGAIN_PAUSE_MS = 50 };
/* One host of a pair may be dead, and every command would wait for it: 3 s is a choice. A takeover takes longer, so
 * connection_again multiplies its limit by 4. */
enum { PAIR_LIMIT_MS = 3000, TAKEOVER_TIMES = 4 };

struct connection_link {
    struct rpc_sync *rpc;
    int refs;
};

struct ticket {
    struct ticket *next;
    int number;
    xdrproc_t codec;
    struct rpc_sync_call *call;
    struct connection_link *link; /* held */
};

struct connection {
    struct connection_link *link; /* held */
    struct pbs_info_target *targets;
    int n_targets;
    struct ticket *tickets, **tail; /* in the order they were sent */
    int last_ticket;
};

/* The interface defines a handle as a small number, so a table of all connections is needed. Guarded by `lock`, with
 * everything in links, connections and tickets. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *handles[HANDLES];

/* --- links */
static struct connection_link *connection_link_create(struct rpc_sync *rpc)
{
    struct connection_link *l = rpc ? malloc(sizeof *l) : NULL;

    if (!l) {
        rpc_sync_destroy(rpc);
        return NULL;
    }
    *l = (struct connection_link){.rpc = rpc, .refs = 1};
    return l;
}

/* With the lock. Destroying closes a descriptor and never waits. */
static void link_drop(struct connection_link *l)
{
    if (--l->refs > 0)
        return;
    rpc_sync_destroy(l->rpc);
    free(l);
}

struct rpc_sync *connection_rpc(const struct connection_link *l)
{
    return l->rpc;
}

void connection_release(struct connection_link *l)
{
    if (!l)
        return;
    (void)pthread_mutex_lock(&lock);
    link_drop(l);
    (void)pthread_mutex_unlock(&lock);
}

static struct connection *connection_find(int c)
{
    return c > 0 && c < HANDLES ? handles[c] : NULL;
}

static int bad_handle(int c, struct err *e)
{
    return err_set(e, PBSE_NOCONNECTS, "%d is not a connection to a server", c);
}

struct connection_link *connection_hold(int c, struct err *e)
{
    struct connection *cn;
    struct connection_link *l = NULL;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    if (cn) {
        l = cn->link;
        l->refs++;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!l)
        (void)bad_handle(c, e);
    return l;
}

/* --- connecting */
static int make_credential(const struct pbs_info_target *t, const void *binding, size_t n, char **cred,
                           struct err *e)
{
    auth_munge_make_fn *make = NULL;
    char path[PATH_MAX];
    void *module;

    module_path(path, sizeof path, "libauth_munge.so");
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays loaded, as TLS does */
    if (module)
        *(void **)&make = dlsym(module, "auth_munge_make");
    if (!make)
        return err_set(e, EPROTONOSUPPORT, "cannot load the MUNGE module: %s", dlerror());
    return make(t->munge_socket, binding, n, cred, e);
}

/* Without a certificate: a credential that is good for this connection alone. */
static int prove_identity(struct rpc_sync *s, const struct pbs_info_target *t, struct err *e)
{
    const struct rpc_proc_id id = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = IFL_AUTHENTICATE};
    unsigned char binding[AUTH_MUNGE_BINDING];
    ifl_authenticate_args args = {.method = (char *)"munge"};
    ifl_result result = {0};
    int rc;

    if (rpc_sync_export(s, AUTH_MUNGE_LABEL, binding, sizeof binding, e) < 0 ||
        make_credential(t, binding, sizeof binding, &args.credential, e) < 0)
        return -1;
    rc = rpc_sync_call(s, &id, (xdrproc_t)xdr_ifl_authenticate_args, &args, (xdrproc_t)xdr_ifl_result,
                       &result, CONNECT_LIMIT_MS, e);
    if (rc == 0 && result.code != 0)
        rc = err_set(e, result.code, "%s", result.text ? result.text : "");
    xdr_free((xdrproc_t)xdr_ifl_result, (char *)&result);
    free(args.credential);
    return rc;
}

/* 0, or -1: this server is the standby of the pair. */
static int check_active(struct rpc_sync *s, const struct pbs_info_target *t, struct err *e)
{
    const struct rpc_proc_id ping = {.prog = PBS_IFL_PROG, .vers = PBS_IFL_V1, .proc = 0};

    if (!t->of_pair || rpc_sync_call(s, &ping, NULL, NULL, NULL, NULL, PAIR_LIMIT_MS, e) == 0)
        return 0;
    if (e->code == EPROTONOSUPPORT)
        return err_set(e, PBSE_NOSERVER, "server %s is the standby: it is not active", t->name);
    return -1;
}

static struct rpc_sync *dial_tcp(const struct pbs_info_target *t, struct err *e)
{
    char module[PATH_MAX];
    struct rpc_sync_tls tls = {
        .module = module,
        .certs = t->certs,
        .role = *t->role ? t->role : NULL,
        .expect = t->other ? AUTH_TLS_ANY "server" : "server",
        .prog = PBS_IFL_PROG,
        .vers = PBS_IFL_V1,
    };
    struct rpc_sync *s;

    module_path(module, sizeof module, "libauth_tls.so"); /* not before: the local socket needs none */
    s = rpc_sync_connect_tcp(t->host, t->port, &tls, t->of_pair ? PAIR_LIMIT_MS : CONNECT_LIMIT_MS, e);
    if (s && (check_active(s, t, e) < 0 || (!*t->role && prove_identity(s, t, e) < 0))) {
        rpc_sync_destroy(s);
        return NULL;
    }
    return s;
}

static struct rpc_sync *connection_dial(const struct pbs_info_target *t, struct err *e)
{
    struct rpc_sync *s;

    if (*t->socket) {
        s = rpc_sync_connect_unix(t->socket, CONNECT_LIMIT_MS, e);
        if (s || (e->code != ENOENT && e->code != ECONNREFUSED))
            return s;
    }
    return dial_tcp(t, e);
}

/* Connect to the first server that answers. NULL with the error of the last one. */
static struct rpc_sync *dial_any(const struct pbs_info_target *t, int n, struct err *e)
{
    struct rpc_sync *s = NULL;

    for (int i = 0; i < n && !s; i++) {
        report_set_server(t[i].name);
        s = connection_dial(&t[i], e);
    }
    return s;
}

static int connection_put(struct connection *cn)
{
    int c = -1;

    (void)pthread_mutex_lock(&lock);
    for (int i = 1; i < HANDLES && c < 0; i++)
        if (!handles[i])
            c = i;
    if (c > 0)
        handles[c] = cn;
    (void)pthread_mutex_unlock(&lock);
    return c;
}

/* `t` is the connection's from now on, also when there is none. */
static struct connection *open_targets(struct pbs_info_target *t, int n, struct err *e)
{
    struct connection *cn = calloc(1, sizeof *cn);
    struct rpc_sync *rpc = cn ? dial_any(t, n, e) : NULL;

    if (rpc)
        cn->link = connection_link_create(rpc);
    if (!cn || (rpc && !cn->link))
        (void)err_set(e, PBSE_SYSTEM, "no memory for a connection");
    if (!cn || !cn->link) {
        free(cn);
        free(t);
        return NULL;
    }
    cn->targets = t;
    cn->n_targets = n;
    cn->tail = &cn->tickets;
    return cn;
}

static void close_all(struct connection *cn)
{
    while (cn->tickets) {
        struct ticket *t = cn->tickets;

        cn->tickets = t->next;
        rpc_sync_cancel(t->call);
        link_drop(t->link);
        free(t);
    }
    link_drop(cn->link);
    free(cn->targets);
    free(cn);
}

int pbs_connect_extend(const char *server, const char *extend_data)
{
    struct pbs_info_target *t = malloc(PBS_INFO_TARGETS * sizeof *t);
    struct connection *cn = NULL;
    struct err e = {.code = PBSE_SYSTEM};
    int n, c = -1;

    (void)extend_data; /* not sent; a daemon's name is in its certificate */
    report_clear(-1);
    n = t ? pbs_info_targets(server, t, &e) : -1;
    if (n > 0)
        cn = open_targets(t, n, &e);
    else
        free(t);
    if (!cn) {
        (void)report_err(-1, &e);
        return -1;
    }
    c = connection_put(cn);
    if (c < 0) {
        (void)pthread_mutex_lock(&lock);
        close_all(cn);
        (void)pthread_mutex_unlock(&lock);
        (void)report_set(-1, PBSE_NOCONNECTS, "this process has %d connections open already", HANDLES - 1);
    } else {
        report_clear(c); /* the number may have been another connection's */
    }
    return c;
}

int pbs_connect(const char *server)
{
    return pbs_connect_extend(server, NULL);
}

int pbs_disconnect(int c)
{
    struct connection *cn;
    struct err e;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    if (cn) {
        handles[c] = NULL;
        close_all(cn);
    }
    (void)pthread_mutex_unlock(&lock);
    if (!cn) {
        (void)bad_handle(c, &e);
        (void)report_err(-1, &e);
    }
    return cn ? 0 : -1; /* pbs_errno stays: it may say why one disconnects */
}

int pbs_query_max_connections(void)
{
    return HANDLES - 1;
}

int pbs_connection_set_nodelay(int c)
{
    return pbs_fd(c) < 0 ? -1 : 0;
}

/* --- again */
static int copy_targets(int c, struct pbs_info_target out[static PBS_INFO_TARGETS])
{
    struct connection *cn;
    int n = 0;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    if (cn) {
        n = cn->n_targets;
        memcpy(out, cn->targets, (size_t)n * sizeof *out);
    }
    (void)pthread_mutex_unlock(&lock);
    return n;
}

/* Put `fresh` behind c unless another thread was quicker; the link to use is held. */
static struct connection_link *connection_replace(int c, struct connection_link *old,
                                                  struct connection_link *fresh)
{
    struct connection *cn;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    if (cn && cn->link == old) {
        link_drop(old);
        cn->link = fresh;
        fresh->refs++;
    }
    (void)pthread_mutex_unlock(&lock);
    return fresh;
}

struct connection_link *connection_again(int c, struct connection_link *old, int64_t limit_ms, struct err *e)
{
    struct pbs_info_target *t = malloc(PBS_INFO_TARGETS * sizeof *t);
    int n = t ? copy_targets(c, t) : 0;
    int64_t end = clock_real_mono_ms() + (n > 1 ? TAKEOVER_TIMES * limit_ms : limit_ms);
    struct rpc_sync *rpc = NULL;
    struct connection_link *l;

    if (!n) {
        free(t);
        (void)bad_handle(c, e);
        return NULL;
    }
    while (!(rpc = dial_any(t, n, e)) && clock_real_mono_ms() < end)
        (void)poll(NULL, 0, AGAIN_PAUSE_MS);
    free(t);
    l = connection_link_create(rpc);
    return l ? connection_replace(c, old, l) : NULL;
}

/* --- tickets */
static int connection_append(struct connection *cn, struct ticket *t)
{
    cn->last_ticket = cn->last_ticket < INT32_MAX ? cn->last_ticket + 1 : 1;
    t->number = cn->last_ticket;
    t->link->refs++;
    *cn->tail = t;
    cn->tail = &t->next;
    return t->number;
}

int connection_add(int c, struct connection_link *l, struct rpc_sync_call *call, xdrproc_t codec,
                   struct err *e)
{
    struct ticket *t = malloc(sizeof *t);
    struct connection *cn;
    int number = -1;

    if (t) {
        *t = (struct ticket){.codec = codec, .call = call, .link = l};
        (void)pthread_mutex_lock(&lock);
        cn = connection_find(c);
        if (cn)
            number = connection_append(cn, t);
        (void)pthread_mutex_unlock(&lock);
    }
    if (number < 0) {
        free(t);
        rpc_sync_cancel(call);
        (void)bad_handle(c, e);
    }
    return number;
}

static struct ticket **find_ticket(struct connection *cn, int number)
{
    for (struct ticket **t = &cn->tickets; *t; t = &(*t)->next)
        if ((*t)->number == number)
            return t;
    return NULL;
}

static struct ticket *unlink_ticket(int c, int number, xdrproc_t codec)
{
    struct connection *cn = connection_find(c);
    struct ticket **at = cn ? find_ticket(cn, number) : NULL;
    struct ticket *t = at ? *at : NULL;

    if (!t || (codec && t->codec != codec))
        return NULL;
    *at = t->next;
    if (!t->next)
        cn->tail = at;
    return t;
}

struct rpc_sync_call *connection_take(int c, int ticket, xdrproc_t codec, struct connection_link **l,
                                      struct err *e)
{
    struct rpc_sync_call *call = NULL;
    struct ticket *t;

    (void)pthread_mutex_lock(&lock);
    t = unlink_ticket(c, ticket, codec);
    (void)pthread_mutex_unlock(&lock);
    if (!t) {
        (void)err_set(e, PBSE_IVALREQ, "%d is not a ticket of a call of this kind on connection %d", ticket,
                      c);
        return NULL;
    }
    call = t->call;
    *l = t->link; /* the ticket's hold goes to the caller */
    free(t);
    return call;
}

int pbs_fd(int c)
{
    struct connection *cn;
    int fd = -1;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    if (cn)
        fd = rpc_sync_fd(cn->link->rpc);
    (void)pthread_mutex_unlock(&lock);
    return fd;
}

int pbs_ready(int c, int ticket)
{
    struct connection *cn;
    struct ticket **t;
    int ready = -1;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    t = cn ? find_ticket(cn, ticket) : NULL;
    if (t)
        ready = rpc_sync_is_ready((*t)->call);
    (void)pthread_mutex_unlock(&lock);
    return ready;
}

int pbs_next_ready(int c)
{
    struct connection *cn;
    int number = 0;

    (void)pthread_mutex_lock(&lock);
    cn = connection_find(c);
    for (struct ticket *t = cn ? cn->tickets : NULL; t && !number; t = t->next)
        if (rpc_sync_is_ready(t->call))
            number = t->number;
    (void)pthread_mutex_unlock(&lock);
    return cn ? number : -1;
}

int pbs_drop(int c, int ticket)
{
    struct err e;
    struct connection_link *l;
    struct rpc_sync_call *call = connection_take(c, ticket, NULL, &l, &e);

    if (!call)
        return -1;
    rpc_sync_cancel(call);
    connection_release(l);
    return 0;
}
