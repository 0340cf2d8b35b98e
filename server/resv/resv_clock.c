/* What becomes due for reservations by the clock and by their jobs. See resv_clock.h.
 *
 * Of what is due only the time is remembered (resv->due): each look compares states and times again, and posts until nothing is due any
 * more. So a look that comes late, twice, or after a restart finds what one in time would have found. The timer is
 * set for the first moment that any reservation waits for. Those are looked at whose time has come, or that something has happened to:
 * there may be thousands that wait. A reservation is held while it is looked at, since an event may remove it. */
#include "resv_clock.h"

#include <stdlib.h>

#include "clock.h"
#include "limit_counts.h"
#include "log.h"
#include "loop.h"
#include "reservations.h"
#include "resv_degrade.h"
#include "resv_drain.h"
#include "resv_later.h"
#include "resv_of_job.h"
#include "resv_refuse.h"
#include "resv_revert.h"

/* A host says HELLO within seconds; one that needs longer is taken for lost, which its return undoes. */
enum { PATIENCE_AT_START_S = 60 };

/* --- what is due --------------------------------------------------------------------------------------- */

/* Jobs are ended this much before the end, so that the vnodes are free then (resv_post_processing_time). */
static int64_t end_s(const struct reservations *all, const struct resv *r)
{
    int64_t before =
        attr_list_number(&all->p.ctx->server->obj.attrs, SERVER_ATTR_resv_post_processing_time, 0);
    int64_t end = resv_number(r, RESV_ATTR_reserve_end), start = resv_number(r, RESV_ATTR_reserve_start);

    return end - before > start ? end - before : end;
}

static bool is_empty(const struct reservations *all, const struct resv *r)
{
    return !r->queue ||
           limit_counts_jobs(all->p.ctx->limit_counts, r->queue, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE) == 0;
}

/* When it has been idle for too long, or INT64_MAX. */
static int64_t idle_due_s(const struct reservations *all, const struct resv *r)
{
    int64_t most = resv_number(r, RESV_ATTR_delete_idle_time),
            start = resv_number(r, RESV_ATTR_reserve_start);

    if (!attr_list_is_set(&r->obj.attrs, RESV_ATTR_delete_idle_time) || resv_state(r) != RESV_RUNNING ||
        !is_empty(all, r))
        return INT64_MAX;
    return (r->idle_since_s > start ? r->idle_since_s : start) + most;
}

static enum resv_event due_by_clock(const struct reservations *all, struct resv *r, int64_t now,
                                    int64_t *next)
{
    int64_t start = resv_number(r, RESV_ATTR_reserve_start), end = end_s(all, r);
    bool waits = resv_state(r) == RESV_CONFIRMED || resv_state(r) == RESV_DEGRADED;
    int64_t idle = idle_due_s(all, r);

    if (resv_state(r) == RESV_BEING_ALTERED && resv_revert_end(r) < end)
        end = resv_revert_end(r);
    if (now >= end) /* no scheduler has agreed to another one */
        return resv_state(r) == RESV_BEING_ALTERED ? RESV_EV_REFUSE : RESV_EV_END;
    if (waits && now >= start)
        return RESV_EV_START;
    if (now >= idle) {
        log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
                  "Deleting reservation after being idle for %lld seconds",
                  (long long)resv_number(r, RESV_ATTR_delete_idle_time));
        return RESV_EV_END;
    }
    *next = waits && start < *next ? start : *next;
    *next = end < *next ? end : *next;
    *next = idle < *next ? idle : *next;
    return RESV_EV_COUNT;
}

/* Return true if its times say what becomes of it. */
static bool goes_by_clock(enum resv_states s)
{
    return s == RESV_UNCONFIRMED || s == RESV_CONFIRMED || s == RESV_RUNNING || s == RESV_DEGRADED ||
           s == RESV_BEING_ALTERED;
}

/* What is to be posted now, or RESV_EV_COUNT; `next`: no later than when it is to be looked at again. */
static enum resv_event due(const struct reservations *all, struct resv *r, int64_t now, int64_t *next)
{
    if (goes_by_clock(resv_state(r)))
        return due_by_clock(all, r, now, next);
    if (resv_state(r) == RESV_BEING_DELETED && is_empty(all, r))
        return RESV_EV_EMPTY;
    if (resv_state(r) == RESV_DELETING_JOBS && !resv_life_is_running(r))
        return RESV_EV_EMPTY;
    return RESV_EV_COUNT;
}

static void resv_clock_arm(struct reservations *all)
{
    const struct pqueue_entry *first = pqueue_first(&all->due);

    if (first)
        loop_timer_set(all->timer, first->key * 1000 - clock_wall_ms(all->p.ctx->clock));
    else
        loop_timer_cancel(all->timer);
}

static void resv_clock_look_at(struct reservations *all, struct resv *r, int64_t now)
{
    int64_t next_s = INT64_MAX;
    enum resv_event ev;

    while (!r->obj.gone && (ev = due(all, r, now, &next_s)) != RESV_EV_COUNT)
        resv_fsm_post(all->fsm, r, ev);
    if (!r->obj.gone)
        resv_refuse_look(all, r);
    if (!r->obj.gone)
        resv_degrade_look(all, r, now, &next_s);
    if (!r->obj.gone)
        resv_drain_look(all, r, now, &next_s);
    pqueue_remove(&all->due, &r->due);
    if (!r->obj.gone && next_s != INT64_MAX && pqueue_push(&all->due, &r->due, next_s) < 0)
        abort(); /* it would not start or end */
}

/* What is asked for meanwhile is left to the next look. */
static void resv_clock_look(void *arg)
{
    struct reservations *all = arg;
    int64_t now = server_ctx_now_s(all->p.ctx);
    const struct resv *last = reservations_list_looks(all, now), *r = NULL;

    while (r != last) {
        struct resv *next = reservations_next_look(all);

        resv_clock_look_at(all, next, now);
        r = next;
        object_unref(&next->obj);
    }
    all->later_moved = all->look_all;
    resv_clock_arm(all);
}

void resv_clock_set(struct reservations *all)
{
    reservations_look_at_all(all);
}

void resv_clock_on_savable(void *arg, const struct server_event *ev)
{
    resv_drain_job(arg, ev->job);
}

/* A reservation that waits for this job begins, or one is made of the job. Return true if so. */
static bool begin_with_job(struct reservations *all, struct job *j)
{
    struct resv *asap = resv_of_job_waiting(all, j);
    char who[PBS_MAXSERVERNAME + 16];

    if (asap) {
        snprintf(who, sizeof who, "Scheduler@%s", all->p.ctx->name);
        resv_of_job_begin(all, asap, j, who);
        return true;
    }
    if (!attr_list_bool(&j->obj.attrs, JOB_ATTR_create_resv_from_job, false) || !j->queue || j->queue->resv)
        return false;
    resv_submit_of_started(all, j);
    return true;
}

void resv_clock_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct reservations *all = arg;
    const struct queue *q;

    if (ev == EV_STARTED)
        resv_drain_job(all, j);
    if (ev == EV_STARTED && !job_is_subjob(j) && begin_with_job(all, j))
        return;
    if (!resvs_first(all->p.ctx->resvs) || !j->queue_name)
        return;
    q = j->queue ? j->queue : queues_find(all->p.ctx->queues, j->queue_name);
    if (!q || !q->resv)
        return;
    if (job_is_over(j))
        q->resv->idle_since_s = server_ctx_now_s(all->p.ctx);
    reservations_look_later(all, q->resv);
}

void resv_clock_on_vnode(void *reservations, const struct server_event *ev)
{
    resv_later_review(reservations);
    for (const struct resv_share *s = ev->node->shares; s; s = s->next)
        reservations_look_later(reservations, s->resv);
}

void resv_clock_on_left(void *reservations, const struct server_event *ev)
{
    struct reservations *all = reservations;
    struct resv *r = resvs_find(all->p.ctx->resvs, ev->resv->obj.name);

    r->idle_since_s = server_ctx_now_s(all->p.ctx);
    reservations_look_later(all, r);
}

void resv_clock_vnode_gone(struct reservations *all)
{
    resv_later_review(all);
}

/* --- start of the server -------------------------------------------------------------------------------- */

/* Clients that would have had theirs deleted when their patience was over went with the last server. */
static void expire_waits(struct reservations *all)
{
    for (struct resv *r = resvs_first(all->p.ctx->resvs), *next; r; r = next) {
        next = resvs_next(r);
        if (resv_state(r) == RESV_UNCONFIRMED && resv_number(r, RESV_ATTR_interactive) < 0)
            resv_fsm_post(all->fsm, r, RESV_EV_DELETE);
    }
}

void resv_clock_enter(struct reservations *all)
{
    all->patient_till_s = server_ctx_now_s(all->p.ctx) + PATIENCE_AT_START_S;
    all->entering = true;
    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r)) {
        r->idle_since_s = server_ctx_now_s(all->p.ctx);
        resv_fsm_enter(all->fsm, r);
    }
    all->entering = false;
    expire_waits(all);
    reservations_look_at_all(all);
}

int resv_clock_bind(struct reservations *all, struct err *e)
{
    all->look = resv_clock_look;
    all->timer = loop_timer_create(all->p.loop, LOOP_CLOCK, resv_clock_look, all);
    if (!all->timer)
        return err_no_memory(e);
    resv_life_bind(all);
    return 0;
}
