#ifndef RESV_FSM_H
#define RESV_FSM_H
/* The state machine of reservations: the one function that changes reserve_state.
 *
 * Requests and timers only post events. The rows (resv_rules.c) say what an event does in a state: the first row of (state, event)
 * whose guard holds names an action and the next state. An action never posts; what follows from it is found by the next look at the
 * clock and the jobs (resv_clock.c). The row of the store has the new state together with what the action did.
 *
 *     UNCONFIRMED --CONFIRM--> CONFIRMED --START--> RUNNING --END--> BEING_DELETED --EMPTY--> gone
 *                                  ^ LOST, BACK        | END, more occurrences
 *                                  v                   v
 *                               DEGRADED          DELETING_JOBS --EMPTY--> CONFIRMED
 *
 * Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resv.h"

struct resv_fsm;

enum resv_event {
    RESV_EV_CONFIRM,    /* a scheduler, or an administrator, has found vnodes */
    RESV_EV_REFUSE,     /* there are none */
    RESV_EV_START,      /* the start is reached */
    RESV_EV_END,        /* the end is reached */
    RESV_EV_DELETE,     /* a request, a wait that is over, idle for too long */
    RESV_EV_EMPTY,      /* the last job that has to end has ended */
    RESV_EV_ALTER,      /* other times or another select are asked for */
    RESV_EV_LOST,       /* one of its vnodes cannot be used */
    RESV_EV_LOST_LATER, /* one of a later occurrence cannot, those of the present one can */
    RESV_EV_BACK,       /* all of them can be used again */
    RESV_EV_COUNT
};

enum resv_action {
    RESV_ACT_NONE,
    RESV_ACT_CONFIRMED,     /* take the vnodes named, open the queue */
    RESV_ACT_REFUSED,       /* tell, and remove */
    RESV_ACT_REFUSED_CLOSE, /* tell; RESV_ACT_CLOSE */
    RESV_ACT_STARTED,       /* start the queue, take the room */
    RESV_ACT_CLOSE,         /* close the queue, delete all jobs */
    RESV_ACT_END_CLOSE,     /* say that its time is over; RESV_ACT_CLOSE */
    RESV_ACT_END_REMOVE,    /* say that its time is over; RESV_ACT_REMOVE */
    RESV_ACT_OCCURRENCE,    /* stop the queue, delete running jobs */
    RESV_ACT_NEXT,          /* give the room back, become the next occurrence */
    RESV_ACT_REMOVE,        /* queue and reservation go */
    RESV_ACT_ALTERED,       /* keep what was, take the new times */
    RESV_ACT_REVERT,        /* what was before the alteration */
    RESV_ACT_FORCED,        /* the alteration holds though it was refused */
    RESV_ACT_DEGRADED,      /* note when to try again */
    RESV_ACT_WHOLE,         /* forget that */
    RESV_ACT_RETRY,         /* no vnodes this time: try again later */
    RESV_ACT_COUNT
};

typedef void resv_action_fn(void *arg, struct resv *r);
typedef bool resv_guard_fn(const struct resv *r);

struct resv_rule {
    enum resv_states in;
    enum resv_event event;
    resv_guard_fn *when; /* NULL: always */
    enum resv_action act;
    enum resv_states to; /* RESV_NONE: it is gone */
};
extern const struct resv_rule resv_rules[];
extern const size_t resv_rules_count;

struct resv_fsm *resv_fsm_create(struct resvs *rs);
void resv_fsm_destroy(struct resv_fsm *f);
/* ^ Bind the function that performs an action. Every action except NONE is bound before the first event. */
void resv_fsm_bind(struct resv_fsm *f, enum resv_action a, resv_action_fn *fn, void *arg);

/* The row for this event, or NULL: it means nothing in this state. */
const struct resv_rule *resv_fsm_rule(const struct resv *r, enum resv_event ev);
/* Post an event; it is handled before the call returns, and the reservation may be gone then: hold a reference. Not from an action.
 * Without a row it is logged and changes nothing. */
void resv_fsm_post(struct resv_fsm *f, struct resv *r, enum resv_event ev);
/* After a restart: perform the action that this state repeats. */
void resv_fsm_enter(struct resv_fsm *f, struct resv *r);

const char *resv_state_name(enum resv_states s); /* "RESV_CONFIRMED" */

#endif
