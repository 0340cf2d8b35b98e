/* The service: HELLO, orders, and vnodes that are lost by rule. sim_job.c simulates the runs.
 *
 * An order is answered before an event is posted, so that an event never overtakes the answer to its order. */
#include "execsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "sim_nodes.h"
#include "exec_service.h"
#include "log.h"
#include "jobid.h"
#include "loop.h"
#include "pbs_error.h"
#include "sim_rules.h"

struct loss { /* of a rule, with its timer */
    struct execsim *sim;
    const struct sim_rules_loss *rule;
    struct loop_timer *timer;
    bool is_down;
};

struct execsim {
    struct loop *loop;
    struct execsim_options o;
    struct exec_service *service;
    struct sim_runs runs;
    struct sim_jobs *jobs;
    struct loss *losses;
    size_t n_losses;
    char store[PBS_NAME_MAX + 1];
    uint64_t epoch;
};

/* --- orders ------------------------------------------------------------------------------------------------- */

static void execsim_order_start(void *arg, const void *args, struct rpc_request *q)
{
    struct execsim *s = arg;
    const exec_start_args *a = args;
    const struct sim_run_key key = {.seq = a->job.seq, .index = a->job.index, .run = a->run};
    struct sim_run *r;

    if (a->my_host >= a->hosts.hosts_len) {
        exec_service_taken(q, PBSE_IVALREQ, "the run has no such host");
    } else if (sim_runs_find(&s->runs, &a->job, a->run)) { /* a repeated order */
        exec_service_taken(q, 0, NULL);
    } else if (HASH_COUNT(s->runs.table) >=
               EXEC_RUNS_MAX) { /* HELLO could not tell of it: the server would run it once more */
        exec_service_taken(q, PBSE_RESCUNAV, "65536 runs are here, as many as HELLO holds");
    } else if (sim_rules_count_start(s->o.rules)) {
        exec_service_taken(q, PBSE_MOMREJECT, "refused by a rule of the simulation");
    } else {
        exec_service_taken(q, 0, NULL);
        r = sim_job_prepare(s->jobs, &key, a);
        if (r && a->launch)
            sim_job_launch(r);
    }
}

/* Return the run that an order is about, or NULL after refusing the order. */
static struct sim_run *execsim_find_run(struct execsim *s, const wire_job *job, uint32_t run,
                                        struct rpc_request *q)
{
    struct sim_run *r = sim_runs_find(&s->runs, job, run);

    exec_service_taken(q, r ? 0 : PBSE_UNKJOBID, r ? NULL : "no such run here");
    return r;
}

static void execsim_order_launch(void *arg, const void *args, struct rpc_request *q)
{
    const exec_order_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r)
        sim_job_launch(r);
}

static void execsim_order_suspend(void *arg, const void *args, struct rpc_request *q)
{
    const exec_attempt_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r && !r->ended)
        sim_job_suspend(r, a->attempt);
}

static void execsim_order_resume(void *arg, const void *args, struct rpc_request *q)
{
    const exec_attempt_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r && !r->ended)
        sim_job_resume(r, a->attempt);
}

static void execsim_order_checkpoint(void *arg, const void *args, struct rpc_request *q)
{
    const exec_checkpoint_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r && !r->ended)
        sim_job_checkpoint(r, a->attempt, a->leave);
}

static void execsim_order_terminate(void *arg, const void *args, struct rpc_request *q)
{
    const exec_terminate_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r)
        sim_job_terminate(r, a->grace_s);
}

static void execsim_order_update(void *arg, const void *args, struct rpc_request *q)
{
    const exec_update_args *a = args;
    struct sim_run *r = execsim_find_run(arg, &a->job, a->run, q);

    if (r)
        sim_job_release_nodes(r, a->give_up.give_up_val, a->give_up.give_up_len);
}

static void execsim_order_purge(void *arg, const void *args, struct rpc_request *q)
{
    struct execsim *s = arg;
    const exec_order_args *a = args;
    struct sim_run *r = sim_runs_find(&s->runs, &a->job, a->run);

    exec_service_taken(q, 0, NULL);
    if (r)
        sim_job_purge(r);
}

static void execsim_order_ignore(void *arg, const void *args, struct rpc_request *q)
{
    exec_service_taken(q, 0, NULL);
}

static const struct exec_service_order orders[] = {
    {EXEC_START, execsim_order_start},          {EXEC_LAUNCH, execsim_order_launch},
    {EXEC_SUSPEND, execsim_order_suspend},      {EXEC_RESUME, execsim_order_resume},
    {EXEC_TERMINATE, execsim_order_terminate},  {EXEC_PURGE, execsim_order_purge},
    {EXEC_NOTICE, execsim_order_ignore}, /* jobs use their time, and do not answer */
    {EXEC_UPDATE, execsim_order_update},        {EXEC_SIGNAL, execsim_order_ignore},
    {EXEC_CHECKPOINT, execsim_order_checkpoint}};

/* --- HELLO -------------------------------------------------------------------------------------------------- */

static exec_held_run execsim_held_run(const struct execsim *s, const struct sim_run *r)
{
    return (exec_held_run){.job = {.seq = r->key.seq, .index = r->key.index},
                           .run = r->key.run,
                           .store = (char *)(uintptr_t)s->store,
                           .state = r->ended       ? EXEC_RUN_RELEASED
                                    : r->suspended ? EXEC_RUN_SUSPENDED
                                                   : EXEC_RUN_RUNNING,
                           .last_seq = r->last_seq};
}

static u_int capabilities(const struct execsim *s)
{
    int64_t save_ms, restart_ms;

    return EXEC_CAN_FREEZE | EXEC_CAN_RELEASE | EXEC_CAN_MANY_CHUNKS | EXEC_CAN_MANY_HOSTS |
           (s->o.clock ? EXEC_CAN_VIRTUAL : 0) | (s->o.takes_notice ? EXEC_CAN_NOTICE : 0) |
           (sim_rules_checkpoint(s->o.rules, &save_ms, &restart_ms) ? EXEC_CAN_CHECKPOINT : 0);
}

static int execsim_hello(void *arg, exec_hello_args *a)
{
    static char version[] = CEDE_VERSION;
    struct execsim *s = arg;
    size_t n_nodes;

    a->kind = EXEC_SERVICE_SIM;
    a->service = (char *)(uintptr_t)s->o.service;
    a->generation = (u_quad_t)clock_wall_ms(clock_real());
    a->host = (char *)(uintptr_t)s->o.host;
    a->store = s->store;
    a->epoch = s->epoch;
    a->capabilities = capabilities(s);
    a->clock_ns = clock_wall_ns(loop_clock(s->loop));
    a->nodes.nodes_val = sim_nodes_get(s->o.cluster, &n_nodes);
    a->nodes.nodes_len = (u_int)n_nodes;
    a->pbs_version = version;
    a->runs.runs_val = calloc(HASH_COUNT(s->runs.table) + 1, sizeof *a->runs.runs_val);
    if (!a->runs.runs_val)
        return -1;
    for (const struct sim_run *r = s->runs.table; r && a->runs.runs_len < EXEC_RUNS_MAX; r = r->hh.next)
        a->runs.runs_val[a->runs.runs_len++] = execsim_held_run(s, r);
    return 0;
}

static void execsim_hello_done(void *arg, exec_hello_args *a)
{
    free(a->runs.runs_val);
}

static void execsim_obey(struct execsim *s, const exec_run_decision *d)
{
    struct sim_run *r = sim_runs_find(&s->runs, &d->job, d->run);

    if (!r)
        return;
    sim_runs_acked(r, d->decision == EXEC_FORGET ? UINT64_MAX : d->acked_seq);
    if (d->decision == EXEC_KILL)
        sim_job_terminate(r, 0);
    else if (d->decision == EXEC_FORGET)
        sim_job_purge(r);
}

static void execsim_send_nodes(struct execsim *s, const struct loss *l);

static void execsim_accepted(void *arg, const exec_hello_result *result)
{
    struct execsim *s = arg;

    snprintf(s->store, sizeof s->store, "%s", result->store);
    s->epoch = result->epoch;
    if (s->o.clock)
        clock_set(s->o.clock, result->clock_ns); /* from now on both clocks agree */
    for (u_int i = 0; i < result->runs.runs_len; i++)
        execsim_obey(s, &result->runs.runs_val[i]);
    for (size_t i = 0; i < s->n_losses; i++)
        if (s->losses[i].is_down)
            execsim_send_nodes(s, &s->losses[i]);
}

static size_t execsim_journal_next(void *arg, exec_event *out, size_t max)
{
    struct execsim *s = arg;

    return sim_runs_next(&s->runs, out, max);
}

static void execsim_journal_rewind(void *arg)
{
    struct execsim *s = arg;

    sim_runs_rewind(&s->runs);
}

static void execsim_journal_acked(void *arg, const exec_ack *a)
{
    struct execsim *s = arg;
    struct sim_run *r = sim_runs_find(&s->runs, &a->job, a->run);

    if (!r)
        return;
    if (a->state == EXEC_UNKNOWN_RUN)
        r->purged = true;
    sim_job_acked(r, a->state == EXEC_UNKNOWN_RUN ? UINT64_MAX : a->seq);
}

static const struct exec_service_hooks hooks = {.hello = execsim_hello,
                                                .hello_done = execsim_hello_done,
                                                .accepted = execsim_accepted,
                                                .journal = {.next = execsim_journal_next,
                                                            .rewind = execsim_journal_rewind,
                                                            .acked = execsim_journal_acked}};

/* --- by hand ------------------------------------------------------------------------------------------------ */

int execsim_step(struct execsim *s, const char *job, enum sim_job_step step, int status, struct err *e)
{
    struct sim_run *last = NULL;
    struct jobid id;

    if (jobid_parse(job, &id, e) < 0)
        return -1;
    for (struct sim_run *r = s->runs.table; r; r = r->hh.next)
        if (r->key.seq == id.key.seq && r->key.index == id.key.index && (!last || r->key.run > last->key.run))
            last = r;
    if (!last)
        return err_set(e, PBSE_UNKJOBID, "it is not here");
    return sim_job_step(last, step, status, e);
}

/* --- vnodes that are lost ----------------------------------------------------------------------------------- */

/* Send "down" or "free"; sent again at every HELLO, since it is not an event. */
static void execsim_send_nodes(struct execsim *s, const struct loss *l)
{
    static char state[] = "state", none[] = "", down[] = "down", is_free[] = "free";
    wire_attr attr = {state, none, l->is_down ? down : is_free};
    exec_node_state_args a = {.note = none};

    a.nodes.nodes_val = calloc(l->rule->n_nodes, sizeof *a.nodes.nodes_val);
    if (!a.nodes.nodes_val)
        return;
    for (size_t i = 0; i < l->rule->n_nodes; i++)
        a.nodes.nodes_val[a.nodes.nodes_len++] = (exec_node){l->rule->nodes[i], {1, &attr}};
    exec_service_send_nodes(s->service, &a);
    free(a.nodes.nodes_val);
}

static bool touches(const struct sim_run *r, const struct sim_rules_loss *rule)
{
    for (size_t i = 0; i < rule->n_nodes; i++)
        if (sim_job_has_node(r, rule->nodes[i]))
            return true;
    return false;
}

static void execsim_loss_cb(void *arg)
{
    struct loss *l = arg;
    struct execsim *s = l->sim;

    l->is_down = !l->is_down;
    execsim_send_nodes(s, l);
    if (!l->is_down)
        return;
    for (struct sim_run *r = s->runs.table; r; r = r->hh.next)
        if (touches(r, l->rule))
            sim_job_lose_node(r);
    if (l->rule->for_ms)
        loop_timer_set(l->timer, sim_job_to_clock_ms(s->jobs, l->rule->for_ms));
}

static int execsim_create_losses(struct execsim *s)
{
    const struct sim_rules_loss *rules = sim_rules_losses(s->o.rules, &s->n_losses);

    s->losses = calloc(s->n_losses ? s->n_losses : 1, sizeof *s->losses);
    if (!s->losses)
        return -1;
    for (size_t i = 0; i < s->n_losses; i++) {
        s->losses[i] = (struct loss){.sim = s, .rule = &rules[i]};
        s->losses[i].timer = loop_timer_create(s->loop, LOOP_CLOCK, execsim_loss_cb, &s->losses[i]);
        if (!s->losses[i].timer)
            return -1;
        loop_timer_set(s->losses[i].timer, sim_job_to_clock_ms(s->jobs, rules[i].at_ms));
    }
    return 0;
}

/* --- creation ----------------------------------------------------------------------------------------------- */

static void execsim_wake(void *arg)
{
    struct execsim *s = arg;

    exec_service_wake(s->service);
}

struct execsim *execsim_create(struct loop *l, const struct execsim_options *o, struct err *e)
{
    struct execsim *s = calloc(1, sizeof *s);
    const struct exec_service_target target = {.unix_path = o->socket_path};
    struct exec_service_options so = {.name = o->service,
                                      .targets = &target,
                                      .n_targets = 1,
                                      .orders = orders,
                                      .n_orders = sizeof orders / sizeof *orders,
                                      .hooks = &hooks,
                                      .arg = s};

    err_set(e, PBSE_SYSTEM, "no memory for the simulator");
    if (!s)
        return NULL;
    s->loop = l;
    s->o = *o;
    s->runs = (struct sim_runs){.wake = execsim_wake, .arg = s};
    s->jobs = sim_job_create(l, &s->runs, o->rules, &o->job);
    if (s->jobs && execsim_create_losses(s) == 0)
        s->service = exec_service_create(l, &so, e);
    if (s->service)
        return s;
    execsim_destroy(s);
    return NULL;
}

void execsim_destroy(struct execsim *s)
{
    if (!s)
        return;
    exec_service_destroy(s->service);
    sim_job_destroy(s->jobs);
    for (size_t i = 0; s->losses && i < s->n_losses; i++)
        loop_timer_destroy(s->losses[i].timer);
    free(s->losses);
    free(s);
}

void execsim_stop(struct execsim *s, void (*done)(void *arg), void *arg)
{
    exec_service_bye(s->service, "the simulation is over", false, done, arg);
}

struct exec_service *execsim_service(const struct execsim *s)
{
    return s->service;
}

size_t execsim_n_runs(const struct execsim *s)
{
    return HASH_COUNT(s->runs.table);
}

bool execsim_is_quiet(const struct execsim *s)
{
    return exec_service_is_accepted(s->service) && sim_runs_all_acked(&s->runs);
}

uint64_t execsim_n_events(const struct execsim *s)
{
    return s->runs.n_posted;
}
