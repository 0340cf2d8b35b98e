/* What the rows of the machine do. See resv_rules.c for the order of things, reservations.h for the parts.
 *
 * An action runs with the new state set, may run twice (after a restart), and posts nothing. */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "commit.h"
#include "log.h"
#include "queue.h"
#include "resv_degrade.h"
#include "resv_drain.h"
#include "resv_of_job.h"
#include "resv_later.h"
#include "resv_recur.h"
#include "resv_refuse.h"
#include "resv_revert.h"
#include "resv_shares.h"
#include "strbuf.h"

enum { RECORD_MAX = 4 << 20, LATER_MAX = 1024 };

static void substate(struct resv *r, enum resv_states s)
{
    resv_set_number(r, RESV_ATTR_reserve_substate, s);
}

static void resv_life_mail(struct reservations *all, const struct resv *r, char point, const char *text)
{
    server_events_tell(
        all->p.ctx->events,
        &(struct server_event){.kind = EVENT_RESV_MAIL, .resv = r, .letter = point, .text = text});
}

/* What began before a restart was told then. */
static void resv_life_tell(struct reservations *all, const struct resv *r, enum server_event_kind k)
{
    if (!all->entering)
        reservations_tell(all, k, r);
}

/* --- records ---------------------------------------------------------------------------------------------- */

static void add_text(struct strbuf *b, const struct resv *r, const char *key, int index)
{
    const char *text = attr_list_text(&r->obj.attrs, index);

    if (text)
        strbuf_addf(b, " %s=%s", key, text);
}

static void add_number(struct strbuf *b, const struct resv *r, const char *key, int index)
{
    strbuf_addf(b, " %s=%lld", key, (long long)resv_number(r, index));
}

static void record_confirmed(struct reservations *all, const struct resv *r)
{
    struct strbuf b;

    strbuf_init(&b, RECORD_MAX);
    strbuf_addf(&b, "requestor=%s", all->decision.who ? all->decision.who : "Scheduler");
    add_number(&b, r, "start", RESV_ATTR_reserve_start);
    add_number(&b, r, "end", RESV_ATTR_reserve_end);
    add_text(&b, r, "nodes", RESV_ATTR_resv_nodes);
    if (resv_is_standing(r))
        add_number(&b, r, "count", RESV_ATTR_reserve_count);
    reservations_record(all, r, 'Y', strbuf_str(&b));
    strbuf_fini(&b);
}

struct record_amount {
    const struct resource *of;
    const struct value *value;
};

static int record_amount_by_name(const void *a, const void *b)
{
    const struct record_amount *x = a, *y = b;

    return strcasecmp(x->of->name, y->of->name);
}

/* In the order of the alphabet, as in records of jobs. */
static void add_amounts(const struct reservations *all, const struct resv *r, struct strbuf *b)
{
    const struct resc_list *want = attr_list_amounts(&r->obj.attrs, RESV_ATTR_Resource_List);
    size_t n = want ? want->n : 0;
    struct record_amount *list = calloc(n + 1, sizeof *list);
    struct strbuf scratch;

    strbuf_init(&scratch, RECORD_MAX);
    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct record_amount){resource_get(all->p.ctx->resources, want->v[i].tag), &want->v[i]};
    if (list)
        qsort(list, n, sizeof *list, record_amount_by_name);
    for (size_t i = 0; list && i < n; i++)
        strbuf_addf(b, " Resource_List.%s=%s", list[i].of->name,
                    value_show(list[i].of->type, list[i].value, &scratch));
    strbuf_fini(&scratch);
    free(list);
}

static void record_begun(struct reservations *all, const struct resv *r)
{
    struct strbuf b;

    strbuf_init(&b, RECORD_MAX);
    strbuf_addf(&b, "owner=%s", attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Owner));
    add_text(&b, r, "name", RESV_ATTR_Reserve_Name);
    add_text(&b, r, "account", RESV_ATTR_Account_Name);
    add_text(&b, r, "queue", RESV_ATTR_queue);
    add_number(&b, r, "ctime", RESV_ATTR_ctime);
    add_number(&b, r, "start", RESV_ATTR_reserve_start);
    add_number(&b, r, "end", RESV_ATTR_reserve_end);
    add_number(&b, r, "duration", RESV_ATTR_reserve_duration);
    add_text(&b, r, "nodes", RESV_ATTR_resv_nodes);
    add_text(&b, r, "Authorized_Users", RESV_ATTR_Authorized_Users);
    add_text(&b, r, "Authorized_Groups", RESV_ATTR_Authorized_Groups);
    add_text(&b, r, "Authorized_Hosts", RESV_ATTR_Authorized_Hosts);
    add_amounts(all, r, &b);
    reservations_record(all, r, 'B', strbuf_str(&b));
    strbuf_fini(&b);
}

/* k: by its owner; K: by another one, or by the server. */
static void record_removed(struct reservations *all, const struct resv *r, bool mailed)
{
    const char *owner = attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Owner);
    char server[PBS_MAXSERVERNAME + 16], text[PBS_MAXSERVERNAME + 600];
    const char *who = all->requestor ? all->requestor : server;

    snprintf(server, sizeof server, "pbs_server@%s", all->p.ctx->name);
    snprintf(text, sizeof text, "requestor=%s", who);
    reservations_record(all, r, owner && strcmp(owner, who) == 0 ? 'k' : 'K', text);
    if (!mailed)
        return;
    snprintf(text, sizeof text, "Reservation removed\nRequesting party: %s", who);
    resv_life_mail(all, r, 'a', text);
}

/* --- confirmed ---------------------------------------------------------------------------------------------- */

/* The part of a location for the present occurrence; the whole sequence stays in reserve_execvnodes. */
static void take_location(struct reservations *all, struct resv *r)
{
    const struct resv_decision *d = &all->decision;
    char *first = resv_recur_execvnode(d->location, 0, NULL);
    struct err e;

    if (!first)
        abort(); /* it was parsed before; no memory */
    resv_set_text(r, RESV_ATTR_resv_nodes, first);
    resv_set_text(r, RESV_ATTR_reserve_execvnodes, resv_is_standing(r) ? d->location : NULL);
    if (resv_is_standing(r))
        resv_set_number(r, RESV_ATTR_reserve_first, resv_number(r, RESV_ATTR_reserve_index));
    if (resv_shares_set(all->p.ctx, r, first, &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "its vnodes cannot be taken");
    free(first);
    r->later_new = true;
    if (d->start_s) {
        resv_set_number(r, RESV_ATTR_reserve_start, d->start_s);
        resv_set_number(r, RESV_ATTR_reserve_end, d->start_s + resv_number(r, RESV_ATTR_reserve_duration));
    }
    if (d->partition)
        resv_set_text(r, RESV_ATTR_partition, d->partition);
}

/* It ran, and begins later: what it has of its vnodes is given back. No job of it runs. */
static void put_off(struct reservations *all, struct resv *r)
{
    struct err e;

    if (resv_state(r) == RESV_RUNNING || !r->taken)
        return;
    resv_shares_drop(all->p.ctx, r);
    resv_set_number(r, RESV_ATTR_reservation_Tag, 0);
    if (resv_shares_set(all->p.ctx, r, attr_list_text(&r->obj.attrs, RESV_ATTR_resv_nodes), &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "its vnodes cannot be taken");
    reservations_tell(all, EVENT_RESV_ENDED, r);
}

/* What pbs_rstat -f shows until it begins. */
static void resv_life_say_later(struct resv *r, const char *why)
{
    char text[LATER_MAX];

    snprintf(text, sizeof text, "Not now: %s", why);
    resv_set_text(r, RESV_ATTR_comment, text);
}

static void resv_life_confirmed(void *arg, struct resv *r)
{
    struct reservations *all = arg;
    bool altered = attr_list_is_set(&r->obj.attrs, RESV_ATTR_reserve_alter_revert);
    bool brings = attr_list_is_set(&r->obj.attrs, RESV_ATTR_qmove) &&
                  !attr_list_is_set(&r->obj.attrs, RESV_ATTR_resv_nodes) && /* for the first time */
                  !all->decision.is_begun;

    put_off(all, r);
    take_location(all, r);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_retry);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_comment);
    if (all->decision.why_later)
        resv_life_say_later(r, all->decision.why_later);
    resv_refuse_forget(r);
    if (altered)
        resv_alter_keep(all, r);
    substate(r, resv_state(r));
    resv_queue_open(all, r, true, resv_state(r) == RESV_RUNNING);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
              altered ? "Reservation alter confirmed" : "Reservation confirmed");
    record_confirmed(all, r);
    resv_life_tell(all, r, EVENT_RESV_CONFIRMED);
    resv_life_mail(all, r, 'c', "Reservation transitioned from state UNCONFIRMED to CONFIRMED");
    resv_wait_settle(all, r, brings && !resv_of_job_move(all, r) ? "FAILED" : "CONFIRMED");
    reservations_look_later(all, r);
}

static void resv_life_take_away(struct reservations *all, struct resv *r, bool mailed)
{
    const enum resv_states was = resv_state(r);

    if (was != RESV_BEING_DELETED) /* it was told when that began */
        record_removed(all, r, mailed);
    if (was != RESV_BEING_DELETED && was != RESV_DELETING_JOBS && was != RESV_UNCONFIRMED)
        resv_life_tell(all, r, EVENT_RESV_OVER);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "reservation deleted");
    resv_drain_stop(all, r);
    resv_shares_drop(all->p.ctx, r);
    if (r->queue)
        resv_queue_remove(all, r);
    commit_remove_object(all->p.commit, &r->obj);
    resvs_remove(all->p.ctx->resvs, r);
    pqueue_remove(&all->due, &r->due);
    if (resv_is_maintenance(r)) {
        resv_degrade_released(all);
        resv_later_review(all);
        reservations_look_at_all(all); /* others may have its vnodes again */
    }
    resv_wait_settle(all, r, resv_state(r) == RESV_UNCONFIRMED ? "DENIED" : "BEING DELETED");
    reservations_tell(all, EVENT_RESV_ENDED, r);
}

static void resv_life_remove(void *arg, struct resv *r)
{
    resv_life_take_away(arg, r, true);
}

/* It is not mailed: pbs_rsub -I says it to who waits. */
static void resv_life_say_denied(const struct resv *r)
{
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation denied");
}

static void resv_life_refused(void *arg, struct resv *r)
{
    resv_life_say_denied(r);
    resv_life_take_away(arg, r, false);
}

/* --- begin and end -------------------------------------------------------------------------------------------- */

static void resv_life_started(void *arg, struct resv *r)
{
    struct reservations *all = arg;
    bool lost = resv_substate(r) == RESV_DEGRADED || resv_substate(r) == RESV_IN_CONFLICT;

    if (!lost) {
        substate(r, RESV_RUNNING);
        attr_list_unset(&r->obj.attrs, RESV_ATTR_comment);
    }
    resv_set_number(r, RESV_ATTR_reservation_Tag, 1);
    resv_shares_take(all->p.ctx, r);
    r->idle_since_s = 0;
    if (r->n_shares)
        resv_queue_open(all, r, true, true);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation period starting");
    record_begun(all, r);
    resv_life_tell(all, r, EVENT_RESV_BEGUN);
    resv_life_mail(all, r, 'b', "Reservation period starting");
    reservations_tell(all, EVENT_RESV_STARTED, r);
    reservations_look_later(all, r);
}

bool resv_life_is_running(const struct resv *r)
{
    for (const struct job *j = r->queue ? r->queue->first : NULL; j; j = j->queue_next)
        if (j->run || job_is_placed(j))
            return true;
    return false;
}

/* As the server's qdel would. */
static void resv_life_delete_job(struct reservations *all, const struct resv *r, struct job *j,
                                 const char *why)
{
    char who[PBS_MAXSERVERNAME + 16];

    snprintf(who, sizeof who, "pbs_server@%s", all->p.ctx->name);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s", why);
    server_events_tell(all->p.ctx->events,
                       &(struct server_event){.kind = EVENT_RESV_JOB, .resv = r, .job = j, .by = who});
}

/* The list changes while jobs go; each is visited by its key. */
static void end_jobs(struct reservations *all, struct resv *r, bool all_of_them, const char *why)
{
    const struct queue *q = r->queue;
    struct job_key *keys = q && q->n_jobs ? malloc(q->n_jobs * sizeof *keys) : NULL;
    size_t n = 0;

    if (q && q->n_jobs && !keys)
        abort(); /* jobs would be left behind */
    for (const struct job *j = q ? q->first : NULL; j; j = j->queue_next)
        if (all_of_them ? !job_is_subjob(j) : (j->run || job_is_placed(j)))
            keys[n++] = j->key;
    for (size_t i = 0; i < n; i++) {
        struct job *j = jobs_find(all->p.ctx->jobs, keys[i]);

        if (j && !job_is_over(j))
            resv_life_delete_job(all, r, j, why);
    }
    free(keys);
}

/* Jobs whose scripts arrive have a queue in name only. */
static void end_arriving(struct reservations *all, const struct resv *r)
{
    struct job_key key = {.seq = -1, .index = -1};
    struct job *j;

    while ((j = jobs_after(all->p.ctx->jobs, key))) {
        key = j->key;
        if (j->state == JOB_ARRIVING && j->queue_name && strcmp(j->queue_name, r->queue->obj.name) == 0)
            resv_life_delete_job(all, r, j, "its reservation is over");
    }
}

/* The substate says what it was: undecided, or that this has been done before. */
static void resv_life_shut(struct reservations *all, struct resv *r, bool mailed)
{
    bool undecided = resv_substate(r) == RESV_UNCONFIRMED;

    if (resv_substate(r) != RESV_DELETING_JOBS) {
        record_removed(all, r, mailed);
        if (!undecided)
            resv_life_tell(all, r, EVENT_RESV_OVER);
    }
    substate(r, RESV_DELETING_JOBS);
    resv_queue_open(all, r, false, false);
    resv_wait_settle(all, r, undecided ? "DENIED" : "BEING DELETED");
    end_jobs(all, r, true, "Deleting job at end of reservation");
    if (r->queue)
        end_arriving(all, r);
    reservations_look_later(all, r);
}

static void resv_life_close(void *arg, struct resv *r)
{
    resv_life_shut(arg, r, true);
}

static void resv_life_refused_close(void *arg, struct resv *r)
{
    resv_life_say_denied(r);
    resv_life_shut(arg, r, false);
}

/* At each end that the clock brings; not where a restart finds the end under way. */
static void resv_life_period_ended(struct reservations *all, const struct resv *r)
{
    if (all->entering)
        return;
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation period ended");
    resv_life_mail(all, r, 'e', "Reservation period ended");
}

static void resv_life_end_close(void *arg, struct resv *r)
{
    resv_life_period_ended(arg, r);
    resv_life_close(arg, r);
}

static void resv_life_end_remove(void *arg, struct resv *r)
{
    resv_life_period_ended(arg, r);
    resv_life_remove(arg, r);
}

static void resv_life_occurrence(void *arg, struct resv *r)
{
    struct reservations *all = arg;

    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "reached end of occurrence %lld/%lld",
              (long long)resv_number(r, RESV_ATTR_reserve_index),
              (long long)resv_number(r, RESV_ATTR_reserve_count));
    resv_life_tell(all, r, EVENT_RESV_OVER);
    resv_queue_open(all, r, true, false);
    resv_life_period_ended(all, r);
    end_jobs(all, r, false, "Deleting running job at end of reservation occurrence");
    reservations_look_later(all, r);
}

/* --- the next occurrence ---------------------------------------------------------------------------------------- */

static void say_skipped(const struct resv *r, int64_t start_s)
{
    time_t at = (time_t)start_s;
    char when[16];
    struct tm tm;

    strftime(when, sizeof when, "%H:%M:%S", localtime_r(&at, &tm));
    log_event(
        LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
        "reservation occurrence %lld/%lld scheduled at %s was skipped because its end time is in the past",
        (long long)resv_number(r, RESV_ATTR_reserve_index),
        (long long)resv_number(r, RESV_ATTR_reserve_count), when);
}

static void resv_life_say_next(const struct resv *r, int64_t start_s)
{
    time_t at = (time_t)start_s;
    char when[32];

    ctime_r(&at, when);
    log_event(LOGC_RESV, LOGE_DEBUG, r->obj.name, "stdg_resv: next occurrence start = %.24s", when);
}

/* Become the first occurrence that is not over yet, or the last one: the clock then ends it. */
static void resv_life_next(void *arg, struct resv *r)
{
    struct reservations *all = arg;
    int64_t count = resv_number(r, RESV_ATTR_reserve_count), now = server_ctx_now_s(all->p.ctx);
    int64_t first = resv_number(r, RESV_ATTR_reserve_first), start, lasts;
    const char *nodes = attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_execvnodes);
    int64_t index = resv_number(r, RESV_ATTR_reserve_index);
    char *next;
    struct err e;

    if (!r->taken) /* it never began */
        resv_life_tell(all, r, EVENT_RESV_OVER);
    resv_shares_drop(all->p.ctx, r);
    resv_set_number(r, RESV_ATTR_reservation_Tag, 0);
    resv_alter_undo_occurrence(all, r);
    lasts = resv_number(r, RESV_ATTR_reserve_duration);
    do {
        start = resv_recur_drop_first(r);
        resv_set_number(r, RESV_ATTR_reserve_index, ++index);
        if (start + lasts <= now)
            say_skipped(r, start);
    } while (start + lasts <= now && index < count);
    resv_set_number(r, RESV_ATTR_reserve_start, start);
    resv_set_number(r, RESV_ATTR_reserve_end, start + lasts);
    resv_life_say_next(r, start);
    next = resv_recur_execvnode(nodes ? nodes : "", (size_t)(index - first), NULL);
    resv_set_text(r, RESV_ATTR_resv_nodes, next);
    if (resv_shares_set(all->p.ctx, r, next, &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "its vnodes cannot be taken");
    free(next);
    r->later_new = true;
    substate(r, RESV_CONFIRMED);
    resv_queue_open(all, r, true, false);
    reservations_tell(all, EVENT_RESV_ENDED, r);
    reservations_look_later(all, r);
}

/* --- altered ------------------------------------------------------------------------------------------------------ */

static void resv_life_altered(void *arg, struct resv *r)
{
    struct reservations *all = arg;

    resv_refuse_forget(r);
    if (r->taken && resv_revert_moves_start(r)) /* it stays empty */
        resv_queue_open(all, r, true, false);
    reservations_tell(all, EVENT_RESV_UNFIT, r);
}

/* It keeps its vnodes, also where another one has them then. */
static void resv_life_forced(void *arg, struct resv *r)
{
    struct reservations *all = arg;
    bool whole = resv_substate(r) != RESV_DEGRADED && resv_substate(r) != RESV_IN_CONFLICT;

    put_off(all, r);
    resv_alter_keep(all, r);
    if (whole)
        substate(r, resv_state(r));
    resv_queue_open(all, r, true, resv_state(r) == RESV_RUNNING && r->n_shares);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation alter confirmed");
    record_confirmed(all, r);
    resv_life_tell(all, r, EVENT_RESV_CONFIRMED);
    resv_life_mail(all, r, 'c', "Reservation transitioned from state UNCONFIRMED to CONFIRMED");
    resv_wait_settle(all, r, "CONFIRMED");
    reservations_look_later(all, r);
}

static void resv_life_revert(void *arg, struct resv *r)
{
    struct reservations *all = arg;

    resv_alter_undo(all, r);
    resv_queue_open(all, r, true, resv_state(r) == RESV_RUNNING && r->n_shares);
    resvs_touch(all->p.ctx->resvs, r);
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation alter denied");
    resv_wait_settle(all, r, "DENIED");
    reservations_look_later(all, r);
}

void resv_life_bind(struct reservations *all)
{
    static const struct {
        enum resv_action act;
        resv_action_fn *fn;
    } rows[] = {
        {RESV_ACT_REFUSED_CLOSE, resv_life_refused_close},
        {RESV_ACT_CONFIRMED, resv_life_confirmed},
        {RESV_ACT_REFUSED, resv_life_refused},
        {RESV_ACT_STARTED, resv_life_started},
        {RESV_ACT_CLOSE, resv_life_close},
        {RESV_ACT_END_CLOSE, resv_life_end_close},
        {RESV_ACT_END_REMOVE, resv_life_end_remove},
        {RESV_ACT_OCCURRENCE, resv_life_occurrence},
        {RESV_ACT_NEXT, resv_life_next},
        {RESV_ACT_REMOVE, resv_life_remove},
        {RESV_ACT_ALTERED, resv_life_altered},
        {RESV_ACT_REVERT, resv_life_revert},
        {RESV_ACT_FORCED, resv_life_forced},
        {RESV_ACT_DEGRADED, resv_degrade_begin},
        {RESV_ACT_WHOLE, resv_degrade_end},
        {RESV_ACT_RETRY, resv_degrade_retry},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        resv_fsm_bind(all->fsm, rows[i].act, rows[i].fn, all);
}
