/* Users that come over TCP. See munge_login.h.
 *
 * A guest sends one request, Authenticate (or Join, which join_request.c answers). The credential goes to the
 * worker with a copy of what the TLS connection exports (the binding), since munged may take its time; the
 * worker never touches the connection. When the answer comes the connection may have gone. One that is admitted
 * has another peer kind from then on, and its calls go to dispatch. */
#include "munge_login.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ifl.h>

#include "auth_munge.h"
#include "join_request.h"
#include "log.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "rpc_request.h"
#include "worker.h"

/* munged decodes thousands of credentials a second: so many that wait mean that it hangs, and the others are refused. */
enum { MAX_WAITING = 256 };

struct munge_login {
    struct worker *worker;
    char *module, *socket, *certs;
    bool serves_all;
    auth_munge_check_fn *check; /* the worker's own once it has been loaded */
};

struct munge_login_guest {
    struct munge_login *all;
    struct rpc_request *rpc; /* referenced */
    char *cred;
    unsigned char binding[AUTH_MUNGE_BINDING];
    int rc; /* what the worker found out */
    struct auth_munge_who who;
    char origin[INET_ADDRSTRLEN]; /* "" of this host */
    struct err e;
};

struct munge_login *munge_login_create(struct loop *l, const struct munge_login_options *o, struct err *e)
{
    struct munge_login *g = calloc(1, sizeof *g);

    if (!g) {
        err_set(e, ENOMEM, "no memory for the MUNGE login of users over TCP");
        return NULL;
    }
    g->module = strdup(o->module);
    g->socket = o->socket ? strdup(o->socket) : NULL;
    g->certs = strdup(o->certs);
    g->serves_all = o->serves_all;
    g->worker = worker_create(l, "munge", MAX_WAITING, e);
    if (g->module && g->certs && g->worker)
        return g;
    munge_login_destroy(g);
    return NULL;
}

void munge_login_destroy(struct munge_login *g)
{
    if (!g)
        return;
    worker_destroy(g->worker);
    free(g->module);
    free(g->socket);
    free(g->certs);
    free(g); /* the module stays loaded: unloading it would gain nothing */
}

/* --- in the worker ------------------------------------------------------------------------------------ */

static int load(struct munge_login *g, struct err *e)
{
    void *module;

    if (g->check)
        return 0;
    module = dlopen(g->module, RTLD_NOW | RTLD_LOCAL);
    if (module)
        *(void **)&g->check = dlsym(module, "auth_munge_check");
    return g->check ? 0
                    : err_set(e, ENOSYS,
                              "the server cannot load its MUNGE module, and serves no users over TCP: %s",
                              dlerror());
}

/* A munged that does not know its own address says zero, or the loopback interface. */
static bool is_own_address(struct in_addr at)
{
    struct ifaddrs *all, *i;
    bool found = at.s_addr == 0 || (ntohl(at.s_addr) >> 24) == IN_LOOPBACKNET;

    if (found || getifaddrs(&all) < 0)
        return found;
    for (i = all; i && !found; i = i->ifa_next)
        found = i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
                ((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr.s_addr == at.s_addr;
    freeifaddrs(all);
    return found;
}

static void munge_login_ask_munged(void *arg)
{
    struct munge_login_guest *x = arg;

    x->rc = load(x->all, &x->e);
    if (x->rc == 0)
        x->rc = x->all->check(x->all->socket, x->cred, x->binding, sizeof x->binding, &x->who, &x->e);
    if (x->rc == 0 && !is_own_address(x->who.origin))
        inet_ntop(AF_INET, &x->who.origin, x->origin, sizeof x->origin);
}

/* --- on the loop ---------------------------------------------------------------------------------------- */

static void reply(struct rpc_request *rpc, int code, const char *text)
{
    ifl_result result = {.code = code, .text = (char *)text};

    rpc_reply(rpc, (xdrproc_t)xdr_ifl_result, &result);
}

/* The complex of an ordinary user serves that user only. */
static bool is_welcome(const struct munge_login_guest *x)
{
    return x->all->serves_all || x->who.uid == geteuid();
}

/* A connection whose credential is with the worker keeps its guest as tag. The tag only says that a check is
 * under way; it goes before the connection becomes a user's. */
static const struct rpc_conn_tag guest_tag = {.name = "guest"};

static void munge_login_known(void *arg, bool ran)
{
    struct munge_login_guest *x = arg;
    struct rpc_conn *conn = rpc_request_conn(x->rpc);

    if (conn)
        rpc_conn_set_user(conn, &guest_tag, NULL);
    if (ran && x->rc == 0 && !is_welcome(x))
        x->rc = err_set(&x->e, EACCES, "this complex serves uid %u only, not uid %u", (unsigned)geteuid(),
                        (unsigned)x->who.uid);
    if (!conn || !ran) {
        reply(x->rpc, PBSE_SYSTEM, "the server ends, and has not examined the credential");
    } else if (x->rc == 0) {
        rpc_conn_admit(conn, x->who.uid, x->origin);
        reply(x->rpc, 0, "");
    } else {
        log_event(LOGC_SVR, LOGE_SECURITY, "munge_validate_auth_data", "%s: %s", rpc_conn_peer(conn)->from,
                  x->e.text);
        reply(x->rpc, PBSE_BADCRED, x->e.text);
    }
    rpc_request_unref(x->rpc);
    free(x->cred);
    free(x);
}

/* Hand the credential to the worker. Until its answer the connection has a tag, so a second one is refused. */
static void authenticate(struct munge_login *g, struct rpc_request *rpc)
{
    const ifl_authenticate_args *a = rpc_request_args(rpc);
    struct munge_login_guest *x = calloc(1, sizeof *x);
    struct err e;

    if (!x || !(x->cred = strdup(a->credential)) || strcmp(a->method, "munge") != 0) {
        reply(rpc, x && x->cred ? PBSE_BADCRED : PBSE_SYSTEM, "the method of authentication is munge");
        free(x ? x->cred : NULL);
        free(x);
        return;
    }
    x->all = g;
    x->rpc = rpc_request_ref(rpc);
    memcpy(x->binding, rpc_conn_binding(rpc_request_conn(rpc)), sizeof x->binding);
    if (worker_submit(g->worker, munge_login_ask_munged, munge_login_known, x, &e) == 0) {
        rpc_conn_set_user(rpc_request_conn(rpc), &guest_tag, x);
        return;
    }
    reply(rpc, PBSE_SYSTEM, e.text);
    rpc_request_unref(rpc);
    free(x->cred);
    free(x);
}

void munge_login_serve(struct munge_login *g, struct rpc_request *rpc)
{
    const uint32_t proc = rpc_request_proc(rpc)->proc;

    if (g && proc == IFL_AUTHENTICATE && rpc_conn_user(rpc_request_conn(rpc), &guest_tag))
        reply(rpc, PBSE_BADCRED, "a credential of this connection is being examined; one at a time");
    else if (g &&
             proc == IFL_AUTHENTICATE) /* the worker has one queue for all: a guest has one place in it */
        authenticate(g, rpc);
    else if (g && proc == IFL_JOIN)
        join_request_serve(g->certs, rpc);
    else
        rpc_reply_error(rpc, RPC_ST_AUTH);
}
