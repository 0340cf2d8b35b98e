/* Steps of the wall clock. A difference below two seconds is taken over without moving anything: clocks are
 * corrected by that all the time, and all times are kept in seconds. */
#include "clock_step.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "plan_earmark.h"
#include "reservations.h"
#include "resv_clock.h"
#include "server.h"
#include "server_ctx.h"
#include "start_time.h"

/* A step is noticed within LOOK_MS, which is below the resolution of times of jobs. */
enum { LOOK_MS = 1000, STEP_MIN_S = 2 };

static const int64_t ns_per_s = 1000000000;

struct clock_step {
    struct server *server;
    struct loop_timer *timer;
};

static void move_time(int64_t *at_s, int64_t by_s)
{
    if (*at_s)
        *at_s += by_s;
}

static void move_notice(struct preempt_notice *n, int64_t by_s)
{
    move_time(&n->given_ms, by_s * 1000);
    move_time(&n->deadline_ms, by_s * 1000);
}

static void move_job(struct server_ctx *s, struct job *j, int64_t by_s)
{
    int64_t *const times[] = {&j->ctime_s, &j->qtime_s,        &j->etime_s,       &j->stime_s,
                              &j->ptime_s, &j->accrue_since_s, &j->preempt_time_s};

    if (j->state == JOB_FINISHED)
        return;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        move_time(times[i], by_s);
    if (j->preempt) {
        move_time(&j->preempt->since_ms, by_s * 1000);
        move_notice(&j->preempt->notice, by_s);
    }
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
}

/* By whole seconds, as the times that move: a job that was started before this moment will not have ended before its start.
 * What is left is less than STEP_MIN_S, and is adopted at the next look. */
static void clock_step(struct clock_step *w, int64_t lag_ns)
{
    struct server_ctx *s = &w->server->ctx;
    int64_t by_s = clock_nearest_s(lag_ns);

    log_event(LOGC_SVR, LOGE_SYSTEM | LOGE_ADMIN, s->name,
              "the clock of this host was set %s by %lld seconds; times of jobs move along",
              by_s < 0 ? "back" : "forward", (long long)llabs(by_s));
    clock_adopt(s->clock, by_s * ns_per_s);
    for (struct job *j = jobs_first(s->jobs); j; j = jobs_next(j))
        move_job(s, j, by_s);
    for (struct queue *q = queues_first(s->queues); q; q = queues_next(q))
        move_time(&q->route_due_s, by_s);
    plan_earmarks_move(w->server->parts.plan_earmarks, by_s);
    resv_clock_set(w->server->parts.reservations);
    start_time_look(w->server->start_time);
}

static void clock_step_look(void *arg)
{
    struct clock_step *w = arg;
    struct clock *clock = w->server->ctx.clock;
    int64_t lag_ns = clock_lag_ns(clock);

    if (llabs(lag_ns) >= STEP_MIN_S * ns_per_s)
        clock_step(w, lag_ns);
    else
        clock_adopt(clock, lag_ns);
    loop_timer_set(w->timer, LOOK_MS);
}

struct clock_step *clock_step_create(struct server *s, struct err *e)
{
    struct clock_step *w = calloc(1, sizeof *w);

    if (w)
        *w = (struct clock_step){.server = s,
                                 .timer = loop_timer_create(s->loop, LOOP_REAL, clock_step_look, w)};
    if (!w || !w->timer) {
        free(w);
        err_no_memory(e);
        return NULL;
    }
    if (!clock_is_driven(s->ctx.clock))
        loop_timer_set(w->timer, LOOK_MS);
    return w;
}

void clock_step_destroy(struct clock_step *w)
{
    if (w)
        loop_timer_destroy(w->timer);
    free(w);
}
