/* Refusals of schedulers, counted until the last one. See resv_refuse.h.
 *
 *   scheduler A: no -> kept as refused_by, the reservation stays as it is -> B: no -> REFUSE
 *                                                                         -> B: yes -> CONFIRM
 *                                                                         -> B goes away -> REFUSE, at the end of that turn */
#include "resv_refuse.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "log.h"
#include "pbs_error.h"
#include "request.h"
#include "resv_degrade.h"
#include "strbuf.h"

enum { NAMES_MAX = 1 << 16, COMMENT_MAX = 1024 };

void resv_refuse_forget(struct resv *r)
{
    free(r->refused_by);
    r->refused_by = NULL;
}

static void resv_refuse_note(struct resv *r, const char *scheduler)
{
    struct strbuf b;

    strbuf_init(&b, NAMES_MAX);
    strbuf_addf(&b, "%s%s,", r->refused_by ? r->refused_by : "", scheduler);
    free(r->refused_by);
    r->refused_by = strbuf_take(&b);
}

/* Those of a partition are its scheduler's alone; operators and managers decide at once. */
static bool resv_refuse_is_last(const struct reservations *all, const struct resv *r)
{
    return attr_list_is_set(&r->obj.attrs, RESV_ATTR_partition) || !r->refused_by ||
           !all->p.others(all->p.schedulers, r->refused_by);
}

/* What pbs_rstat -f shows until it is confirmed. */
static void resv_refuse_say(struct reservations *all, struct resv *r, const char *reason)
{
    static const char *const heads[] = {
        [RESV_UNCONFIRMED] = "Not confirmed", [RESV_BEING_ALTERED] = "Not altered"};
    const size_t s = (size_t)resv_state(r);
    const char *head = s < sizeof heads / sizeof heads[0] ? heads[s] : NULL;
    const char *was = attr_list_text(&r->obj.attrs, RESV_ATTR_comment);
    char text[COMMENT_MAX];

    snprintf(text, sizeof text, "%s: %s", head ? head : "Not reconfirmed", reason);
    if (was && strcmp(was, text) == 0)
        return;
    resv_set_text(r, RESV_ATTR_comment, text);
    resvs_touch(all->p.ctx->resvs, r);
}

/* Soon after a start hosts are down that have only not said hello yet: a refusal for want of them would be for good. So it would be where
 * one has come up after the scheduler looked. Each vnode counts once, so hosts that come and go put off nothing for long. */
static bool resv_refuse_is_too_early(const struct reservations *all, uint64_t seen)
{
    for (const struct node *n = nodes_first(all->p.ctx->nodes); n; n = nodes_next(n))
        if ((!node_is_usable(n) && reservations_may_be_back(all, n)) || n->heard > seen)
            return true;
    return false;
}

void resv_refuse(struct reservations *all, struct request *q, struct resv *r, const char *reason,
                 uint64_t seen)
{
    const char *scheduler = client_sched(request_client(q));

    if (scheduler && resv_refuse_is_too_early(all, seen)) {
        request_failf(q, PBSE_TRYAGAIN,
                      "not all hosts have been heard of since the server started, %s may have room yet",
                      r->obj.name);
        return;
    }
    if (*reason) {
        log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name, "PBS Failed to confirm resv: %s", reason);
        resv_refuse_say(all, r, reason);
    }
    if (scheduler)
        resv_refuse_note(r, scheduler);
    object_ref(&r->obj);
    if (!scheduler || resv_refuse_is_last(all, r)) {
        resv_refuse_forget(r);
        resv_fsm_post(all->fsm, r, RESV_EV_REFUSE);
    } else
        log_event(LOGC_RESV, LOGE_RESV, r->obj.name,
                  "scheduler %s has no room for it, others are still to answer", scheduler);
    resv_wait_promise(all, q, r, NULL);
    object_unref(&r->obj);
}

void resv_refuse_look(struct reservations *all, struct resv *r)
{
    if (!r->refused_by || !resv_fsm_rule(r, RESV_EV_REFUSE) || !resv_refuse_is_last(all, r))
        return;
    resv_refuse_forget(r);
    resv_fsm_post(all->fsm, r, RESV_EV_REFUSE);
}

void resv_refuse_on_gone(void *reservations, const struct server_event *ev)
{
    struct reservations *all = reservations;

    for (struct resv *r = resvs_first(all->p.ctx->resvs); r; r = resvs_next(r))
        if (r->refused_by)
            reservations_look_later(all, r);
}
