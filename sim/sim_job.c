/* One timer for each run: until its end, and then until the next vnode is clean. A run that is being terminated keeps
 * its timer, set to the time that it takes to end.
 *
 * Vnodes are in the order in which they will be clean, and n_released says how many are; a release is always the next
 * part of the array. Nothing survives the simulator: where a MOM would report that it has no memory, this aborts. */
#include "sim_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "loop.h"
#include "pbs_error.h"
#include "sim_rules.h"

enum { STATUS_TERMINATED = 256 + 15, STATUS_LOST = -4, STATUS_CHECKPOINTED = -12, ID_MAX = 128 };

static const int64_t FOREVER_MS = INT64_C(1000) * 86400 * 3650;

struct sim_jobs {
    struct loop *loop;
    struct sim_runs *runs;
    struct sim_rules *rules;
    struct sim_job_options o;
};

static char nothing[1];

struct sim_jobs *sim_job_create(struct loop *l, struct sim_runs *runs, struct sim_rules *rules,
                                const struct sim_job_options *o)
{
    struct sim_jobs *js = calloc(1, sizeof *js);

    if (js)
        *js = (struct sim_jobs){l, runs, rules, *o};
    return js;
}

static void sim_job_free(struct sim_run *r)
{
    loop_timer_destroy(r->timer);
    sim_runs_drop(r->jobs->runs, r);
}

void sim_job_destroy(struct sim_jobs *js)
{
    if (!js)
        return;
    for (struct sim_run *r = js->runs->table, *next; r; r = next) {
        next = r->hh.next;
        sim_job_free(r);
    }
    free(js);
}

static int64_t sim_job_now_ms(const struct sim_jobs *js)
{
    return (int64_t)((double)clock_mono_ms(loop_clock(js->loop)) * js->o.scale);
}

/* Rounded up: nothing happens before its time. */
int64_t sim_job_to_clock_ms(const struct sim_jobs *js, int64_t ms)
{
    int64_t n = (int64_t)((double)ms / js->o.scale);

    return (int64_t)((double)n * js->o.scale) < ms ? n + 1 : n;
}

static void sim_job_set_timer(struct sim_run *r, int64_t ms)
{
    loop_timer_set(r->timer, ms > 0 ? sim_job_to_clock_ms(r->jobs, ms) : 0);
}

static void sim_job_post(struct sim_run *r, const exec_event_data *d)
{
    sim_runs_post(r->jobs->runs, r, d, clock_wall_ns(loop_clock(r->jobs->loop)));
}

static void fill_usage(const struct sim_run *r, exec_usage *u)
{
    int64_t now = r->ended ? r->ended_ms : sim_job_now_ms(r->jobs);
    int64_t stopped = r->suspended_ms + (r->suspended ? now - r->since_ms : 0);

    *u = (exec_usage){.walltime_ms = r->begun ? (u_quad_t)(now - r->began_ms - stopped) : 0,
                      .ncpus = r->n_nodes};
}

/* --- the end ------------------------------------------------------------------------------------------------ */

static int64_t clean_at_ms(const struct sim_run *r, u_int node)
{
    return r->ended_ms + r->epilogue_ms[node];
}

static void sim_job_post_release(struct sim_run *r, u_int upto)
{
    exec_event_data d = {.kind = EXEC_EVENT_RELEASE};

    d.exec_event_data_u.release.nodes.nodes_val = r->nodes + r->n_released;
    d.exec_event_data_u.release.nodes.nodes_len = upto - r->n_released;
    d.exec_event_data_u.release.final = upto == r->n_nodes;
    d.exec_event_data_u.release.note = nothing;
    r->n_released = upto;
    sim_job_post(r, &d);
}

/* Release the vnodes that are clean by now; the last release is final, even of a run that has given all its vnodes
 * back. */
static void sim_job_release_clean(struct sim_run *r)
{
    u_int upto = r->n_released;

    while (upto < r->n_nodes && clean_at_ms(r, upto) <= sim_job_now_ms(r->jobs))
        upto++;
    if (upto > r->n_released || upto == r->n_nodes)
        sim_job_post_release(r, upto);
    if (upto < r->n_nodes)
        sim_job_set_timer(r, clean_at_ms(r, upto) - sim_job_now_ms(r->jobs));
}

/* A run that ends by itself ends at its time, however late the timer of a busy machine is: in scaled time a moment of
 * real time is minutes. */
static int64_t end_ms(const struct sim_run *r)
{
    return r->reason == EXEC_END_ITSELF ? r->since_ms + (r->left_ms > 0 ? r->left_ms : 0)
                                        : sim_job_now_ms(r->jobs);
}

static void sim_job_finish(struct sim_run *r)
{
    exec_event_data d = {.kind = EXEC_EVENT_FINISH};

    r->ended_ms = end_ms(r);
    r->ended = true;
    d.exec_event_data_u.finish =
        (exec_finish_data){.status = r->status, .reason = r->reason, .text = nothing};
    fill_usage(r, &d.exec_event_data_u.finish.usage);
    sim_job_post(r, &d);
    sim_job_release_clean(r);
    if (r->line && r->reason == EXEC_END_ITSELF && r->jobs->o.ended)
        r->jobs->o.ended(r->jobs->o.ended_arg, r->line);
}

/* End without a status: the outcome is unknown, and there is nothing to clean up. */
static void sim_job_crash(struct sim_run *r)
{
    static char type[] = "crash", note[] = "by a rule of the simulation";
    exec_event_data d = {.kind = EXEC_EVENT_EXCEPTION};

    d.exec_event_data_u.exception = (exec_exception_data){.severity = 0, .type = type, .note = note};
    sim_job_post(r, &d);
    r->ended_ms = end_ms(r);
    r->ended = true;
    sim_job_post_release(r, r->n_nodes);
}

static bool is_crashing(const struct sim_run *r)
{
    return r->crash_ms >= 0 && r->reason == EXEC_END_ITSELF;
}

static void sim_job_saved(struct sim_run *r);

static void sim_job_timer_cb(void *arg)
{
    struct sim_run *r = arg;

    if (r->ended)
        sim_job_release_clean(r);
    else if (r->saving.under_way)
        sim_job_saved(r);
    else if (is_crashing(r))
        sim_job_crash(r);
    else
        sim_job_finish(r);
}

static void sim_job_end_as(struct sim_run *r, int status, exec_reason reason, int64_t in_ms)
{
    r->saving.under_way = false;
    r->status = status;
    r->reason = reason;
    sim_job_set_timer(r, in_ms);
}

void sim_job_terminate(struct sim_run *r, unsigned grace_s)
{
    if (!r->ended)
        sim_job_end_as(r, STATUS_TERMINATED, EXEC_END_TERMINATED, grace_s ? r->jobs->o.die_ms : 0);
}

void sim_job_lose_node(struct sim_run *r)
{
    for (u_int i = 0; i < r->n_nodes; i++)
        r->epilogue_ms[i] = 0; /* no program could run it */
    sim_job_end_as(r, r->ended ? r->status : STATUS_LOST, EXEC_END_LOST, 0);
}

/* --- the beginning ------------------------------------------------------------------------------------------ */

/* Return the number of NAME=VALUE in Variable_List. */
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

static const char *attr(const exec_start_args *a, const char *name)
{
    for (u_int i = 0; i < a->attrs.wire_attrs_len; i++)
        if (strcmp(a->attrs.wire_attrs_val[i].name, name) == 0)
            return a->attrs.wire_attrs_val[i].value;
    return "";
}

bool sim_job_has_node(const struct sim_run *r, const char *node)
{
    for (u_int i = 0; i < r->n_nodes; i++)
        if (strcmp(r->nodes[i], node) == 0)
            return true;
    return false;
}

static void add_node(struct sim_run *r, const char *node)
{
    int64_t ms = sim_rules_epilogue_ms(r->jobs->rules, node);
    u_int at = r->n_nodes;
    char *name = strdup(node);

    if (!name)
        abort();
    for (; at > 0 && r->epilogue_ms[at - 1] > ms; at--) {
        r->nodes[at] = r->nodes[at - 1];
        r->epilogue_ms[at] = r->epilogue_ms[at - 1];
    }
    r->nodes[at] = name;
    r->epilogue_ms[at] = ms;
    r->n_nodes++;
}

static void sim_job_make_nodes(struct sim_run *r, const exec_job_host *h)
{
    r->nodes = calloc(h->chunks.chunks_len + 1, sizeof *r->nodes);
    r->epilogue_ms = calloc(h->chunks.chunks_len + 1, sizeof *r->epilogue_ms);
    r->host = strdup(h->name);
    if (!r->nodes || !r->epilogue_ms || !r->host)
        abort();
    for (u_int i = 0; i < h->chunks.chunks_len; i++)
        if (!sim_job_has_node(r, h->chunks.chunks_val[i].vnode))
            add_node(r, h->chunks.chunks_val[i].vnode);
}

/* Return how much of the job an image holds. */
static int64_t done_in(const char *image)
{
    const char *last = strrchr(image, '/');

    return last ? strtoll(last + 1, NULL, 10) : 0;
}

/* Plan how long it will run and how it will end. */
static void sim_job_make_plan(struct sim_run *r, const exec_start_args *a)
{
    const struct sim_jobs *js = r->jobs;
    const char *name = attr(a, "Job_Name");
    int64_t save_ms, restart_ms;

    r->left_ms = js->o.run_ms;
    sim_rules_run(js->rules, name, (uint64_t)r->key.seq << 20 ^ (uint64_t)(r->key.index + 1), &r->left_ms,
                  &r->status);
    r->left_ms = variable(a, "EXECSIM_MS", r->left_ms);
    r->status = (int)variable(a, "EXECSIM_STATUS", r->status);
    r->line = (uint32_t)variable(a, "EXECSIM_LINE", 0);
    sim_rules_count_job(js->rules, &r->status);
    if (a->restart_from[0] && sim_rules_checkpoint(js->rules, &save_ms, &restart_ms))
        r->done_ms = done_in(a->restart_from) - restart_ms;
    r->left_ms -= r->done_ms;
    r->crash_ms = sim_rules_crash_ms(js->rules, name);
    if (r->crash_ms > r->left_ms)
        r->crash_ms = -1; /* it has ended before */
    else if (r->crash_ms >= 0)
        r->left_ms = r->crash_ms;
    if (js->o.by_hand) {
        r->left_ms = FOREVER_MS;
        r->crash_ms = -1;
    }
    r->plan_ms = r->left_ms;
}

struct sim_run *sim_job_prepare(struct sim_jobs *js, const struct sim_run_key *key, const exec_start_args *a)
{
    exec_event_data ready = {.kind = EXEC_EVENT_READY};
    struct sim_run *r = sim_runs_add(js->runs, key);

    if (!r)
        return NULL;
    r->jobs = js;
    r->timer = loop_timer_create(js->loop, LOOP_CLOCK, sim_job_timer_cb, r);
    if (!r->timer)
        abort();
    sim_job_make_nodes(r, &a->hosts.hosts_val[a->my_host]);
    r->alone = a->hosts.hosts_len == 1;
    sim_job_make_plan(r, a);
    sim_job_post(r, &ready);
    return r;
}

static void sim_job_start(struct sim_run *r)
{
    exec_event_data d = {.kind = EXEC_EVENT_START};

    r->begun = true;
    d.exec_event_data_u.start = (exec_start_data){.session = 1, .host = r->host, .jobdir = nothing};
    sim_job_post(r, &d);
    r->began_ms = r->since_ms = sim_job_now_ms(r->jobs);
    if (r->left_ms > 0)
        sim_job_set_timer(r, r->left_ms);
    else
        sim_job_timer_cb(r);
}

void sim_job_launch(struct sim_run *r)
{
    if (r->begun || r->ended)
        return;
    r->launched = true;
    if (!r->jobs->o.by_hand)
        sim_job_start(r);
}

/* --- by hand ------------------------------------------------------------------------------------------------ */

static int refuse_step(const struct sim_run *r, enum sim_job_step step, struct err *e)
{
    if (r->ended)
        return err_set(e, PBSE_BADSTATE, "it has ended");
    if (step == SIM_JOB_START && r->begun)
        return err_set(e, PBSE_BADSTATE, "it has started");
    if (step == SIM_JOB_START && !r->launched)
        return err_set(e, PBSE_BADSTATE, "the server has not launched it yet");
    if (step == SIM_JOB_FINISH && !r->begun)
        return err_set(e, PBSE_BADSTATE, "it has not started");
    if (step == SIM_JOB_FINISH && r->suspended)
        return err_set(e, PBSE_BADSTATE, "it is suspended");
    return 0;
}

int sim_job_step(struct sim_run *r, enum sim_job_step step, int status, struct err *e)
{
    if (refuse_step(r, step, e) < 0)
        return -1;
    if (step == SIM_JOB_START) {
        sim_job_start(r);
        return 0;
    }
    loop_timer_cancel(r->timer);
    r->reason = EXEC_END_ITSELF;
    r->status = status;
    r->left_ms = 0;
    r->since_ms = sim_job_now_ms(r->jobs); /* it ends now */
    if (step == SIM_JOB_FINISH)
        sim_job_finish(r);
    else
        sim_job_crash(r);
    return 0;
}

/* --- in the middle ------------------------------------------------------------------------------------------ */

static void sim_job_post_outcome(struct sim_run *r, exec_event_kind kind, u_int attempt)
{
    exec_event_data d = {.kind = kind};

    d.exec_event_data_u.suspended.attempt = attempt; /* resumed has the same form */
    fill_usage(r, &d.exec_event_data_u.suspended.usage);
    sim_job_post(r, &d);
}

static void sim_job_pause(struct sim_run *r)
{
    int64_t now = sim_job_now_ms(r->jobs);

    if (!r->suspended) {
        r->left_ms -= now - r->since_ms;
        r->since_ms = now;
    }
    r->suspended = true;
    loop_timer_cancel(r->timer);
}

static void sim_job_continue(struct sim_run *r)
{
    int64_t now = sim_job_now_ms(r->jobs);

    if (!r->suspended)
        return;
    r->suspended_ms += now - r->since_ms;
    r->since_ms = now;
    r->suspended = false;
    sim_job_set_timer(r, r->left_ms);
}

void sim_job_suspend(struct sim_run *r, u_int attempt)
{
    sim_job_pause(r);
    sim_job_post_outcome(r, EXEC_EVENT_SUSPENDED, attempt);
}

void sim_job_resume(struct sim_run *r, u_int attempt)
{
    r->saving.under_way = false;
    sim_job_continue(r);
    sim_job_post_outcome(r, EXEC_EVENT_RESUMED, attempt);
}

/* --- images ------------------------------------------------------------------------------------------------- */

static void sim_job_post_checkpointed(struct sim_run *r)
{
    exec_event_data d = {.kind = EXEC_EVENT_CHECKPOINTED};
    int64_t save_ms, restart_ms, done = r->done_ms + r->plan_ms - r->left_ms;
    char *id = sim_runs_text(r, ID_MAX);

    snprintf(id, ID_MAX, "shared:sim/%lld.%u/%lld", (long long)r->key.seq, r->key.run,
             (long long)(done > 0 ? done : 0));
    sim_rules_checkpoint(r->jobs->rules, &save_ms, &restart_ms);
    d.exec_event_data_u.checkpointed =
        (exec_checkpointed_data){.attempt = r->saving.attempt, .id = id, .frozen_ms = (u_int)save_ms};
    sim_job_post(r, &d);
}

static void sim_job_saved(struct sim_run *r)
{
    r->saving.under_way = false;
    sim_job_post_checkpointed(r);
    if (r->saving.leave && r->alone)
        sim_job_end_as(r, STATUS_CHECKPOINTED, EXEC_END_CHECKPOINTED, 0);
    else if (!r->saving.leave && !r->saving.was_suspended)
        sim_job_continue(r);
}

static void sim_job_post_failed(struct sim_run *r, u_int attempt)
{
    static char method[] = "checkpoint", text[] = "it has not begun, or there is no rule \"checkpoint\"";
    exec_event_data d = {.kind = EXEC_EVENT_FAILED};

    d.exec_event_data_u.failed =
        (exec_failed_data){.attempt = attempt, .method = method, .code = PBSE_CKPSHORT, .text = text};
    sim_job_post(r, &d);
}

void sim_job_checkpoint(struct sim_run *r, u_int attempt, bool leave)
{
    int64_t save_ms, restart_ms;

    if (!r->begun || !sim_rules_checkpoint(r->jobs->rules, &save_ms, &restart_ms)) {
        sim_job_post_failed(r, attempt);
        return;
    }
    r->saving = (struct sim_saving){
        .under_way = true, .leave = leave, .was_suspended = r->suspended, .attempt = attempt};
    sim_job_pause(r);
    sim_job_set_timer(r, save_ms);
}

/* Move the vnode at `at` to the front of those that are not released; the others keep their order. */
static void move_to_front(struct sim_run *r, u_int at)
{
    char *node = r->nodes[at];
    int64_t ms = r->epilogue_ms[at];

    for (; at > r->n_released; at--) {
        r->nodes[at] = r->nodes[at - 1];
        r->epilogue_ms[at] = r->epilogue_ms[at - 1];
    }
    r->nodes[at] = node;
    r->epilogue_ms[at] = ms;
}

void sim_job_release_nodes(struct sim_run *r, const wire_name *nodes, u_int n)
{
    u_int before = r->n_released, upto = before;
    exec_event_data d = {.kind = EXEC_EVENT_RELEASE};

    for (u_int i = 0; i < n && !r->ended; i++)
        for (u_int k = before; k < r->n_nodes; k++)
            if (strcmp(r->nodes[k], nodes[i]) == 0) {
                move_to_front(r, k);
                r->n_released = ++upto;
                break;
            }
    if (upto == before)
        return; /* a repeated order, or the run is ending */
    d.exec_event_data_u.release.nodes.nodes_val = r->nodes + before;
    d.exec_event_data_u.release.nodes.nodes_len = upto - before;
    d.exec_event_data_u.release.note = nothing;
    sim_job_post(r, &d);
}

/* --- forgotten ---------------------------------------------------------------------------------------------- */

static void sim_job_free_if_done(struct sim_run *r)
{
    if (r->purged && !r->first)
        sim_job_free(r);
}

void sim_job_purge(struct sim_run *r)
{
    r->purged = true;
    sim_job_free_if_done(r);
}

void sim_job_acked(struct sim_run *r, uint64_t seq)
{
    sim_runs_acked(r, seq);
    sim_job_free_if_done(r);
}
