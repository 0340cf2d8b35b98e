/* Time that a simulator drives. See virtual_time.h.
 *
 * ADVANCE sets the clock and is answered when nothing more can happen at that time: then the simulator
 * knows when the next timer is due and may go there. Whether all is quiet is looked at when a turn of the loop
 * is over, while a step is open: what makes it quiet happens in many places, and none of them needs to know of
 * this. A timer looks as well, for what becomes quiet in another thread. */
#include "virtual_time.h"

#include <stdlib.h>

#include <exec.h>

#include "clock.h"
#include "commit.h"
#include "exec_send.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "rpc_request.h"
#include "server_ctx.h"
#include "server_events.h"

/* LOOK_MS, a choice: no step may hang; the end of a turn is what counts. ITERATION_S: PBS's default of scheduler_iteration. */
enum { LOOK_MS = 5, NS_PER_MS = 1000000, ITERATION_S = 600, MS_PER_S = 1000 };

struct virtual_time {
    struct loop *loop;
    struct server_ctx *ctx;
    struct commit *commit;
    struct exec_send *send;
    virtual_time_quiet_fn *schedulers_wait;
    const void *schedulers;
    struct loop_timer *look, *iteration;
    struct rpc_request *open; /* an ADVANCE that is not answered */
};

/* With a history this passes the jobs that are over. */
static bool has_open_job(const struct virtual_time *v)
{
    const struct job *j = jobs_first(v->ctx->jobs);

    while (j && job_is_over(j))
        j = jobs_next(j);
    return j;
}

static bool is_quiet(const struct virtual_time *v)
{
    return commit_is_idle(v->commit) && exec_send_open(v->send) == 0 && !loop_is_busy(v->loop) &&
           loop_next_due_mono_ms(v->loop) > clock_mono_ms(v->ctx->clock) && v->schedulers_wait(v->schedulers);
}

static void virtual_time_answer(struct virtual_time *v)
{
    char nothing[1] = "";
    int64_t due = loop_next_due_mono_ms(v->loop), now = clock_mono_ms(v->ctx->clock);
    exec_advance_result result = {
        .text = nothing,
        .now_ns = clock_wall_ns(v->ctx->clock),
        .next_ns = due == INT64_MAX ? 0 : clock_wall_ns(v->ctx->clock) + (due - now) * NS_PER_MS,
        .jobs = has_open_job(v)};

    rpc_reply(v->open, (xdrproc_t)xdr_exec_advance_result, &result);
    rpc_request_unref(v->open);
    v->open = NULL;
}

static void virtual_time_look(void *arg)
{
    struct virtual_time *v = arg;

    if (!v->open)
        return;
    if (!rpc_request_conn(v->open)) { /* the simulator has gone: time does not pass */
        rpc_request_unref(v->open);
        v->open = NULL;
        return;
    }
    if (is_quiet(v))
        virtual_time_answer(v);
    else if (!loop_timer_is_set(v->look))
        loop_timer_set(v->look, LOOK_MS);
}

/* A driven scheduler cannot count real seconds. */
static void virtual_time_iterate(void *arg)
{
    struct virtual_time *v = arg;
    int64_t s = attr_list_effective(&v->ctx->server->obj.attrs, SERVER_ATTR_scheduler_iteration);

    loop_timer_set(v->iteration, (s > 0 ? s : ITERATION_S) * MS_PER_S);
    server_events_tell(v->ctx->events, &(struct server_event){.kind = EVENT_SCHED_TIME});
}

struct virtual_time *virtual_time_create(struct loop *l, struct server_ctx *s, struct commit *c,
                                         struct exec_send *x, virtual_time_quiet_fn *schedulers_wait,
                                         const void *arg)
{
    struct virtual_time *v = calloc(1, sizeof *v);

    if (!v)
        return NULL;
    *v = (struct virtual_time){
        .loop = l, .ctx = s, .commit = c, .send = x, .schedulers_wait = schedulers_wait, .schedulers = arg};
    v->look = loop_timer_create(l, LOOP_REAL, virtual_time_look, v);
    v->iteration = loop_timer_create(l, LOOP_CLOCK, virtual_time_iterate, v);
    if (!v->look || !v->iteration) {
        virtual_time_destroy(v);
        return NULL;
    }
    if (clock_is_driven(s->clock)) {
        loop_timer_set(v->iteration, ITERATION_S * MS_PER_S);
        loop_set_turn_over(l, virtual_time_look, v);
    }
    return v;
}

void virtual_time_destroy(struct virtual_time *v)
{
    if (!v)
        return;
    if (v->open)
        rpc_request_unref(v->open);
    if (clock_is_driven(v->ctx->clock))
        loop_set_turn_over(v->loop, NULL, NULL);
    loop_timer_destroy(v->look);
    loop_timer_destroy(v->iteration);
    free(v);
}

static void virtual_time_refuse(struct rpc_request *r, int code, const char *text)
{
    exec_advance_result result = {.code = code, .text = (char *)(uintptr_t)text};

    rpc_reply(r, (xdrproc_t)xdr_exec_advance_result, &result);
}

void virtual_time_advance(struct virtual_time *v, struct rpc_request *r)
{
    const exec_advance_args *a = rpc_request_args(r);
    int64_t now = clock_wall_ns(v->ctx->clock);

    if (!clock_is_driven(v->ctx->clock)) {
        virtual_time_refuse(r, PBSE_NOSUP, "this server's time is real; start it with --virtual");
    } else if (v->open && rpc_request_conn(v->open)) {
        virtual_time_refuse(r, PBSE_BADSTATE, "a step of time is under way already");
    } else {
        if (v->open)
            rpc_request_unref(v->open);
        v->open = rpc_request_ref(r);
        if (a->to_ns > now)
            clock_advance(v->ctx->clock, a->to_ns - now);
    }
}
