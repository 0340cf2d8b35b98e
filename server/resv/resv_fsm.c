/* The machine of reservations. See resv_fsm.h.
 *
 * One event at a time (`busy`): an action that posted would see a reservation between two states. An event without a row
 * means nothing in this state and is logged at level DEBUG. What the rows are: resv_rules.c. */
#include "resv_fsm.h"

#include <assert.h>
#include <stdlib.h>

#include "log.h"

struct resv_fsm {
    struct resvs *resvs;
    struct {
        resv_action_fn *fn;
        void *arg;
    } actions[RESV_ACT_COUNT];
    bool busy;
};

static const char *const event_names[RESV_EV_COUNT] = {
    [RESV_EV_CONFIRM] = "confirm",
    [RESV_EV_REFUSE] = "refuse",
    [RESV_EV_START] = "start",
    [RESV_EV_END] = "end",
    [RESV_EV_DELETE] = "delete",
    [RESV_EV_EMPTY] = "empty",
    [RESV_EV_ALTER] = "alter",
    [RESV_EV_LOST] = "lost",
    [RESV_EV_LOST_LATER] = "lost of a later occurrence",
    [RESV_EV_BACK] = "back",
};

static const char *const state_names[] = {
    [RESV_NONE] = "RESV_NONE",
    [RESV_UNCONFIRMED] = "RESV_UNCONFIRMED",
    [RESV_CONFIRMED] = "RESV_CONFIRMED",
    [RESV_WAIT] = "RESV_WAIT",
    [RESV_TIME_TO_RUN] = "RESV_TIME_TO_RUN",
    [RESV_RUNNING] = "RESV_RUNNING",
    [RESV_FINISHED] = "RESV_FINISHED",
    [RESV_BEING_DELETED] = "RESV_BEING_DELETED",
    [RESV_DELETED] = "RESV_DELETED",
    [RESV_DELETING_JOBS] = "RESV_DELETING_JOBS",
    [RESV_DEGRADED] = "RESV_DEGRADED",
    [RESV_BEING_ALTERED] = "RESV_BEING_ALTERED",
    [RESV_IN_CONFLICT] = "RESV_IN_CONFLICT",
};

const char *resv_state_name(enum resv_states s)
{
    return (size_t)s < sizeof state_names / sizeof *state_names ? state_names[s] : "unknown";
}

struct resv_fsm *resv_fsm_create(struct resvs *rs)
{
    struct resv_fsm *f = calloc(1, sizeof *f);

    if (f)
        f->resvs = rs;
    return f;
}

void resv_fsm_destroy(struct resv_fsm *f)
{
    free(f);
}

void resv_fsm_bind(struct resv_fsm *f, enum resv_action a, resv_action_fn *fn, void *arg)
{
    f->actions[a].fn = fn;
    f->actions[a].arg = arg;
}

const struct resv_rule *resv_fsm_rule(const struct resv *r, enum resv_event ev)
{
    for (size_t i = 0; i < resv_rules_count; i++) {
        const struct resv_rule *x = &resv_rules[i];

        if (x->in == resv_state(r) && x->event == ev && (!x->when || x->when(r)))
            return x;
    }
    return NULL;
}

static void resv_fsm_perform(struct resv_fsm *f, struct resv *r, enum resv_action a)
{
    if (a == RESV_ACT_NONE)
        return;
    assert(f->actions[a].fn);
    f->actions[a].fn(f->actions[a].arg, r);
}

static void resv_fsm_move(struct resv_fsm *f, struct resv *r, const struct resv_rule *x)
{
    enum resv_states from = resv_state(r);

    /* The state first: what an action tells of the reservation has the new one. */
    if (x->to != RESV_NONE && attr_list_set_number(&r->obj.attrs, RESV_ATTR_reserve_state, x->to, NULL) < 0)
        abort(); /* the state would be lost */
    resv_fsm_perform(f, r, x->act);
    resvs_touch(f->resvs, r);
    log_event(LOGC_RESV, LOGE_DEBUG, r->obj.name, "%s: %s, now %s", event_names[x->event],
              resv_state_name(from), resv_state_name(x->to));
}

void resv_fsm_post(struct resv_fsm *f, struct resv *r, enum resv_event ev)
{
    const struct resv_rule *x = resv_fsm_rule(r, ev);

    assert(!f->busy);
    if (!x) {
        log_event(LOGC_RESV, LOGE_DEBUG, r->obj.name, "%s means nothing in %s", event_names[ev],
                  resv_state_name(resv_state(r)));
        return;
    }
    f->busy = true;
    object_ref(&r->obj);
    resv_fsm_move(f, r, x);
    object_unref(&r->obj);
    f->busy = false;
}

void resv_fsm_enter(struct resv_fsm *f, struct resv *r)
{
    enum resv_states s = resv_state(r);

    resv_fsm_perform(f, r,
                     s == RESV_BEING_DELETED   ? RESV_ACT_CLOSE
                     : s == RESV_DELETING_JOBS ? RESV_ACT_OCCURRENCE
                                               : RESV_ACT_NONE);
}
