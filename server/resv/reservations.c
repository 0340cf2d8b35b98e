/* The clock and the jobs of reservations. See reservations.h. */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "clock.h"
#include "limit_counts.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "request.h"
#include "resv_degrade.h"
#include "resv_drain.h"
#include "resv_later.h"
#include "resv_of_job.h"
#include "resv_refuse.h"
#include "resv_revert.h"
#include "resv_shares.h"

/* A host says HELLO within seconds; one that needs longer is taken for lost, which its return undoes. */
enum { PATIENCE_AT_START_S = 60 };

void resv_set_number(struct resv *r, int index, int64_t n)
{
    if (attr_list_set_number(&r->obj.attrs, index, n, NULL) < 0)
        abort();
}

void resv_set_text(struct resv *r, int index, const char *text)
{
    if (attr_list_set_text(&r->obj.attrs, index, text, NULL) < 0)
        abort();
}

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

/* What is to be posted now, or RESV_EV_COUNT; `next`: no later than when it is to be looked at again. */
static enum resv_event due(const struct reservations *all, struct resv *r, int64_t now, int64_t *next)
{
    switch (resv_state(r)) {
    case RESV_BEING_DELETED:
        return is_empty(all, r) ? RESV_EV_EMPTY : RESV_EV_COUNT;
    case RESV_DELETING_JOBS:
        return resv_life_is_running(r) ? RESV_EV_COUNT : RESV_EV_EMPTY;
    case RESV_UNCONFIRMED:
    case RESV_CONFIRMED:
    case RESV_RUNNING:
    case RESV_DEGRADED:
    case RESV_BEING_ALTERED:
        return due_by_clock(all, r, now, next);
    case RESV_NONE:
    case RESV_WAIT:
    case RESV_TIME_TO_RUN:
    case RESV_FINISHED:
    case RESV_DELETED:
    case RESV_IN_CONFLICT:
        break;
    }
    return RESV_EV_COUNT;
}

static void reservations_arm(struct reservations *all, int64_t next_s)
{
    if (next_s == INT64_MAX)
        loop_timer_cancel(all->timer);
    else
        loop_timer_set(all->timer, next_s * 1000 - clock_wall_ms(all->p.ctx->clock));
}

static void reservations_look(void *arg)
{
    struct reservations *all = arg;
    int64_t now = server_ctx_now_s(all->p.ctx), next_s = INT64_MAX;

    all->look_waits = false;
    for (struct resv *r = resvs_first(all->p.ctx->resvs), *next; r; r = next) {
        enum resv_event ev;

        next = resvs_next(r);
        object_ref(&r->obj);
        while (!r->obj.gone && (ev = due(all, r, now, &next_s)) != RESV_EV_COUNT)
            resv_fsm_post(all->fsm, r, ev);
        if (!r->obj.gone)
            resv_refuse_look(all, r);
        if (!r->obj.gone)
            resv_degrade_look(all, r, now, &next_s);
        if (!r->obj.gone)
            resv_drain_look(all, r, now, &next_s);
        object_unref(&r->obj);
    }
    all->later_moved = false;
    reservations_arm(all, next_s);
}

void reservations_look_later(struct reservations *all)
{
    if (all->look_waits)
        return;
    all->look_waits = true;
    if (loop_defer(all->p.loop, reservations_look, all) < 0)
        abort(); /* it would not start or end */
}

void reservations_clock_set(struct reservations *all)
{
    if (resvs_first(all->p.ctx->resvs))
        reservations_look_later(all);
}

void reservations_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct reservations *all = arg;
    const struct queue *q;
    struct resv *asap = ev == EV_STARTED && !job_is_subjob(j) ? resv_of_job_waiting(all, j) : NULL;

    (void)from;
    if (asap) {
        char who[PBS_MAXSERVERNAME + 16];

        snprintf(who, sizeof who, "Scheduler@%s", all->p.ctx->name);
        resv_of_job_begin(all, asap, j, who);
        return;
    }
    if (ev == EV_STARTED && attr_list_bool(&j->obj.attrs, JOB_ATTR_create_resv_from_job, false) &&
        !job_is_subjob(j) && j->queue && !j->queue->resv) {
        resv_submit_of_started(all, j);
        return;
    }
    if (!resvs_first(all->p.ctx->resvs) || !j->queue_name)
        return;
    q = j->queue ? j->queue : queues_find(all->p.ctx->queues, j->queue_name);
    if (!q || !q->resv)
        return;
    if (job_is_over(j))
        q->resv->idle_since_s = server_ctx_now_s(all->p.ctx);
    reservations_look_later(all);
}

/* --- objects ------------------------------------------------------------------------------------------- */

struct resv *reservations_find(const struct reservations *all, const char *id, struct err *e)
{
    const struct server_ctx *s = all->p.ctx;
    char name[PBS_MAXSVRRESVID + 1];
    size_t n = strcspn(id, ".@");
    const char *server = id[n] == '.' ? id + n + 1 : "";
    struct resv *r = NULL;

    if (n + strlen(s->name) + 2 < sizeof name) {
        char asked[PBS_MAXSERVERNAME + 1];

        snprintf(asked, sizeof asked, "%.*s", (int)strcspn(server, "@"), server);
        snprintf(name, sizeof name, "%.*s.%s", (int)n, id, s->name);
        r = server_ctx_is_named(s, asked) ? resvs_find(s->resvs, name) : NULL;
    }
    if (!r)
        err_set(e, PBSE_UNKRESVID, "Unknown Reservation Id %s", id);
    return r;
}

static bool owns(const struct request *q, const struct resv *r)
{
    const char *owner = attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Owner);
    size_t n = owner ? strcspn(owner, "@") : 0;

    return owner && strlen(request_user(q)) == n && strncmp(owner, request_user(q), n) == 0 &&
           (!client_is_distant(request_client(q)) || strcmp(owner, request_who(q)) == 0);
}

int reservations_may(const struct request *q, const struct resv *r, struct err *e)
{
    if (request_level(q) >= LEVEL_OPERATOR || (owns(q, r) && !resv_is_maintenance(r)))
        return 0;
    request_log_unauthorized(q, "Resv", r->obj.name);
    return err_set(e, PBSE_PERM, "Unauthorized Request ");
}

/* --- life ---------------------------------------------------------------------------------------------- */

struct reservations *reservations_create(const struct resv_parts *p, struct err *e)
{
    struct reservations *all = calloc(1, sizeof *all);

    if (!all) {
        err_no_memory(e);
        return NULL;
    }
    all->p = *p;
    all->fsm = resv_fsm_create(p->ctx->resvs);
    all->timer = loop_timer_create(p->loop, LOOP_CLOCK, reservations_look, all);
    if (!all->fsm || !all->timer) {
        reservations_destroy(all);
        err_no_memory(e);
        return NULL;
    }
    resv_life_bind(all);
    return all;
}

void reservations_on_vnode(void *reservations, const struct server_event *ev)
{
    resv_later_review(reservations);
    if (ev->node->shares)
        reservations_look_later(reservations);
}

void reservations_vnode_gone(struct reservations *all)
{
    resv_later_review(all);
}

void reservations_tell(const struct reservations *all, enum server_event_kind k, const struct resv *r)
{
    server_events_tell(all->p.ctx->events, &(struct server_event){.kind = k, .resv = r});
}

void reservations_record(const struct reservations *all, const struct resv *r, char letter, const char *text)
{
    server_events_tell(
        all->p.ctx->events,
        &(struct server_event){.kind = EVENT_RESV_RECORD, .resv = r, .letter = letter, .text = text});
}

void reservations_destroy(struct reservations *all)
{
    if (!all)
        return;
    resv_wait_destroy_all(all);
    loop_forget(all->p.loop, reservations_look, all);
    loop_timer_destroy(all->timer);
    resv_fsm_destroy(all->fsm);
    free(all);
}

static void reservations_link_one(struct reservations *all, struct resv *r)
{
    const char *queue = attr_list_text(&r->obj.attrs, RESV_ATTR_queue);
    struct err e;

    r->queue = queue ? queues_find(all->p.ctx->queues, queue) : NULL;
    if (r->queue)
        r->queue->resv = r;
    else
        log_event(LOGC_RESV, LOGE_ERROR, r->obj.name, "Queue %s for reservation %s missing",
                  queue ? queue : "", r->obj.name);
    if (resv_shares_set(all->p.ctx, r, attr_list_text(&r->obj.attrs, RESV_ATTR_resv_nodes), &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "Reservation with corrupted nodes");
    r->later_new = true;
    if (resv_number(r, RESV_ATTR_reservation_Tag))
        resv_shares_take(all->p.ctx, r);
    log_event(LOGC_RESV, LOGE_ADMIN, r->obj.name, "Recovered reservation %s", r->obj.name);
}

void reservations_link(struct reservations *all)
{
    if (!resvs_first(all->p.ctx->resvs))
        log_event(LOGC_SVR, LOGE_SYSTEM, all->p.ctx->name, "No resvs to open");
    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r))
        reservations_link_one(all, r);
}

/* Clients that would have had theirs deleted when their patience was over went with the last server. */
static void expire_waits(struct reservations *all)
{
    for (struct resv *r = resvs_first(all->p.ctx->resvs), *next; r; r = next) {
        next = resvs_next(r);
        if (resv_state(r) == RESV_UNCONFIRMED && resv_number(r, RESV_ATTR_interactive) < 0)
            resv_fsm_post(all->fsm, r, RESV_EV_DELETE);
    }
}

void reservations_enter(struct reservations *all)
{
    all->patient_till_s = server_ctx_now_s(all->p.ctx) + PATIENCE_AT_START_S;
    all->entering = true;
    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r)) {
        r->idle_since_s = server_ctx_now_s(all->p.ctx);
        resv_fsm_enter(all->fsm, r);
    }
    all->entering = false;
    expire_waits(all);
    if (resvs_first(all->p.ctx->resvs))
        reservations_look_later(all);
}
