/* Reservations that have lost vnodes. See resv_degrade.h.
 *
 * A maintenance reservation takes vnodes, too: then the substate is IC, and others are asked for at once. The vnodes of the present occurrence are looked at when a state has changed, in the look at the end of that turn. While one is
 * unusable the reservation is degraded, and a scheduler is asked for others at reserve_retry: it answers by CONFIRM or REFUSE. */
#include "resv_degrade.h"

#include <time.h>

#include "log.h"

void resv_degrade_node(void *arg, struct node *n)
{
    (void)n;
    reservations_look_later(arg);
}

void resv_degrade_review(struct reservations *all, struct resv *r)
{
    (void)r;
    reservations_look_later(all);
}

/* Down, as every host is when the server starts, and nothing else. */
static bool may_be_back(const struct node *n)
{
    return !n->reported && states_node_is_usable(n->state & ~(unsigned)(NODE_DOWN | NODE_UNKNOWN));
}

/* A maintenance reservation has this vnode during the present occurrence; a touching end counts. */
static bool is_taken(const struct resv *r, const struct node *n)
{
    for (const struct resv_share *x = n->shares; x; x = x->next)
        if (x->resv != r && resv_is_maintenance(x->resv) &&
            resv_number(x->resv, RESV_ATTR_reserve_start) <= resv_number(r, RESV_ATTR_reserve_end) &&
            resv_number(x->resv, RESV_ATTR_reserve_end) >= resv_number(r, RESV_ATTR_reserve_start))
            return true;
    return false;
}

static bool is_in_conflict(const struct resv *r)
{
    for (size_t i = 0; i < r->n_shares; i++)
        if (is_taken(r, r->shares[i].node))
            return true;
    return false;
}

/* Without shares a vnode of it has been deleted: nothing of its exec_vnode could be taken. */
static bool is_whole(const struct reservations *all, const struct resv *r, int64_t now, int64_t *next)
{
    if (!r->n_shares)
        return false;
    for (size_t i = 0; i < r->n_shares; i++) {
        const struct node *n = r->shares[i].node;

        if (is_taken(r, n))
            return false;
        if (node_is_usable(n))
            continue;
        if (now >= all->patient_till_s || !may_be_back(n))
            return false;
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
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "%s reconfirm reservation will be made on %s",
              what, when);
    reservations_look_later(all);
}

void resv_degrade_begin(void *arg, struct resv *r)
{
    bool conflict = is_in_conflict(r);

    resv_set_number(r, RESV_ATTR_reserve_substate, conflict ? RESV_IN_CONFLICT : RESV_DEGRADED);
    set_retry(arg, r, "An attempt to", conflict ? 0 : retry_after_s(arg));
}

void resv_degrade_end(void *arg, struct resv *r)
{
    (void)arg;
    resv_set_number(r, RESV_ATTR_reserve_substate, resv_state(r));
    attr_list_unset(&r->obj.attrs, RESV_ATTR_reserve_retry);
}

void resv_degrade_retry(void *arg, struct resv *r)
{
    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "Reservation is in degraded mode");
    set_retry(arg, r, "Next attempt to", retry_after_s(arg));
}

void resv_degrade_look(struct reservations *all, struct resv *r, int64_t now, int64_t *next)
{
    enum resv_states s = resv_state(r);
    int64_t retry;
    bool whole;

    if (s != RESV_CONFIRMED && s != RESV_DEGRADED && s != RESV_RUNNING)
        return;
    whole = is_whole(all, r, now, next);
    if (!resv_is_maintenance(r) && !is_degraded(r) && !whole)
        resv_fsm_post(all->fsm, r, RESV_EV_LOST);
    else if (is_degraded(r) && whole)
        resv_fsm_post(all->fsm, r, RESV_EV_BACK);
    retry = resv_number(r, RESV_ATTR_reserve_retry);
    if (!is_degraded(r) || !retry)
        return;
    if (now < retry) {
        r->asked = false;
        *next = retry < *next ? retry : *next;
    } else if (!r->asked) {
        r->asked = true;
        all->p.hooks.reconfirm(all->p.hooks.arg);
    }
}
