/* Registration of execution services. See exec_hello.h.
 *
 * The service speaks first. hello_steps is the order of what HELLO does, and hello_continue walks it. A service whose nodes
 * another service has yet to hand over is told to ask again (EAGAIN -> EXEC_WAIT). A service that connects again pushes its
 * older connection out (service_conn.c). What becomes of each run: exec_agree.c. What it says after that: exec_calls.c. */
#include "exec_hello.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <exec.h>

#include "clock.h"
#include "commit.h"
#include "exec_agree.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "node_report.h"
#include "node_watch.h"
#include "pbs_error.h"
#include "rpc_conn.h"
#include "services.h"
#include "service_conn.h"
#include "server_ctx.h"

/* HEARTBEAT_S: what a MOM reports of its host (load, changed vnodes) is at most this old; it costs one small message a host.
 * WAIT_S: a service that waits for vnodes asks again so often; that is the longest for which a drained vnode is idle. */
enum { HEARTBEAT_S = 60, WAIT_S = 1 };

struct exec_hello {
    struct exec_hello_parts p;
};

/* --- the order of steps ------------------------------------------------------------------------------ */

/* A HELLO on its way. */
struct exec_hello_under_way {
    struct exec_hello *x;
    struct rpc_request *request; /* counted */
    const exec_hello_args *args; /* of the request */
    struct service *service;     /* NULL until exec_hello_find_service */
    size_t step;                 /* the one to take next, in hello_steps */
    struct err why;              /* of a refusal; EAGAIN: the service is to ask again */
};

enum hello_outcome {
    HELLO_NEXT,
    HELLO_WAITS, /* hello_continue is called later, or has been: the step does not touch the hello any more */
    HELLO_REFUSED,
    HELLO_DONE
};

typedef enum hello_outcome hello_step_fn(struct exec_hello_under_way *h);
static hello_step_fn exec_hello_check_peer, exec_hello_find_service, exec_hello_check_bound,
    exec_hello_check_service, exec_hello_set_who, exec_hello_report_nodes, exec_hello_bind,
    exec_hello_wait_durable, exec_hello_find_again, exec_hello_greet;

static hello_step_fn *const hello_steps[] = {
    exec_hello_check_peer, /* first: nothing is made or changed for a peer that its certificate does not name */
    exec_hello_find_service, /* made, where the name is new */
    exec_hello_check_bound,
    exec_hello_check_service, /* epoch and rivals, before anything of the service is changed */
    exec_hello_set_who,       /* before its nodes: by its address a node may be tied to it */
    exec_hello_report_nodes,  /* the last that can refuse, and the one that has a service ask again */
    exec_hello_bind,          /* it has this connection from now on; an older one is closed */
    exec_hello_wait_durable,  /* waits: what the answer says is applied, the service may forget */
    exec_hello_find_again, /* the connection may have ended meanwhile, or another one have taken its place */
    exec_hello_greet,      /* decide about each run, answer, and only then give orders */
};

static void hello_refuse(const struct exec_hello_under_way *h);

/* The step before has returned `o`: take steps until one waits, or ends the walk as the last one does. The answer to a
 * wait comes back to this function. */
static void hello_continue(struct exec_hello_under_way *h, enum hello_outcome o)
{
    while (o == HELLO_NEXT)
        o = hello_steps[h->step++](h);
    if (o == HELLO_WAITS)
        return;
    if (o == HELLO_REFUSED)
        hello_refuse(h);
    rpc_request_unref(h->request);
    free(h);
}

void exec_hello_serve(void *arg, struct rpc_request *r)
{
    struct exec_hello_under_way *h = calloc(1, sizeof *h),
                                ask = {.x = arg, .request = r, .args = rpc_request_args(r)};

    if (!h) {
        err_set(&ask.why, PBSE_SYSTEM, "no memory for %s", ask.args->service);
        hello_refuse(&ask);
        return;
    }
    *h = ask;
    rpc_request_ref(r);
    hello_continue(h, HELLO_NEXT);
}

static enum hello_outcome hello_outcome(int rc)
{
    return rc < 0 ? HELLO_REFUSED : HELLO_NEXT;
}

/* --- creation ---------------------------------------------------------------------------------------- */

struct exec_hello *exec_hello_create(const struct exec_hello_parts *p)
{
    struct exec_hello *x = calloc(1, sizeof *x);

    if (x)
        x->p = *p;
    return x;
}

void exec_hello_destroy(struct exec_hello *x)
{
    free(x);
}

const struct exec_hello_parts *exec_hello_parts(const struct exec_hello *x)
{
    return &x->p;
}

/* --- may it? ---------------------------------------------------------------------------------------- */

bool exec_hello_is_ours(const struct auth_peer *peer)
{
    return peer->kind == AUTH_LOCAL && (peer->uid == 0 || peer->uid == geteuid());
}

static bool is_local_simulator(const struct auth_peer *peer, const exec_hello_args *a)
{
    return exec_hello_is_ours(peer) && a->kind == EXEC_SERVICE_SIM;
}

static enum hello_outcome exec_hello_check_peer(struct exec_hello_under_way *h)
{
    const struct auth_peer *peer = rpc_request_peer(h->request);
    const exec_hello_args *a = h->args;
    bool is_named = peer->kind == AUTH_DAEMON && strcmp(peer->role, a->service) == 0;
    int rc = 0;

    if (!is_named && !is_local_simulator(peer, a))
        rc = err_set(&h->why, PBSE_PERM, "the certificate of %s does not name %s", peer->from, a->service);
    else if (is_named && a->kind != EXEC_SERVICE_MOM)
        rc = err_set(&h->why, PBSE_PERM, "%s is the certificate of a MOM, not of a simulator", a->service);
    else if (clock_is_driven(h->x->p.ctx->clock) != !!(a->capabilities & EXEC_CAN_VIRTUAL))
        rc = err_set(&h->why, PBSE_NOSUP, "%s",
                     a->capabilities & EXEC_CAN_VIRTUAL
                         ? "this server's time is real; start it with --virtual"
                         : "this server's time is simulated; only a simulator that drives it may serve here");
    else if (a->protocol != EXEC_VERSION)
        rc = err_set(&h->why, PBSE_NOSUP, "%s speaks version %u of the exec protocol, this server %d",
                     a->service, a->protocol, EXEC_VERSION);
    return hello_outcome(rc);
}

static enum hello_outcome exec_hello_find_service(struct exec_hello_under_way *h)
{
    h->service = services_get(h->x->p.services, h->args->service);
    return hello_outcome(h->service ? 0
                                    : err_set(&h->why, PBSE_SYSTEM, "no memory for %s", h->args->service));
}

/* Return true if this is another service than the one known by this name. */
static bool is_another(const struct service *s, const exec_hello_args *a)
{
    if (s->instance && *s->instance && *a->instance)
        return strcmp(s->instance, a->instance) != 0;
    return s->host && strcmp(s->host, a->host) != 0;
}

static bool holds_runs(const struct exec_hello *x, const struct service *s)
{
    for (const struct node *n = nodes_first(x->p.ctx->nodes); n; n = nodes_next(n))
        if (n->service == s && n->uses)
            return true;
    return false;
}

static enum hello_outcome exec_hello_check_service(struct exec_hello_under_way *h)
{
    const struct server_ctx *ctx = h->x->p.ctx;
    const struct service *s = h->service;
    const exec_hello_args *a = h->args;
    int rc = 0;

    if (strcmp(a->store, ctx->store_id) == 0 && a->epoch > ctx->epoch)
        rc = err_set(&h->why, PBSE_IVALREQ, "%s has obeyed a server of epoch %llu, this one has %llu",
                     a->service, (unsigned long long)a->epoch, (unsigned long long)ctx->epoch);
    else if (!service_is_here(s)) {
        if (is_another(s, a) && s->boot && strcmp(s->boot, a->boot) == 0 && holds_runs(h->x, s))
            rc = err_set(&h->why, PBSE_NODE_BUSY, "another %s on %s is away and holds runs", a->service,
                         s->host);
    } else if (is_another(s, a) || strcmp(s->host, a->host) != 0 || a->generation < s->generation)
        rc = err_set(&h->why, PBSE_NODE_BUSY, "%s is here already, on %s", a->service, s->host);
    return hello_outcome(rc);
}

/* --- the connection ---------------------------------------------------------------------------------- */

static void exec_hello_set_text(const char **field, const char *text)
{
    const char *old = *field;

    *field = intern_ref(text);
    intern_unref(old);
}

/* A connection belongs to one service for its life. */
static enum hello_outcome exec_hello_check_bound(struct exec_hello_under_way *h)
{
    const struct service_conn *b = service_conn_find(rpc_request_conn(h->request));

    return hello_outcome(
        !b || b->service == h->service
            ? 0
            : err_set(&h->why, PBSE_PERM, "this connection is that of %s", b->service->name));
}

/* Set the address at which sisters reach it: of a MOM the address that it connected from, with the port that it reports;
 * of a simulator what it reports. */
static void set_address(struct service *s, const struct rpc_conn *c, const char *said)
{
    const struct auth_peer *p = rpc_conn_peer(c);
    const char *colon = strrchr(p->from, ':'), *port = strrchr(said, ':');
    char text[sizeof p->from + 32];

    if (p->kind != AUTH_DAEMON || !colon) {
        exec_hello_set_text(&s->address, said);
        return;
    }
    snprintf(text, sizeof text, "%.*s%.8s", (int)(colon - p->from), p->from, port ? port : "");
    exec_hello_set_text(&s->address, text);
}

static enum hello_outcome exec_hello_set_who(struct exec_hello_under_way *h)
{
    h->service->kind = h->args->kind;
    set_address(h->service, rpc_request_conn(h->request), h->args->address);
    return HELLO_NEXT;
}

static enum hello_outcome exec_hello_report_nodes(struct exec_hello_under_way *h)
{
    return hello_outcome(node_report_nodes(h->x->p.ctx, h->x->p.services, h->service, h->args, &h->why));
}

/* Scripts look for the host as the object, and for the number alone. */
static void exec_hello_say(const exec_hello_args *a)
{
    const char *port = strrchr(a->address, ':');

    log_event(LOGC_NODE, LOGE_SYSTEM, job_run_host_name(a->service),
              "Hello from MoM on port=%s, generation %llu, %u runs", port ? port + 1 : a->address,
              (unsigned long long)a->generation, a->runs.runs_len);
}

static enum hello_outcome exec_hello_bind(struct exec_hello_under_way *h)
{
    struct exec_hello *x = h->x;
    struct service *s = h->service;
    struct rpc_conn *c = rpc_request_conn(h->request);
    const exec_hello_args *a = h->args;
    struct service_conn *b = service_conn_get(c, x->p.ctx, x->p.watch, s);

    if (!b)
        return hello_outcome(err_set(&h->why, PBSE_SYSTEM, "no memory for %s", a->service));
    b->waits = false;
    service_conn_replace(s, c, !is_another(s, a) && a->generation == s->generation);
    s->kind = a->kind;
    s->leaving = false;
    s->generation = a->generation;
    s->capabilities = a->capabilities;
    exec_hello_set_text(&s->host, a->host);
    exec_hello_set_text(&s->boot, a->boot);
    exec_hello_set_text(&s->instance, a->instance);
    exec_hello_set_text(&s->version, a->pbs_version);
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        struct node *n = nodes_find(x->p.ctx->nodes, a->nodes.nodes_val[i].name);

        if (n && n->service == s)
            services_note(x->p.services, s, n);
    }
    exec_hello_say(a);
    return HELLO_NEXT;
}

/* --- the answer -------------------------------------------------------------------------------------- */

static void hello_refuse(const struct exec_hello_under_way *h)
{
    bool waits = h->why.code == EAGAIN;
    char nothing[1] = "";
    exec_hello_result result = {.verdict = waits ? EXEC_WAIT : EXEC_REFUSED,
                                .reason = (char *)h->why.text,
                                .store = nothing,
                                .server = nothing,
                                .retry_s = WAIT_S};

    if (h->service && waits)
        service_conn_get(rpc_request_conn(h->request), h->x->p.ctx, h->x->p.watch,
                         h->service); /* its vnodes are drained for it */
    log_event(LOGC_NODE, waits ? LOGE_DEBUG : LOGE_ADMIN, h->args->service, "HELLO %s: %s",
              waits ? "waits" : "refused", h->why.text);
    rpc_reply(h->request, (xdrproc_t)xdr_exec_hello_result, &result);
}

static void exec_hello_durable(void *arg)
{
    hello_continue(arg, HELLO_NEXT);
}

static enum hello_outcome exec_hello_wait_durable(struct exec_hello_under_way *h)
{
    commit_then(h->x->p.commit, exec_hello_durable, h);
    return HELLO_WAITS;
}

static enum hello_outcome exec_hello_find_again(struct exec_hello_under_way *h)
{
    const struct rpc_conn *c = rpc_request_conn(h->request);

    h->service = services_find(h->x->p.services, h->args->service);
    return c && h->service && h->service->conn == c ? HELLO_NEXT : HELLO_DONE;
}

static enum hello_outcome exec_hello_greet(struct exec_hello_under_way *h)
{
    struct exec_hello *x = h->x;
    char nothing[1] = "";
    exec_hello_result result = {.verdict = EXEC_ACCEPTED,
                                .reason = nothing,
                                .store = (char *)x->p.ctx->store_id,
                                .epoch = x->p.ctx->epoch,
                                .clock_ns = clock_wall_ns(x->p.ctx->clock),
                                .server = (char *)x->p.ctx->name,
                                .heartbeat_s = HEARTBEAT_S};

    exec_agree_decide(&x->p, h->service, h->args, &result);
    h->service->accepted = true;
    node_watch_up(x->p.watch, h->service);
    rpc_reply(h->request, (xdrproc_t)xdr_exec_hello_result, &result);
    free(result.runs.runs_val);
    if (x->p.hooks.greeted) /* first: a job must not be sent before the hooks that it is to meet */
        x->p.hooks.greeted(x->p.hooks.arg, h->service, &h->args->ext);
    exec_agree_act(&x->p, h->service, h->args);
    service_wake(h->service); /* last: these orders leave behind those that the runs in this HELLO ask for */
    return HELLO_DONE;
}
