/* Reservations that have lost vnodes. See resv_degrade.h.
 *
 * The vnodes of all occurrences are looked at when a state has changed, in the look at the end of that turn. While one of the present
 * occurrence is unusable the reservation is degraded; where only a later one has lost some (resv_later.c) it stays confirmed, and
 * its substate says so. A scheduler is asked for others at reserve_retry: it answers by CONFIRM or REFUSE.
 *
 * A maintenance reservation takes vnodes for good: they leave resv_nodes, the substate is IC, and others are asked for at once. */
#include "resv_degrade.h"

#include <stdlib.h>
#include <time.h>

#include "exec_vnode.h"
#include "log.h"
#include "resv_later.h"
#include "resv_shares.h"
#include "strbuf.h"

/* CORRUPTED_S: as in PBS. */
enum { LOCATION_MAX = 16 << 20, CORRUPTED_S = 60 };
static const char first_try[] = "An attempt to reconfirm reservation will be made on",
                  next_try[] = "Next attempt to reconfirm reservation will be made on";

/* Without shares a vnode of it has been deleted: nothing of its exec_vnode could be taken. What a maintenance reservation took is
 * missing until others have been found. `waits`: a vnode may be back, and is not yet. */
static bool is_whole(const struct reservations *all, const struct resv *r, int64_t *next, bool *waits)
{
    if (!r->n_shares || resv_substate(r) == RESV_IN_CONFLICT)
        return false;
    for (size_t i = 0; i < r->n_shares; i++) {
        const struct node *n = r->shares[i].node;

        if (node_is_usable(n))
            continue;
        if (!reservations_may_be_back(all, n))
            return false;
        *waits = true;
        *next = all->patient_till_s < *next ? all->patient_till_s : *next;
    }
    return true;
}

static bool is_degraded(const struct resv *r)
{
    return resv_substate(r) == RESV_DEGRADED || resv_substate(r) == RESV_IN_CONFLICT;
}

static int64_t retry_after_s(const struct reservations *all)
{
    return attr_list_effective(&all->p.ctx->server->obj.attrs, SERVER_ATTR_reserve_retry_time);
}

/* `what`: the line of the log up to the time. */
static void set_retry(struct reservations *all, struct resv *r, const char *what, int64_t after_s)
{
    int64_t now = server_ctx_now_s(all->p.ctx), at = now + after_s;
    int64_t start = resv_number(r, RESV_ATTR_reserve_start);
    char when[64];
    struct tm tm;
    time_t t;

    if (start > now && start < at)
        at = start;
    t = (time_t)at;
    resv_set_number(r, RESV_ATTR_reserve_retry, at);
    strftime(when, sizeof when, "%a %b %d %H:%M:%S %Y", localtime_r(&t, &tm));
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "%s %s", what, when);
    reservations_look_later(all, r);
}

/* Since a start it is without its vnodes. One that runs has its usual retry: its jobs are on what is left. */
static bool resv_degrade_retry_soon(struct reservations *all, struct resv *r)
{
    int64_t after_s = retry_after_s(all);
    bool soon = r->corrupted && resv_state(r) == RESV_DEGRADED;

    r->corrupted = false;
    if (soon)
        set_retry(all, r, "Reservation with corrupted nodes, degrading with retry time set to",
                  after_s < CORRUPTED_S ? after_s : CORRUPTED_S);
    return soon;
}

/* What maintenance reservations have taken does not belong to it any more, but for vnodes on which its jobs run on. */
static void resv_degrade_give_up(struct reservations *all, struct resv *r)
{
    struct exec_vnode *ev = exec_vnode_parse(attr_list_text(&r->obj.attrs, RESV_ATTR_resv_nodes), NULL);
    struct exec_vnode *left = ev ? exec_vnode_create(NULL) : NULL;
    size_t last = SIZE_MAX;
    struct strbuf text;
    struct err e;

    if (!left)
        abort(); /* a promise would stay that two reservations have */
    for (size_t i = 0; i < ev->n; i++) {
        const struct node *n = nodes_find(all->p.ctx->nodes, ev->part[i].vnode);
        const struct resv_share *x = n ? resv_shares_find(r, n) : NULL;

        if (x && resv_shares_is_taken(x) && !resv_shares_has_jobs(x))
            continue;
        if (exec_vnode_copy_part(left, &ev->part[i], ev->part[i].chunk == last, NULL) < 0)
            abort(); /* the same */
        last = ev->part[i].chunk;
    }
    strbuf_init(&text, LOCATION_MAX);
    if (exec_vnode_format(left, &text) < 0)
        abort();
    resv_set_text(r, RESV_ATTR_resv_nodes, left->n ? strbuf_str(&text) : NULL);
    if (resv_shares_set(all->p.ctx, r, strbuf_str(&text), &e) < 0)
        log_err(LOGC_RESV, r->obj.name, &e, "its vnodes cannot be taken");
    if (r->taken && !r->n_shares)
        resv_queue_open(all, r, true, false);
    strbuf_fini(&text);
    exec_vnode_destroy(left);
    exec_vnode_destroy(ev);
}

void resv_degrade_begin(void *arg, struct resv *r)
{
    bool conflict = resv_shares_is_conflict(r);

    if (conflict)
        resv_degrade_give_up(arg, r);
    if (conflict || resv_substate(r) != RESV_IN_CONFLICT)
        resv_set_number(r, RESV_ATTR_reserve_substate, conflict ? RESV_IN_CONFLICT : RESV_DEGRADED);
    if (conflict)
        r->corrupted = false;
    if (!resv_degrade_retry_soon(arg, r))
        set_retry(arg, r, first_try, conflict ? 0 : retry_after_s(arg));
}

void resv_degrade_released(struct reservations *all)
{
    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r))
        if (resv_substate(r) == RESV_IN_CONFLICT)
            set_retry(all, r, next_try, 0);
}

void resv_degrade_end(void *arg, struct resv *r)
{
    resv_set_number(r, RESV_ATTR_reserve_substate, resv_state(r));
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_retry);
    attr_list_unset(&r->obj.attrs, RESV_ATTR_comment);
}

void resv_degrade_retry(void *arg, struct resv *r)
{
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation is in degraded mode");
    set_retry(arg, r, next_try, retry_after_s(arg));
}

/* Something is to be given up that no job of it is on. */
static bool resv_degrade_is_to_give_up(const struct resv *r)
{
    for (size_t i = 0; i < r->n_shares; i++)
        if (resv_shares_is_taken(&r->shares[i]) &&
            (!resv_shares_has_jobs(&r->shares[i]) || resv_substate(r) != RESV_IN_CONFLICT))
            return true;
    return false;
}

/* It has lost something that it was not known to have lost: its present occurrence is not `whole`, or maintenance took a vnode. */
static bool is_lost(const struct resv *r, bool whole)
{
    if (resv_degrade_is_to_give_up(r))
        return true;
    return !whole && (!is_degraded(r) || resv_state(r) == RESV_CONFIRMED);
}

/* What its vnodes say; RESV_EV_COUNT: nothing new. One that runs does not tell which of its occurrences has lost one. While vnodes may
 * be back after a start of the server it stays what it was: neither lost nor whole again. */
static enum resv_event resv_degrade_event(const struct reservations *all, struct resv *r, int64_t *next)
{
    bool waits = false, whole = is_whole(all, r, next, &waits), later = resv_later_is_whole(all, r, next);
    bool back = is_degraded(r) && whole && later && !waits && !r->later_new;

    if (!resv_is_maintenance(r) && is_lost(r, whole))
        return RESV_EV_LOST;
    if (!resv_is_maintenance(r) && whole && !later &&
        (!is_degraded(r) || (resv_state(r) == RESV_DEGRADED && !waits)))
        return RESV_EV_LOST_LATER;
    return back ? RESV_EV_BACK : RESV_EV_COUNT;
}

void resv_degrade_look(struct reservations *all, struct resv *r, int64_t now, int64_t *next)
{
    enum resv_states s = resv_state(r);
    enum resv_event ev;
    int64_t retry;

    if (s != RESV_CONFIRMED && s != RESV_DEGRADED && s != RESV_RUNNING)
        return;
    ev = resv_degrade_event(all, r, next);
    if (ev != RESV_EV_COUNT)
        resv_fsm_post(all->fsm, r, ev);
    if (s == RESV_DEGRADED)
        (void)resv_degrade_retry_soon(all, r);
    retry = resv_number(r, RESV_ATTR_reserve_retry);
    if (!is_degraded(r) || !retry)
        return;
    if (now < retry) {
        r->asked = false;
        *next = retry < *next ? retry : *next;
    } else if (!r->asked) {
        r->asked = true;
        reservations_tell(all, EVENT_RESV_UNFIT, r);
    }
}
