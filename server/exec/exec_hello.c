/* Registration of execution services, and the way in for everything they say. See exec_hello.h.
 *
 * The service speaks first. HELLO passes three stages:
 *
 *   checked    peer, time, epoch, rivals, and the nodes that it names; until another service has handed
 *              them over it is told to ask again (EAGAIN -> EXEC_WAIT)
 *   bound      the service has this connection, but is not `accepted`: no order may overtake the answer
 *   greeted    what was changed until now is durable: the answer decides about each run, then orders go
 *
 * A connection carries a `bound`: it names the service from then on, and a call without one is refused. A
 * service that connects again pushes its old connection out, whose end must then not be taken for the end
 * of the service; so the old `bound` is freed before the close. What becomes of each run: exec_agree.c. */
#include "exec_hello.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <exec.h>

#include "clock.h"
#include "commit.h"
#include "exec_agree.h"
#include "exec_renew.h"
#include "exec_take.h"
#include "handover.h"
#include "intern.h"
#include "job_run.h"
#include "log.h"
#include "node_report.h"
#include "node_watch.h"
#include "pbs_error.h"
#include "store_reader.h"
#include "rpc_conn.h"
#include "services.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "virtual_time.h"

enum { HEARTBEAT_S = 60, WAIT_S = 1 };

struct exec_hello {
    struct exec_hello_parts p;
};

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

/* --- may it? ---------------------------------------------------------------------------------------- */

/* A simulator of this host needs no certificate when it runs as we do, or as root, who can read our key. */
static bool exec_hello_is_ours(const struct auth_peer *peer)
{
    return peer->kind == AUTH_LOCAL && (peer->uid == 0 || peer->uid == geteuid());
}

static bool is_local_simulator(const struct auth_peer *peer, const exec_hello_args *a)
{
    return exec_hello_is_ours(peer) && a->kind == EXEC_SERVICE_SIM;
}

/* Of whom any call of the program is looked at. */
static bool exec_hello_is_service(const struct auth_peer *peer)
{
    return exec_hello_is_ours(peer) || (peer->kind == AUTH_DAEMON && strncmp(peer->role, "mom:", 4) == 0);
}

static int check_peer(const struct exec_hello *x, const struct auth_peer *peer, const exec_hello_args *a,
                      struct err *e)
{
    bool is_named = peer->kind == AUTH_DAEMON && strcmp(peer->role, a->service) == 0;

    if (!is_named && !is_local_simulator(peer, a))
        return err_set(e, PBSE_PERM, "the certificate of %s does not name %s", peer->from, a->service);
    if (is_named && a->kind != EXEC_SERVICE_MOM)
        return err_set(e, PBSE_PERM, "%s is the certificate of a MOM, not of a simulator", a->service);
    if (clock_is_driven(x->p.ctx->clock) != !!(a->capabilities & EXEC_CAN_VIRTUAL))
        return err_set(
            e, PBSE_NOSUP, "%s",
            a->capabilities & EXEC_CAN_VIRTUAL
                ? "this server's time is real; start it with --virtual"
                : "this server's time is simulated; only a simulator that drives it may serve here");
    if (a->protocol != EXEC_VERSION)
        return err_set(e, PBSE_NOSUP, "%s speaks version %u of the exec protocol, this server %d", a->service,
                       a->protocol, EXEC_VERSION);
    return 0;
}

/* Not the one we know by this name, come back. */
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

static int check_service(const struct exec_hello *x, const struct service *s, const exec_hello_args *a,
                         struct err *e)
{
    if (strcmp(a->store, x->p.ctx->store_id) == 0 && a->epoch > x->p.ctx->epoch)
        return err_set(e, PBSE_IVALREQ, "%s has obeyed a server of epoch %llu, this one has %llu", a->service,
                       (unsigned long long)a->epoch, (unsigned long long)x->p.ctx->epoch);
    if (!service_is_here(s))
        return is_another(s, a) && s->boot && strcmp(s->boot, a->boot) == 0 && holds_runs(x, s)
                   ? err_set(e, PBSE_NODE_BUSY, "another %s on %s is away and holds runs", a->service,
                             s->host)
                   : 0;
    if (is_another(s, a) || strcmp(s->host, a->host) != 0 || a->generation < s->generation)
        return err_set(e, PBSE_NODE_BUSY, "%s is here already, on %s", a->service, s->host);
    return 0;
}

/* --- HELLO ------------------------------------------------------------------------------------------ */

static void exec_hello_set_text(const char **field, const char *text)
{
    const char *old = *field;

    *field = intern_ref(text);
    intern_unref(old);
}

struct bound { /* what hangs on a connection */
    struct exec_hello *x;
    struct service *service;
    bool waits; /* its HELLO is not accepted yet */
};

static void service_gone(const struct bound *b, const struct err *why)
{
    struct service *s = b->service;

    s->conn = NULL;
    s->accepted = false;
    log_event(LOGC_NODE, LOGE_SYSTEM, s->name, "connection closed: %s",
              why->code ? why->text : "by the service");
    if (why->code == ESHUTDOWN)
        return; /* it is this server that ends: nothing is stored any more, the next one judges */
    node_watch_down(b->x->p.watch, s);
    if (s->leaving)
        b->x->p.gone(b->x->p.arg, s);
}

static void exec_hello_bound_closed(void *user, struct rpc_conn *c, const struct err *why)
{
    struct bound *b = user;

    if (b->waits)
        handover_stop(b->x->p.ctx, b->service);
    else if (b->service->conn == c)
        service_gone(b, why);
    free(b);
}

static const struct rpc_conn_tag bound_tag = {"exec", exec_hello_bound_closed};

/* The bound of this connection, made if there is none: it waits. NULL: no memory. */
static struct bound *bound_get(struct exec_hello *x, struct service *s, struct rpc_conn *c)
{
    struct bound *b = rpc_conn_user(c, &bound_tag);

    if (b)
        return b;
    b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct bound){x, s, true};
    rpc_conn_set_user(c, &bound_tag, b);
    return b;
}

/* A connection is that of one service for its life. */
static int check_bound(const struct service *s, const struct rpc_conn *c, struct err *e)
{
    const struct bound *b = rpc_conn_user(c, &bound_tag);

    if (!b || b->service == s)
        return 0;
    return err_set(e, PBSE_PERM, "this connection is that of %s", b->service->name);
}

/* Where sisters reach it. A MOM is where it came from, at the port that it says; a simulator says what it likes. */
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

static int accept_service(struct exec_hello *x, struct service *s, struct rpc_conn *c,
                          const exec_hello_args *a, struct err *e)
{
    struct bound *b = bound_get(x, s, c);

    if (!b)
        return err_set(e, PBSE_SYSTEM, "no memory for %s", a->service);
    b->waits = false;
    if (s->conn && s->conn != c) {
        struct err why;

        err_set(&why, PBSE_NODE_BUSY, "%s has connected again", a->service);
        free(rpc_conn_user(s->conn,
                           &bound_tag)); /* exec_hello_bound_closed must not run: the service is not away */
        rpc_conn_set_user(s->conn, &bound_tag, NULL);
        rpc_conn_close(s->conn, &why);
    }
    s->kind = a->kind;
    s->conn = c;
    s->leaving = false;
    s->accepted = false; /* until it is answered: no order may overtake that */
    s->generation = a->generation;
    s->capabilities = a->capabilities;
    s->heard_mono_ms = clock_mono_ms(x->p.ctx->clock);
    exec_hello_set_text(&s->host, a->host);
    exec_hello_set_text(&s->boot, a->boot);
    exec_hello_set_text(&s->instance, a->instance);
    exec_hello_set_text(&s->version, a->pbs_version);
    for (u_int i = 0; i < a->nodes.nodes_len; i++) {
        struct node *n = nodes_find(x->p.ctx->nodes, a->nodes.nodes_val[i].name);

        if (n && n->service == s)
            services_note(x->p.services, s, n);
    }
    return 0;
}

static void exec_hello_refuse(struct rpc_request *r, struct err *why, const char *service)
{
    char nothing[1] = "";
    exec_hello_result result = {.verdict = why->code == EAGAIN ? EXEC_WAIT : EXEC_REFUSED,
                                .reason = why->text,
                                .store = nothing,
                                .server = nothing,
                                .retry_s = WAIT_S};

    log_event(LOGC_NODE, why->code == EAGAIN ? LOGE_DEBUG : LOGE_ADMIN, service, "HELLO %s: %s",
              why->code == EAGAIN ? "waits" : "refused", why->text);
    rpc_reply(r, (xdrproc_t)xdr_exec_hello_result, &result);
}

struct greeting { /* a HELLO that is accepted as soon as what it is told is durable */
    struct exec_hello *x;
    struct rpc_request *request;
};

static void greet(struct exec_hello *x, struct service *s, struct rpc_request *r)
{
    const exec_hello_args *a = rpc_request_args(r);
    char nothing[1] = "";
    exec_hello_result result = {.verdict = EXEC_ACCEPTED,
                                .reason = nothing,
                                .store = (char *)x->p.ctx->store_id,
                                .epoch = x->p.ctx->epoch,
                                .clock_ns = clock_wall_ns(x->p.ctx->clock),
                                .server = (char *)x->p.ctx->name,
                                .heartbeat_s = HEARTBEAT_S};

    exec_agree_decide(&x->p, s, a, &result);
    s->accepted = true;
    node_watch_up(x->p.watch, s);
    rpc_reply(r, (xdrproc_t)xdr_exec_hello_result, &result);
    free(result.runs.runs_val);
    exec_agree_act(&x->p, s, a);
}

/* The connection may have ended meanwhile, or another one have taken its place. */
static void exec_hello_durable(void *arg)
{
    struct greeting *g = arg;
    const exec_hello_args *a = rpc_request_args(g->request);
    struct service *s = services_find(g->x->p.services, a->service);
    struct rpc_conn *c = rpc_request_conn(g->request);

    if (c && s && s->conn == c)
        greet(g->x, s, g->request);
    rpc_request_unref(g->request);
    free(g);
}

/* By its address a node may be tied to it, so that is known before its nodes are looked at. */
static int set_who(struct service *s, const struct rpc_conn *c, const exec_hello_args *a)
{
    s->kind = a->kind;
    set_address(s, c, a->address);
    return 0;
}

static void exec_hello(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    const exec_hello_args *a = rpc_request_args(r);
    struct greeting *g = malloc(sizeof *g);
    struct service *s = NULL;
    struct err e;

    err_set(&e, PBSE_SYSTEM, "no memory for %s", a->service);
    if (!g || check_peer(x, rpc_request_peer(r), a, &e) < 0 ||
        !(s = services_get(x->p.services, a->service)) || check_bound(s, rpc_request_conn(r), &e) < 0 ||
        check_service(x, s, a, &e) < 0 || set_who(s, rpc_request_conn(r), a) < 0 ||
        node_report_nodes(x->p.ctx, x->p.services, s, a, &e) < 0 ||
        accept_service(x, s, rpc_request_conn(r), a, &e) < 0) {
        free(g);
        if (s && e.code == EAGAIN)
            bound_get(x, s, rpc_request_conn(r)); /* it waits for vnodes that are drained for it */
        exec_hello_refuse(r, &e, a->service);
        return;
    }
    log_event(LOGC_NODE, LOGE_SYSTEM, a->service, "Hello from MoM on port=%s, generation %llu, %u runs",
              a->address, (unsigned long long)a->generation, a->runs.runs_len);
    *g = (struct greeting){x, rpc_request_ref(r)};
    commit_then(x->p.commit, exec_hello_durable, g);
}

/* --- the rest --------------------------------------------------------------------------------------- */

static struct service *service_of(struct exec_hello *x, struct rpc_request *r)
{
    struct bound *b = rpc_conn_user(rpc_request_conn(r), &bound_tag);

    if (!b || b->waits) {
        log_event(LOGC_NODE, LOGE_SECURITY, rpc_request_peer(r)->from, "%s before HELLO",
                  rpc_request_proc(r)->name);
        rpc_reply_error(r, RPC_ST_AUTH);
        return NULL;
    }
    b->service->heard_mono_ms = clock_mono_ms(x->p.ctx->clock);
    return b->service;
}

static void exec_hello_events(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    struct service *s = service_of(x, r);

    if (s)
        exec_take_events(x->p.take, s->name, r);
}

static void taken(struct rpc_request *r)
{
    char nothing[1] = "";
    exec_taken t = {.text = nothing};

    rpc_reply(r, (xdrproc_t)xdr_exec_taken, &t);
}

static void exec_hello_usage(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    struct service *s = service_of(x, r);

    if (!s)
        return;
    exec_take_usage(x->p.take, s->name, rpc_request_args(r));
    taken(r);
}

static void exec_hello_node_state(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    struct service *s = service_of(x, r);

    if (!s)
        return;
    node_report_states(x->p.ctx, s, rpc_request_args(r));
    taken(r);
}

static void exec_hello_bye(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    struct service *s = service_of(x, r);
    const exec_bye_args *a = rpc_request_args(r);

    if (!s)
        return;
    log_event(LOGC_NODE, LOGE_SYSTEM, s->name, "says good-bye: %s", a->reason);
    s->leaving = !a->back;
    taken(r);
}

/* --- scripts ---------------------------------------------------------------------------------------- */

static void exec_hello_script_read(void *arg, const void *bytes, size_t n, const struct err *why)
{
    struct rpc_request *r = arg;
    char nothing[1] = "";
    exec_script_result result = {.code = why ? why->code : 0,
                                 .text = why ? (char *)why->text : nothing,
                                 .data = {(u_int)n, (char *)bytes}};

    rpc_reply(r, (xdrproc_t)xdr_exec_script_result, &result);
    rpc_request_unref(r);
}

/* A script is for the hosts of the run that it belongs to, while they have it. */
static int check_script(const struct exec_hello *x, const struct service *s, const exec_script_args *a,
                        struct err *e)
{
    const struct job *j =
        jobs_find(x->p.ctx->jobs, (struct job_key){.seq = a->job.seq, .index = a->job.index});
    const struct run_host *h =
        j && j->run && j->run->version == a->run ? job_run_host(j->run, s->name) : NULL;

    if (h && h->state <= RUN_HOST_READY)
        return 0;
    if (j)
        log_event(LOGC_JOB, LOGE_SECURITY | LOGE_ERROR, j->obj.name,
                  "its script was refused to %s: run %u is not on that host", s->name, a->run);
    return err_set(e, PBSE_UNKJOBID, "Unknown Job Id");
}

static void exec_hello_get_script(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    const exec_script_args *a = rpc_request_args(r);
    struct job_key key = {.seq = a->job.seq, .index = a->job.index};
    const struct service *s = service_of(x, r);
    struct err e;

    if (!s)
        return;
    rpc_request_ref(r);
    if (check_script(x, s, a, &e) < 0) {
        exec_hello_script_read(r, NULL, 0, &e);
    } else if (store_reader_script(x->p.store_reader, (struct job_key){key.seq, JOBID_NO_INDEX}, a->offset,
                                   EXEC_SCRIPT_PIECE, exec_hello_script_read, r, &e) < 0) {
        exec_hello_script_read(r, NULL, 0, &e);
    }
}

static void exec_hello_certificate(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;
    struct service *s = service_of(x, r);

    if (s)
        exec_renew_serve(x->p.certs, s, r);
}

static void exec_hello_advance(void *arg, struct rpc_request *r)
{
    struct exec_hello *x = arg;

    if (service_of(x, r))
        virtual_time_advance(x->p.time, r);
}

#define PROC(number, label, in, call)                                                                        \
    {                                                                                                        \
        .proc = number, .name = label, .xargs = (xdrproc_t)xdr_##in, .args_size = sizeof(in),                \
        .handler = call                                                                                      \
    }

static const struct rpc_proc procs[] = {
    PROC(EXEC_HELLO, "HELLO", exec_hello_args, exec_hello),
    PROC(EXEC_EVENTS, "EVENTS", exec_events_args, exec_hello_events),
    PROC(EXEC_NODE_STATE, "NODE_STATE", exec_node_state_args, exec_hello_node_state),
    PROC(EXEC_USAGE, "USAGE", exec_usage_args, exec_hello_usage),
    PROC(EXEC_BYE, "BYE", exec_bye_args, exec_hello_bye),
    PROC(EXEC_GET_SCRIPT, "GET_SCRIPT", exec_script_args, exec_hello_get_script),
    PROC(EXEC_CERTIFICATE, "CERTIFICATE", exec_certificate_args, exec_hello_certificate),
    PROC(EXEC_ADVANCE, "ADVANCE", exec_advance_args, exec_hello_advance),
};

const struct rpc_program exec_hello_program = {.prog = PBS_EXEC_PROG,
                                               .vers = PBS_EXEC_V1,
                                               .name = "exec",
                                               .procs = procs,
                                               .n_procs = sizeof procs / sizeof procs[0],
                                               .serves = exec_hello_is_service};
