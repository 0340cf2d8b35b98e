/* The rows of the machine of reservations: what each event means in each state. See resv_fsm.h.
 *
 * A row: in this state, at this event, where the guard holds, do this and be in that state afterwards. Of a state and an
 * event the first row that fits counts, so the row without a guard is their last one. RESV_NONE as the next state: the
 * action removes the reservation. A new row needs no code but its guard; a new action is bound in resv_life_bind. */
#include "queue.h"
#include "resv_fsm.h"
#include "resv_revert.h"
#include "resv_shares.h"

static bool resv_rules_has_jobs(const struct resv *r)
{
    return r->queue && r->queue->n_jobs > 0;
}

/* The present occurrence is not the last one. */
static bool resv_rules_has_next(const struct resv *r)
{
    return resv_is_standing(r) &&
           resv_number(r, RESV_ATTR_reserve_index) < resv_number(r, RESV_ATTR_reserve_count);
}

static bool resv_rules_runs(const struct resv *r)
{
    return r->taken;
}

/* It runs, and did not get a start to come. */
static bool resv_rules_runs_on(const struct resv *r)
{
    return r->taken && !resv_revert_moves_start(r);
}

static bool resv_rules_forced_runs_on(const struct resv *r)
{
    return resv_revert_is_forced(r) && resv_rules_runs_on(r);
}

static bool resv_rules_was_degraded(const struct resv *r)
{
    return resv_substate(r) == RESV_DEGRADED || resv_substate(r) == RESV_IN_CONFLICT;
}

static bool resv_rules_forced_degraded(const struct resv *r)
{
    return resv_revert_is_forced(r) && resv_rules_was_degraded(r);
}

/* clang-format off */
const struct resv_rule resv_rules[] = {
    /* in                   event             when                     do                    goes to */
    {RESV_UNCONFIRMED,     RESV_EV_CONFIRM, NULL,                    RESV_ACT_CONFIRMED,  RESV_CONFIRMED},
    /* A manager has moved jobs into it, or opened its queue. */
    {RESV_UNCONFIRMED,     RESV_EV_REFUSE,  resv_rules_has_jobs,     RESV_ACT_REFUSED_CLOSE, RESV_BEING_DELETED},
    {RESV_UNCONFIRMED,     RESV_EV_REFUSE,  NULL,                    RESV_ACT_REFUSED,    RESV_NONE},
    {RESV_UNCONFIRMED,     RESV_EV_START,   NULL,                    RESV_ACT_NONE,       RESV_UNCONFIRMED},
    {RESV_UNCONFIRMED,     RESV_EV_END,     resv_rules_has_jobs,     RESV_ACT_REFUSED_CLOSE, RESV_BEING_DELETED},
    {RESV_UNCONFIRMED,     RESV_EV_END,     NULL,                    RESV_ACT_REFUSED,    RESV_NONE},
    {RESV_UNCONFIRMED,     RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_UNCONFIRMED,     RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},

    {RESV_CONFIRMED,       RESV_EV_START,   NULL,                    RESV_ACT_STARTED,    RESV_RUNNING},
    {RESV_CONFIRMED,       RESV_EV_END,     resv_rules_has_next,     RESV_ACT_NEXT,       RESV_CONFIRMED},
    {RESV_CONFIRMED,       RESV_EV_END,     resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_CONFIRMED,       RESV_EV_END,     NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_CONFIRMED,       RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_CONFIRMED,       RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_CONFIRMED,       RESV_EV_ALTER,   NULL,                    RESV_ACT_ALTERED,    RESV_BEING_ALTERED},
    {RESV_CONFIRMED,       RESV_EV_LOST,    NULL,                    RESV_ACT_DEGRADED,   RESV_DEGRADED},
    /* Only a later occurrence is hit. */
    {RESV_CONFIRMED,       RESV_EV_LOST_LATER, NULL,                 RESV_ACT_DEGRADED,   RESV_CONFIRMED},
    {RESV_CONFIRMED,       RESV_EV_CONFIRM, resv_rules_was_degraded, RESV_ACT_CONFIRMED,  RESV_CONFIRMED},
    {RESV_CONFIRMED,       RESV_EV_REFUSE,  resv_rules_was_degraded, RESV_ACT_RETRY,      RESV_CONFIRMED},
    {RESV_CONFIRMED,       RESV_EV_BACK,    NULL,                    RESV_ACT_WHOLE,      RESV_CONFIRMED},

    /* It starts and ends on time; its jobs have what is left of it. */
    {RESV_DEGRADED,        RESV_EV_CONFIRM, NULL,                    RESV_ACT_CONFIRMED,  RESV_CONFIRMED},
    {RESV_DEGRADED,        RESV_EV_REFUSE,  NULL,                    RESV_ACT_RETRY,      RESV_DEGRADED},
    {RESV_DEGRADED,        RESV_EV_START,   NULL,                    RESV_ACT_STARTED,    RESV_RUNNING},
    {RESV_DEGRADED,        RESV_EV_END,     resv_rules_has_next,     RESV_ACT_NEXT,       RESV_CONFIRMED},
    {RESV_DEGRADED,        RESV_EV_END,     resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_DEGRADED,        RESV_EV_END,     NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_DEGRADED,        RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_DEGRADED,        RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_DEGRADED,        RESV_EV_ALTER,   NULL,                    RESV_ACT_ALTERED,    RESV_BEING_ALTERED},
    {RESV_DEGRADED,        RESV_EV_LOST,    resv_shares_is_conflict, RESV_ACT_DEGRADED,   RESV_DEGRADED},
    {RESV_DEGRADED,        RESV_EV_LOST,    NULL,                    RESV_ACT_NONE,       RESV_DEGRADED},
    {RESV_DEGRADED,        RESV_EV_LOST_LATER, NULL,                 RESV_ACT_NONE,       RESV_CONFIRMED},
    {RESV_DEGRADED,        RESV_EV_BACK,    NULL,                    RESV_ACT_WHOLE,      RESV_CONFIRMED},

    {RESV_RUNNING,         RESV_EV_CONFIRM, resv_rules_was_degraded, RESV_ACT_CONFIRMED,  RESV_RUNNING},
    {RESV_RUNNING,         RESV_EV_REFUSE,  resv_rules_was_degraded, RESV_ACT_RETRY,      RESV_RUNNING},
    {RESV_RUNNING,         RESV_EV_END,     resv_rules_has_next,     RESV_ACT_OCCURRENCE, RESV_DELETING_JOBS},
    {RESV_RUNNING,         RESV_EV_END,     resv_rules_has_jobs,     RESV_ACT_END_CLOSE,  RESV_BEING_DELETED},
    {RESV_RUNNING,         RESV_EV_END,     NULL,                    RESV_ACT_END_REMOVE, RESV_NONE},
    {RESV_RUNNING,         RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_RUNNING,         RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_RUNNING,         RESV_EV_ALTER,   NULL,                    RESV_ACT_ALTERED,    RESV_BEING_ALTERED},
    {RESV_RUNNING,         RESV_EV_LOST,    NULL,                    RESV_ACT_DEGRADED,   RESV_RUNNING},
    {RESV_RUNNING,         RESV_EV_LOST_LATER, NULL,                 RESV_ACT_DEGRADED,   RESV_RUNNING},
    {RESV_RUNNING,         RESV_EV_BACK,    NULL,                    RESV_ACT_WHOLE,      RESV_RUNNING},

    {RESV_DELETING_JOBS,   RESV_EV_EMPTY,   NULL,                    RESV_ACT_NEXT,       RESV_CONFIRMED},
    {RESV_DELETING_JOBS,   RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_DELETING_JOBS,   RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},

    {RESV_BEING_DELETED,   RESV_EV_EMPTY,   NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
    {RESV_BEING_DELETED,   RESV_EV_DELETE,  NULL,                    RESV_ACT_CLOSE,      RESV_BEING_DELETED},

    /* The old times hold for jobs until a scheduler has agreed. */
    {RESV_BEING_ALTERED,   RESV_EV_CONFIRM, resv_rules_runs_on,      RESV_ACT_CONFIRMED,  RESV_RUNNING},
    {RESV_BEING_ALTERED,   RESV_EV_CONFIRM, NULL,                    RESV_ACT_CONFIRMED,  RESV_CONFIRMED},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  resv_rules_forced_runs_on, RESV_ACT_FORCED,   RESV_RUNNING},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  resv_rules_forced_degraded, RESV_ACT_FORCED,  RESV_DEGRADED},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  resv_revert_is_forced,    RESV_ACT_FORCED,     RESV_CONFIRMED},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  resv_rules_runs,         RESV_ACT_REVERT,     RESV_RUNNING},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  resv_rules_was_degraded, RESV_ACT_REVERT,     RESV_DEGRADED},
    {RESV_BEING_ALTERED,   RESV_EV_REFUSE,  NULL,                    RESV_ACT_REVERT,     RESV_CONFIRMED},
    {RESV_BEING_ALTERED,   RESV_EV_DELETE,  resv_rules_has_jobs,     RESV_ACT_CLOSE,      RESV_BEING_DELETED},
    {RESV_BEING_ALTERED,   RESV_EV_DELETE,  NULL,                    RESV_ACT_REMOVE,     RESV_NONE},
};
/* clang-format on */

const size_t resv_rules_count = sizeof resv_rules / sizeof resv_rules[0];
