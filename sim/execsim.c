#include "execsim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "clock.h"
#include "exec_service.h"
#include "loop.h"
#include "pbs_error.h"

enum { NAME_BYTES = 64, ATTRS_A_NODE = 2, STATUS_TERMINATED = 256 + 15 };

struct run_key {
    int64_t seq;
    int32_t index;
    uint32_t run;
};

struct run {
    struct run_key key;
    struct execsim *sim;
    struct loop_timer *timer;
    char **nodes; /* vnodes that it holds here */
    u_int n_nodes;
    char *host;
    int64_t left_ms; /* of its life, when it was last stopped or started */
    int64_t since_ms, began_ms;
    int status;
    bool ended, suspended;
    uint64_t last_seq;
    size_t n_events; /* in the journal */
    bool purged;
    UT_hash_handle hh;
};

struct event {
    exec_event e;
    struct run *run;
    struct event *next;
};

struct execsim {
    struct loop *loop;
    struct execsim_options o;
    struct exec_service *service;
    struct run *runs;
    struct event *first, **last, *cursor; /* journal; cursor: next to hand out */
    char store[PBS_NAME_MAX + 1];
    uint64_t epoch;
    exec_node *nodes;
    char (*names)[NAME_BYTES];
    char ncpus[24], mem[32];
    wire_attr *attrs;
};

/* --- the journal ------------------------------------------------------------------------------------- */

static void run_forget(struct run *r)
{
    if (!r->purged || r->n_events)
        return;
    HASH_DEL(r->sim->runs, r);
    loop_timer_destroy(r->timer);
    for (u_int i = 0; i < r->n_nodes; i++)
        free(r->nodes[i]);
    free(r->nodes);
    free(r->host);
    free(r);
}

static void say(struct run *r, exec_event_data *data)
{
    struct execsim *s = r->sim;
    struct event *x = calloc(1, sizeof *x);

    if (!x)
        abort();
    x->run = r;
    x->e.job = (wire_job){.seq = r->key.seq, .index = r->key.index};
    x->e.run = r->key.run;
    x->e.seq = ++r->last_seq;
    x->e.time_ns = clock_wall_ns(loop_clock(s->loop));
    x->e.data = *data;
    *s->last = x;
    s->last = &x->next;
    if (!s->cursor)
        s->cursor = x;
    r->n_events++;
    exec_service_wake(s->service);
}

static size_t journal_next(void *arg, exec_event *out, size_t max)
{
    struct execsim *s = arg;
    size_t n = 0;

    for (; s->cursor && n < max; s->cursor = s->cursor->next)
        out[n++] = s->cursor->e;
    return n;
}

static void journal_rewind(void *arg)
{
    struct execsim *s = arg;

    s->cursor = s->first;
}

static bool is_of(const struct event *x, const exec_ack *a)
{
    return x->e.job.seq == a->job.seq && x->e.job.index == a->job.index && x->e.run == a->run &&
           (a->state == EXEC_UNKNOWN_RUN || x->e.seq <= a->seq);
}

static void drop_event(struct execsim *s, struct event **at)
{
    struct event *x = *at;

    *at = x->next;
    if (s->cursor == x)
        s->cursor = x->next;
    if (s->last == &x->next)
        s->last = at;
    x->run->n_events--;
    run_forget(x->run);
    free(x);
}

static void journal_acked(void *arg, const exec_ack *a)
{
    struct execsim *s = arg;

    /* Only what was handed out can have been acknowledged. */
    for (struct event **at = &s->first; *at && *at != s->cursor;)
        if (is_of(*at, a))
            drop_event(s, at);
        else
            at = &(*at)->next;
}

/* --- the life of a run ------------------------------------------------------------------------------- */

static int64_t now_ms(const struct execsim *s)
{
    return clock_mono_ms(loop_clock(s->loop));
}

static void fill_usage(const struct run *r, exec_usage *u)
{
    *u = (exec_usage){.walltime_ms = (u_quad_t)(now_ms(r->sim) - r->began_ms), .ncpus = 1};
}

static void finish(struct run *r, int status, exec_reason reason)
{
    static char nothing[1];
    exec_event_data d = {.kind = EXEC_EVENT_FINISH};

    if (r->ended)
        return;
    r->ended = true;
    loop_timer_cancel(r->timer);
    d.exec_event_data_u.finish = (exec_finish_data){.status = status, .reason = reason, .text = nothing};
    fill_usage(r, &d.exec_event_data_u.finish.usage);
    say(r, &d);
    d = (exec_event_data){.kind = EXEC_EVENT_RELEASE};
    d.exec_event_data_u.release.nodes.nodes_val = r->nodes;
    d.exec_event_data_u.release.nodes.nodes_len = r->n_nodes;
    d.exec_event_data_u.release.final = TRUE;
    d.exec_event_data_u.release.note = nothing;
    say(r, &d);
}

static void over(void *arg)
{
    struct run *r = arg;

    finish(r, r->status, r->status == STATUS_TERMINATED ? EXEC_END_TERMINATED : EXEC_END_ITSELF);
}

static void launch(struct run *r)
{
    static char nothing[1];
    exec_event_data d = {.kind = EXEC_EVENT_START};

    d.exec_event_data_u.start = (exec_start_data){.session = 1, .host = r->host, .jobdir = nothing};
    say(r, &d);
    r->began_ms = r->since_ms = now_ms(r->sim);
    if (r->left_ms > 0)
        loop_timer_set(r->timer, r->left_ms);
    else
        over(r);
}

static char *copy(const char *text)
{
    char *s = strdup(text);

    if (!s)
        abort();
    return s;
}

/* NAME=VALUE out of Variable_List. */
static int64_t variable(const exec_start_args *a, const char *name, int64_t otherwise)
{
    size_t n = strlen(name);

    for (u_int i = 0; i < a->attrs.wire_attrs_len; i++) {
        const wire_attr *w = &a->attrs.wire_attrs_val[i];
        if (strcmp(w->name, "Variable_List") != 0)
            continue;
        for (const char *at = w->value; (at = strstr(at, name)) != NULL; at += n)
            if ((at == w->value || at[-1] == ',') && at[n] == '=')
                return strtoll(at + n + 1, NULL, 10);
    }
    return otherwise;
}

static struct run *run_create(struct execsim *s, const struct run_key *key, const exec_start_args *a)
{
    struct run *r = calloc(1, sizeof *r);
    const exec_job_host *h = &a->hosts.hosts_val[a->my_host];

    if (!r || !(r->nodes = calloc(h->chunks.chunks_len + 1, sizeof *r->nodes)) ||
        !(r->timer = loop_timer_create(s->loop, LOOP_CLOCK, over, r)))
        abort();
    r->key = *key;
    r->sim = s;
    r->host = copy(h->name);
    for (u_int i = 0; i < h->chunks.chunks_len; i++) {
        const char *vnode = h->chunks.chunks_val[i].vnode;
        u_int k = 0;
        while (k < r->n_nodes && strcmp(r->nodes[k], vnode) != 0)
            k++;
        if (k == r->n_nodes)
            r->nodes[r->n_nodes++] = copy(vnode);
    }
    r->left_ms = variable(a, "EXECSIM_MS", s->o.run_ms);
    r->status = (int)variable(a, "EXECSIM_STATUS", 0);
    HASH_ADD(hh, s->runs, key, sizeof r->key, r);
    return r;
}

/* --- orders ------------------------------------------------------------------------------------------ */

static struct run *run_find(struct execsim *s, const wire_job *job, uint32_t run)
{
    struct run_key key;
    struct run *r;

    memset(&key, 0, sizeof key);
    key.seq = job->seq;
    key.index = job->index;
    key.run = run;
    HASH_FIND(hh, s->runs, &key, sizeof key, r);
    return r;
}

static void take_start(void *arg, const void *args, struct rpc_request *q)
{
    struct execsim *s = arg;
    const exec_start_args *a = args;
    struct run_key key;
    exec_event_data ready = {.kind = EXEC_EVENT_READY};

    if (a->my_host >= a->hosts.hosts_len) {
        exec_service_taken(q, PBSE_IVALREQ, "the run has no such host");
        return;
    }
    if (run_find(s, &a->job, a->run)) { /* said again */
        exec_service_taken(q, 0, NULL);
        return;
    }
    memset(&key, 0, sizeof key);
    key.seq = a->job.seq;
    key.index = a->job.index;
    key.run = a->run;
    struct run *r = run_create(s, &key, a);
    exec_service_taken(q, 0, NULL);
    say(r, &ready);
    if (a->launch)
        launch(r);
}

/* The run that an order is about, or NULL after refusing it. */
static struct run *run_for(struct execsim *s, const wire_job *job, uint32_t run, struct rpc_request *q)
{
    struct run *r = run_find(s, job, run);

    exec_service_taken(q, r ? 0 : PBSE_UNKJOBID, r ? NULL : "no such run here");
    return r;
}

static void take_launch(void *arg, const void *args, struct rpc_request *q)
{
    const exec_order_args *a = args;
    struct run *r = run_for(arg, &a->job, a->run, q);

    if (r && !r->ended)
        launch(r);
}

static void outcome(struct run *r, exec_event_kind kind, u_int attempt)
{
    exec_event_data d = {.kind = kind};

    d.exec_event_data_u.suspended.attempt = attempt; /* resumed has the same form */
    fill_usage(r, &d.exec_event_data_u.suspended.usage);
    say(r, &d);
}

static void take_suspend(void *arg, const void *args, struct rpc_request *q)
{
    const exec_attempt_args *a = args;
    struct run *r = run_for(arg, &a->job, a->run, q);

    if (!r || r->ended)
        return;
    if (!r->suspended)
        r->left_ms -= now_ms(r->sim) - r->since_ms;
    r->suspended = true;
    loop_timer_cancel(r->timer);
    outcome(r, EXEC_EVENT_SUSPENDED, a->attempt);
}

static void take_resume(void *arg, const void *args, struct rpc_request *q)
{
    const exec_attempt_args *a = args;
    struct run *r = run_for(arg, &a->job, a->run, q);

    if (!r || r->ended)
        return;
    r->suspended = false;
    r->since_ms = now_ms(r->sim);
    outcome(r, EXEC_EVENT_RESUMED, a->attempt);
    loop_timer_set(r->timer, r->left_ms);
}

static void take_terminate(void *arg, const void *args, struct rpc_request *q)
{
    const exec_terminate_args *a = args;
    struct run *r = run_for(arg, &a->job, a->run, q);

    if (!r || r->ended)
        return;
    r->status = STATUS_TERMINATED;
    loop_timer_set(r->timer, a->grace_s ? r->sim->o.die_ms : 0);
}

static void take_purge(void *arg, const void *args, struct rpc_request *q)
{
    const exec_order_args *a = args;
    struct run *r = run_find(arg, &a->job, a->run);

    exec_service_taken(q, 0, NULL);
    if (r) {
        r->purged = true;
        run_forget(r);
    }
}

static void take_nothing(void *arg, const void *args, struct rpc_request *q)
{
    (void)arg;
    (void)args;
    exec_service_taken(q, 0, NULL);
}

static const struct exec_service_order orders[] = {
    {EXEC_START, take_start},    {EXEC_LAUNCH, take_launch},       {EXEC_SUSPEND, take_suspend},
    {EXEC_RESUME, take_resume},  {EXEC_TERMINATE, take_terminate}, {EXEC_PURGE, take_purge},
    {EXEC_SIGNAL, take_nothing}, {EXEC_UPDATE, take_nothing}};

/* --- HELLO ------------------------------------------------------------------------------------------- */

static int hello(void *arg, exec_hello_args *a)
{
    static char version[] = CEDE_VERSION, nothing[1];
    struct execsim *s = arg;
    u_int n = 0;

    a->kind = EXEC_SERVICE_SIM;
    a->service = (char *)(uintptr_t)s->o.service;
    a->generation = (u_quad_t)clock_wall_ms(clock_real());
    a->host = (char *)(uintptr_t)s->o.prefix;
    a->address = nothing;
    a->boot = nothing;
    a->store = s->store;
    a->epoch = s->epoch;
    a->capabilities = EXEC_CAN_FREEZE;
    a->clock_ns = clock_wall_ns(loop_clock(s->loop));
    a->nodes.nodes_len = s->o.n_nodes;
    a->nodes.nodes_val = s->nodes;
    a->pbs_version = version;
    a->runs.runs_val = calloc(HASH_COUNT(s->runs) + 1, sizeof *a->runs.runs_val);
    if (!a->runs.runs_val)
        return -1;
    for (struct run *r = s->runs; r && n < EXEC_RUNS_MAX; r = r->hh.next)
        a->runs.runs_val[n++] = (exec_held_run){.job = {.seq = r->key.seq, .index = r->key.index},
                                                .run = r->key.run,
                                                .store = s->store,
                                                .state = r->ended       ? EXEC_RUN_RELEASED
                                                         : r->suspended ? EXEC_RUN_SUSPENDED
                                                                        : EXEC_RUN_RUNNING,
                                                .last_seq = r->last_seq,
                                                .unacked = (u_int)r->n_events};
    a->runs.runs_len = n;
    return 0;
}

static void hello_done(void *arg, exec_hello_args *a)
{
    (void)arg;
    free(a->runs.runs_val);
}

static void obey(struct execsim *s, const exec_run_decision *d)
{
    struct run *r = run_find(s, &d->job, d->run);
    exec_ack ack = {.job = d->job, .run = d->run, .seq = d->acked_seq};

    if (!r)
        return;
    r->n_events++; /* stays until we are through with it */
    s->cursor = NULL;
    if (d->decision == EXEC_FORGET)
        ack.state = EXEC_UNKNOWN_RUN;
    journal_acked(s, &ack);
    r->n_events--;
    if (d->decision == EXEC_KILL)
        finish(r, STATUS_TERMINATED, EXEC_END_TERMINATED);
    r->purged = r->purged || d->decision == EXEC_FORGET;
    run_forget(r);
}

static void accepted(void *arg, const exec_hello_result *result)
{
    struct execsim *s = arg;

    snprintf(s->store, sizeof s->store, "%s", result->store);
    s->epoch = result->epoch;
    for (u_int i = 0; i < result->runs.runs_len; i++)
        obey(s, &result->runs.runs_val[i]);
}

static const struct exec_service_hooks hooks = {
    .hello = hello,
    .hello_done = hello_done,
    .accepted = accepted,
    .journal = {.next = journal_next, .rewind = journal_rewind, .acked = journal_acked}};

/* --- the nodes --------------------------------------------------------------------------------------- */

static int make_nodes(struct execsim *s)
{
    static char available[] = "resources_available", ncpus[] = "ncpus", mem[] = "mem";
    unsigned n = s->o.n_nodes;

    s->nodes = calloc(n, sizeof *s->nodes);
    s->names = calloc(n, sizeof *s->names);
    s->attrs = calloc(ATTRS_A_NODE, sizeof *s->attrs);
    if (!s->nodes || !s->names || !s->attrs)
        return -1;
    snprintf(s->ncpus, sizeof s->ncpus, "%u", s->o.ncpus);
    snprintf(s->mem, sizeof s->mem, "%" PRIu64 "kb", s->o.mem_kb);
    s->attrs[0] = (wire_attr){available, ncpus, s->ncpus};
    s->attrs[1] = (wire_attr){available, mem, s->mem};
    for (unsigned i = 0; i < n; i++) {
        snprintf(s->names[i], sizeof s->names[i], "%s%u", s->o.prefix, i + 1);
        s->nodes[i] = (exec_node){.name = s->names[i], .attrs = {ATTRS_A_NODE, s->attrs}};
    }
    return 0;
}

struct execsim *execsim_create(struct loop *l, const struct execsim_options *o, struct err *e)
{
    struct execsim *s = calloc(1, sizeof *s);
    const struct exec_service_target target = {.unix_path = o->socket_path};
    const struct exec_service_options so = {.name = o->service,
                                            .targets = &target,
                                            .n_targets = 1,
                                            .orders = orders,
                                            .n_orders = sizeof orders / sizeof *orders,
                                            .hooks = &hooks,
                                            .arg = s};

    if (!s) {
        err_set(e, PBSE_SYSTEM, "no memory for the simulator");
        return NULL;
    }
    s->loop = l;
    s->o = *o;
    s->last = &s->first;
    if (make_nodes(s) < 0)
        err_set(e, PBSE_SYSTEM, "no memory for %u nodes", o->n_nodes);
    else
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
    while (s->first)
        drop_event(s, &s->first);
    for (struct run *r = s->runs, *next; r; r = next) {
        next = r->hh.next;
        r->purged = true;
        run_forget(r);
    }
    free(s->nodes);
    free(s->names);
    free(s->attrs);
    free(s);
}
