/* The MOM as an execution service of the server. HELLO reports every run that is here; the server decides about each of them,
 * and only then is anything else sent. Events that were not acknowledged on the last connection are sent again.
 *
 *   server_link_hello      what this host is, which runs it has, which store and epoch it last obeyed
 *   server_link_accepted   the server's answer: its steps are listed there
 *   orders                 mom_orders.c
 *   server_link_lost       the lease begins
 *
 * server_link_accepted may be called while the service is being created, when m->service is not set yet. A run of another
 * store is left alone, whatever decision comes with it. */
#include "server_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "ckpt.h"
#include "ckpt_adapters.h"
#include "clock.h"
#include "conf.h"
#include "mom_config.h"
#include "dyn_values.h"
#include "attr_set.h"
#include "hardware.h"
#include "host_changes.h"
#include "host_files.h"
#include "fitness.h"
#include "cycle_harvest.h"
#include "server_lease.h"
#include "log.h"
#include "loop.h"
#include "mom_orders.h"
#include "pbs_ifl.h"
#include "mom.h"
#include "pbs_error.h"
#include "prepare.h"
#include "mom_run.h"
#include "vnodes.h"

static exec_run_state said_state(enum run_state s)
{
    switch (s) {
    case RUN_PREPARING:
    case RUN_READY:
    case RUN_LAUNCHING:
        return EXEC_RUN_PREPARING;
    case RUN_RUNNING:
        return EXEC_RUN_RUNNING;
    case RUN_SUSPENDED:
        return EXEC_RUN_SUSPENDED;
    case RUN_ENDING:
        return EXEC_RUN_ENDING;
    case RUN_RELEASED:
    case RUN_GONE:
    case RUN_STATE_COUNT:
        break;
    }
    return EXEC_RUN_RELEASED;
}

static void server_link_add_held(void *arg, struct run *r)
{
    exec_hello_args *a = arg;
    exec_held_run *h = &a->runs.runs_val[a->runs.runs_len++];

    h->job = run_job(r);
    h->run = r->key.run;
    h->store = r->start.store;
    h->state = said_state(r->slot.state);
    h->last_seq = r->last_seq;
    h->unacked = journal_unacked(r);
}

/* Of each vnode, as PBS shows it. Nothing listens there: see doc/security.md. */
static void add_port(const struct mom *m, exec_hello_args *a)
{
    char port[16];

    snprintf(port, sizeof port, "%d", (int)conf_int(m->home.conf, CONF_PBS_MOM_SERVICE_PORT));
    for (u_int i = 0; i < a->nodes.nodes_len; i++)
        attr_set(&a->nodes.nodes_val[i].attrs, ATTR_NODE_Port, "", port);
}

static unsigned checkpoint_capabilities(const struct mom *m)
{
    const struct config *c = m->home.config;

    return ckpt_is_offered(c) ? EXEC_CAN_CHECKPOINT | (c->actions_ask_program ? EXEC_CKPT_ASKS : 0) : 0;
}

static int fill_nodes(const struct mom *m, exec_hello_args *a)
{
    struct err e = {0};
    size_t n = 0;

    if (hardware_nodes(&m->home, &a->nodes.nodes_val, &n, &e) < 0) {
        log_err(LOGC_NODE, m->home.node, &e, "HELLO is not sent: the vnodes of this host cannot be listed");
        a->nodes.nodes_val = NULL;
        return -1;
    }
    a->nodes.nodes_len = (u_int)n;
    add_port(m, a);
    dyn_values_add(m->dynamic, &a->nodes.nodes_val[0].attrs);
    ckpt_adapters_add(m->ckpt_adapters, &a->nodes.nodes_val[0].attrs);
    if (host_changes_add_vnodes(m->hooks, a, &e) < 0)
        log_err(LOGC_NODE, m->home.node, &e, "vnodes that hooks have made are not in HELLO");
    return 0;
}

/* The server that is connected, or tried next: either one of a failover pair. */
static struct exec_service_target talked_to(const struct mom *m)
{
    if (m->service)
        return *exec_service_where(m->service);
    return (struct exec_service_target){.host = conf_server_host(m->home.conf),
                                        .port = conf_server_port(m->home.conf)};
}

static int server_link_hello(void *arg, exec_hello_args *a)
{
    struct mom *m = arg;
    struct exec_service_target server = talked_to(m);

    if (fill_nodes(m, a) < 0)
        return -1;
    a->kind = EXEC_SERVICE_MOM;
    a->service = m->home.service;
    a->generation = m->server_epoch.generation;
    a->host = m->home.host;
    /* The server sees the address we come from; we know the port. */
    (void)snprintf(m->address, sizeof m->address, ":%u",
                   (unsigned)conf_int(m->home.conf, CONF_PBS_MANAGER_SERVICE_PORT));
    a->address = m->address;
    a->boot = m->home.boot;
    a->instance = m->server_epoch.instance;
    a->store = m->server_epoch.store;
    a->epoch = m->server_epoch.epoch;
    a->capabilities = m->home.freezer.kind == CONFINE_SIGNALS ? 0 : EXEC_CAN_FREEZE;
    a->capabilities |= EXEC_CAN_NOTICE | EXEC_CAN_STOP | EXEC_CAN_BRING_IMAGE | EXEC_CAN_MANY_CHUNKS |
                       EXEC_CAN_MANY_HOSTS | EXEC_CAN_PEEK | EXEC_CAN_HOOKS | EXEC_CAN_WITHDRAW;
    a->ext.wire_ext_len = (u_int)host_files_digest(m->hooks, m->hook_digest);
    a->ext.wire_ext_val = m->hook_digest;
    m->said_checkpoint = checkpoint_capabilities(m);
    a->capabilities |= m->said_checkpoint;
    a->capabilities |= m->home.config->enforce.complexmem ? EXEC_WANTS_MEM_SUM : 0;
    a->clock_ns = clock_wall_ns(clock_real());
    a->pbs_version = (char *)CEDE_VERSION;
    a->runs.runs_val = calloc(runs_count(m->runs) + 1, sizeof(exec_held_run));
    if (a->runs.runs_val)
        runs_each(m->runs, server_link_add_held, a);
    log_event(LOGC_NODE, LOGE_SYSTEM, m->home.node, "%s sent to server at %s:%u, %u runs held",
              m->has_greeted ? "Hello" : "Restart", server.host, server.port, a->runs.runs_len);
    m->has_greeted = true;
    return a->runs.runs_val ? 0 : -1;
}

static void server_link_hello_done(void *arg, exec_hello_args *a)
{
    for (u_int i = 0; i < a->nodes.nodes_len; i++)
        xdr_free((xdrproc_t)xdr_exec_node, (char *)&a->nodes.nodes_val[i]);
    free(a->nodes.nodes_val);
    free(a->runs.runs_val);
    memset(&a->nodes, 0, sizeof a->nodes);
    memset(&a->runs, 0, sizeof a->runs);
}

/* The job may have run on another host, and be over: the output of this run must not replace that. */
static void kill_run(struct mom *m, struct run *r)
{
    log_event(LOGC_JOB, LOGE_JOB, r->id, "the server does not know run %u any more; it is killed",
              r->key.run);
    if (r->slot.state < RUN_RELEASED && !r->unwanted) {
        r->unwanted = true;
        mom_note(r, SHEP_NOTE_UNWANTED);
    }
    mom_post(m, r, RUN_EV_PURGE); /* kills first where something is alive */
}

static void obey(struct mom *m, const exec_run_decision *d, const char *store)
{
    struct run *r = run_find(m->runs, &d->job, d->run);

    if (!r)
        return;
    if (strcmp(r->start.store, store) != 0) {
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "run %u is of another store (%s) and left alone", r->key.run,
                  r->start.store);
        return;
    }
    if (r->other_boot) {
        journal_renumber(r, d->acked_seq);
        r->other_boot = false;
    } else {
        journal_acked(r, d->acked_seq);
    }
    switch (d->decision) {
    case EXEC_KEEP:
        break;
    case EXEC_KILL:
        kill_run(m, r);
        break;
    case EXEC_FORGET:
        mom_post(m, r, RUN_EV_PURGE);
        break;
    }
}

static void server_link_fetch_again(void *arg, struct run *r)
{
    struct mom *m = arg;

    prepare_again(m->prepare, r);
}

/* ---- busy, free, or down: no process can be started */
/* All our vnodes with their state; with `comments` also the reason, or none in place of an earlier one. `n` and `attr` are the
 * caller's memory. */
static void fill_states(const struct mom *m, bool comments, exec_node *n, wire_attr attr[static 2],
                        exec_node_state_args *a)
{
    static char state[] = "state", comment[] = "comment", none[] = "", busy[] = "busy", free_word[] = "free",
                down[] = "down";
    u_int k = 0, n_attrs = comments ? 2 : 1;

    attr[0] = (wire_attr){state, none, m->unfit ? down : m->busy ? busy : free_word};
    attr[1] = (wire_attr){comment, none, m->unfit ? (char *)(uintptr_t)fitness_why(m->fitness) : none};
    n[k++] = (exec_node){m->home.node, {n_attrs, attr}};
    for (size_t i = 0; i < m->home.vnodes->n; i++)
        if (strcmp(m->home.vnodes->list[i].name, m->home.node) != 0)
            n[k++] = (exec_node){m->home.vnodes->list[i].name, {n_attrs, attr}};
    a->nodes.nodes_val = n;
    a->nodes.nodes_len = k;
}

static void say_busy(struct mom *m, bool always)
{
    bool busy = cycle_harvest_is_busy(m->cycle_harvest), unfit = fitness_is_bad(m->fitness);
    bool comments = unfit || m->unfit;
    exec_node *n =
        busy != m->busy || unfit != m->unfit || always ? calloc(m->home.vnodes->n + 1, sizeof *n) : NULL;
    exec_node_state_args a = {.load_percent = hardware_load_percent(), .note = (char *)""};
    wire_attr attr[2];

    if (!n)
        return;
    m->busy = busy;
    m->unfit = unfit;
    fill_states(m, comments, n, attr, &a);
    exec_service_send_nodes(m->service, &a);
    free(n);
}

void server_link_say_busy(struct mom *m)
{
    if (m->service)
        say_busy(m, false);
}

void server_link_say_resources(struct mom *m)
{
    exec_node n = {.name = m->home.node};
    exec_node_state_args a = {{1, &n}, hardware_load_percent(), (char *)"", {0, NULL}};

    if (!m->service)
        return; /* HELLO will say it */
    dyn_values_add(m->dynamic, &n.attrs);
    ckpt_adapters_add(m->ckpt_adapters, &n.attrs);
    if (n.attrs.wire_attrs_len)
        exec_service_send_nodes(m->service, &a);
    n.name = NULL;
    xdr_free((xdrproc_t)xdr_exec_node, (char *)&n);
}

void server_link_say_checkpoint(struct mom *m)
{
    if (m->service && m->has_greeted && checkpoint_capabilities(m) != m->said_checkpoint)
        exec_service_again(m->service);
    else
        server_link_say_resources(m);
}

static void log_accepted(const struct mom *m, const exec_hello_result *res)
{
    struct exec_service_target server = talked_to(m);

    log_event(LOGC_NODE, LOGE_SYSTEM, m->home.node,
              "ReplyHello (no inventory required) from server at %s:%u, epoch %llu", server.host, server.port,
              (unsigned long long)res->epoch);
}

static void keep_epoch(struct mom *m, const exec_hello_result *res)
{
    struct err e = {0};

    if (server_epoch_obey(&m->server_epoch, res->store, res->epoch, &e) < 0)
        log_err(LOGC_NODE, m->home.node, &e, "epoch %llu cannot be kept", (unsigned long long)res->epoch);
}

static void obey_decisions(struct mom *m, const exec_hello_result *res)
{
    for (u_int i = 0; i < res->runs.runs_len; i++)
        obey(m, &res->runs.runs_val[i], res->store);
}

static void server_link_checkpoint_cb(void *arg)
{
    server_link_say_checkpoint(arg);
}

static void server_link_accepted(void *arg, const exec_hello_result *res)
{
    struct mom *m = arg;

    log_accepted(m, res);
    keep_epoch(m, res);     /* before anything is obeyed: no older server may follow */
    obey_decisions(m, res); /* before events are sent: it says which of them are known */
    runs_each(m->runs, server_link_fetch_again, m); /* scripts that the old connection did not bring whole */
    server_lease_renew(m->server_lease); /* after the decisions: the server knows the runs that are left */
    if (m->service)                      /* not inside its creation */
        say_busy(m, true);
    host_changes_flush(m);
    server_link_say_resources(m); /* last: what was measured between HELLO and its answer */
    /* The connection may not go while its answer is taken. A host without memory for this says it at its next HELLO. */
    if (checkpoint_capabilities(m) != m->said_checkpoint)
        (void)loop_defer(m->loop, server_link_checkpoint_cb, m);
}

static void server_link_lost(void *arg, const struct err *why)
{
    struct mom *m = arg;

    log_event(LOGC_NODE, LOGE_SYSTEM, m->home.node, "connection to the server lost: %s",
              why->text[0] ? why->text : "closed");
    server_lease_start(m->server_lease, exec_service_silent_ms(m->service));
}

static void server_link_heartbeat(void *arg, exec_node_state_args *a)
{
    struct mom *m = arg;

    a->load_percent = hardware_load_percent();
    cycle_harvest_sample(m->cycle_harvest);
    say_busy(m, false);
}

static size_t server_link_journal_next(void *arg, exec_event *out, size_t max)
{
    struct mom *m = arg;

    return journal_take_unsent(&m->outbox, m->server_epoch.store, out, max);
}

static void server_link_rewind_one(void *arg, struct run *r)
{
    struct mom *m = arg;

    journal_send_again(&m->outbox, r);
}

static void server_link_journal_rewind(void *arg)
{
    struct mom *m = arg;

    runs_each(m->runs, server_link_rewind_one, m);
}

static void server_link_journal_ack(void *arg, const exec_ack *ack)
{
    struct mom *m = arg;
    struct run *r = run_find(m->runs, &ack->job, ack->run);

    if (!r || strcmp(r->start.store, m->server_epoch.store) != 0)
        return;
    if (ack->state == EXEC_ACKED) {
        journal_acked(r, ack->seq);
        return;
    }
    journal_acked(r, r->last_seq);
    kill_run(m, r);
}

const struct exec_service_hooks server_link_hooks = {
    .hello = server_link_hello,
    .hello_done = server_link_hello_done,
    .accepted = server_link_accepted,
    .lost = server_link_lost,
    .heartbeat = server_link_heartbeat,
    .journal = {.next = server_link_journal_next,
                .rewind = server_link_journal_rewind,
                .acked = server_link_journal_ack},
};

void server_link_wake(void *arg)
{
    struct mom *m = arg;

    if (m->service)
        exec_service_wake(m->service);
}

struct exec_service *server_link_create(struct mom *m, struct ssl_ctx_st *tls, struct err *e)
{
    const struct conf_host *pair = conf_pair(m->home.conf);
    struct exec_service_target targets[CONF_PAIR] = {
        {.host = conf_server_host(m->home.conf), .port = conf_server_port(m->home.conf)}};
    struct exec_service_options o = {.name = m->home.service,
                                     .targets = targets,
                                     .n_targets = pair ? CONF_PAIR : 1,
                                     .tls = tls,
                                     .names = m->names,
                                     .orders = orders,
                                     .n_orders = orders_n,
                                     .hooks = &server_link_hooks,
                                     .keepalive_ms = server_lease_keepalive_ms(m),
                                     .arg = m};

    for (int i = 0; pair && i < CONF_PAIR; i++)
        targets[i] = (struct exec_service_target){.host = pair[i].host, .port = pair[i].port};
    return exec_service_create(m->loop, &o, e);
}
