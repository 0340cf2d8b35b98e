/* Standing by. See standby.h.
 *
 * A loop of its own, created and destroyed here, since a takeover creates everything of an active server again: what
 * this server had before, if it was active, has been destroyed. One look is under way at a time; when it
 * is back, the next move follows, and the next look half a second later. */
#include "standby.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>
#include <ifl.h>

#include "certs.h"
#include "clock.h"
#include "log.h"
#include "loop.h"
#include "failover_peer.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "rpc_server.h"
#include "store.h"
#include "worker.h"

#include <openssl/ssl.h>

/* The standby takes over this much late at most; a look is one statement. */
enum { LOOK_MS = 500 };

struct standby {
    const struct server_settings *set;
    struct failover_policy *failover_policy;
    struct loop *loop;
    struct loop_timer *timer;
    struct loop_signal *signals[4];
    struct worker *worker;
    struct rpc_server *rpc;
    struct rpc_served served[2];
    SSL_CTX *tls;
    void (*ready)(void *arg);
    void *arg;
    bool was_ready, complained, ended;
    enum standby_end end;
    /* of the worker while a look is under way */
    struct store *store;
    struct pair_look look;
    enum failover_policy_move
        move; /* what is to be done beside looking: FAILOVER_POLICY_ASK or FAILOVER_POLICY_WAIT */
    int rc;
    struct err why;
};

/* --- callers are sent away */
static void standby_refuse_hello(void *arg, struct rpc_request *r)
{
    char nothing[1] = "", reason[] = "this server is the standby: the other one is active";
    exec_hello_result result = {
        .verdict = EXEC_REFUSED, .reason = reason, .store = nothing, .server = nothing};

    rpc_reply(r, (xdrproc_t)xdr_exec_hello_result, &result);
}

static const struct rpc_proc hello_procs[] = {{.proc = EXEC_HELLO,
                                               .name = "HELLO",
                                               .xargs = (xdrproc_t)xdr_exec_hello_args,
                                               .args_size = sizeof(exec_hello_args),
                                               .handler = standby_refuse_hello}};
static const struct rpc_program refusing_program = {
    .prog = PBS_EXEC_PROG, .vers = PBS_EXEC_V1, .name = "exec", .procs = hello_procs, .n_procs = 1};

static int listen_to(struct standby *s, struct err *e)
{
    struct rpc_server_options o = {.name = "standby", .served = s->served, .guests = true};

    if (certs_ensure(s->set->certs, "server", e) < 0)
        return -1;
    s->tls = certs_context(s->set->certs, "server", CERTS_SERVER_GUESTS, e);
    if (!s->tls)
        return -1;
    s->served[0] = (struct rpc_served){&refusing_program, s};
    o.tls = s->tls;
    s->rpc = rpc_server_create(s->loop, &o, e);
    return s->rpc && rpc_server_listen_tcp(s->rpc, NULL, s->set->port, e) >= 0 ? 0 : -1;
}

/* --- looking */
static int open_store(struct standby *s)
{
    struct store_where where = server_settings_store(s->set);

    if (!s->store)
        s->store = store_open(&where, &s->why);
    return s->store ? 0 : -1;
}

static void standby_look(void *arg)
{
    struct standby *s = arg;

    err_clear(&s->why);
    s->rc = open_store(s);
    if (s->rc == 0 && s->move == FAILOVER_POLICY_ASK)
        s->rc = failover_peer_ask(s->store, s->look.epoch, &s->why);
    if (s->rc == 0)
        s->rc = failover_peer_look(s->store, &s->look, &s->why);
}

static void standby_finish(struct standby *s, enum standby_end how)
{
    if (s->ended)
        return;
    s->ended = true;
    s->end = how;
    loop_stop(s->loop);
}

/* Once for each trouble: it may last for hours. */
static void complain(struct standby *s)
{
    if (!s->complained)
        log_err(LOGC_SVR, s->set->name, &s->why, "standing by without the store; trying again");
    s->complained = true;
}

static void do_move(struct standby *s)
{
    switch (s->move) {
    case FAILOVER_POLICY_TAKE:
        standby_finish(s, STANDBY_TAKE);
        return;
    case FAILOVER_POLICY_END:
        log_event(LOGC_SVR, LOGE_SYSTEM, s->set->name, "Failover: %s told to shut down",
                  s->set->role == SERVER_SECONDARY ? "Secondary" : "Primary");
        standby_finish(s, STANDBY_END);
        return;
    case FAILOVER_POLICY_ASK:
        log_event(LOGC_SVR, LOGE_SYSTEM, s->set->name, "Notifying Secondary Server that we are taking over");
        break;
    case FAILOVER_POLICY_WAIT:
        break;
    }
    loop_timer_set(s->timer, s->move == FAILOVER_POLICY_ASK ? 0 : LOOK_MS);
}

static void standby_looked(void *arg, bool ran)
{
    struct standby *s = arg;

    if (!ran || s->ended)
        return;
    if (s->rc < 0 && s->move == FAILOVER_POLICY_ASK)
        s->failover_policy->asked = 0; /* it may not know */
    s->move = FAILOVER_POLICY_WAIT;
    if (s->rc < 0)
        complain(s);
    else
        s->move = failover_policy_decide(s->failover_policy, &s->look, clock_real_mono_ms());
    s->complained = s->rc < 0;
    if (s->move != FAILOVER_POLICY_TAKE && !s->was_ready) {
        s->was_ready = true;
        s->ready(s->arg);
    }
    do_move(s);
}

static void standby_look_again(void *arg)
{
    struct standby *s = arg;
    struct err e;

    if (worker_submit(s->worker, standby_look, standby_looked, s, &e) < 0)
        loop_timer_set(s->timer, LOOK_MS);
}

/* --- life */
static void standby_on_signal(void *arg)
{
    standby_finish(arg, STANDBY_END);
}

static void standby_on_hangup(void *arg)
{
    log_reopen(NULL);
}

static int create(struct standby *s, struct err *e)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGQUIT};

    s->loop = loop_create(NULL, e);
    if (!s->loop)
        return -1;
    for (int i = 0; i < 3; i++)
        if (!(s->signals[i] = loop_signal_create(s->loop, ends[i], standby_on_signal, s, e)))
            return -1;
    s->signals[3] = loop_signal_create(s->loop, SIGHUP, standby_on_hangup, s, e);
    s->timer = loop_timer_create(s->loop, LOOP_REAL, standby_look_again, s);
    if (!s->signals[3] || !s->timer || listen_to(s, e) < 0 ||
        !(s->worker = worker_create(s->loop, "standby", 2, e)))
        return -1;
    loop_timer_set(s->timer, 0);
    return 0;
}

static void destroy(struct standby *s)
{
    worker_destroy(s->worker);
    rpc_server_destroy(s->rpc);
    SSL_CTX_free(s->tls);
    loop_timer_destroy(s->timer);
    for (size_t i = 0; i < sizeof s->signals / sizeof s->signals[0]; i++)
        loop_signal_destroy(s->signals[i]);
    if (s->loop)
        loop_destroy(s->loop);
    store_close(s->store);
}

enum standby_end standby_wait(const struct server_settings *set, struct failover_policy *turn,
                              void (*ready)(void *arg), void *arg, struct err *e)
{
    struct standby s = {
        .set = set, .failover_policy = turn, .ready = ready, .arg = arg, .end = STANDBY_FAILED};

    if (create(&s, e) == 0 && loop_run(s.loop, e) < 0)
        s.end = STANDBY_FAILED;
    destroy(&s);
    return s.end;
}
