#ifndef SHEP_FSM_H
#define SHEP_FSM_H
/* The states of a job under its shepherd, as one table. It calls no part: actions are named, `supervise` performs them.
 *
 * Being suspended is not a state: what ends a job ends a suspended one as well.
 */
#include <stdbool.h>

enum shep_state {
    SHEP_BEGIN,     /* directories, files, the first process */
    SHEP_RUNNING,   /* the first process lives */
    SHEP_STOPPING,  /* SIGTERM was sent to all; the grace runs */
    SHEP_WITHDRAWN, /* so it is, but at its end the job runs on where it has not ended */
    SHEP_KILLING,   /* SIGKILL goes to whatever is left, until nothing is */
    SHEP_ENDED,     /* recorded; waits for CLOSE */
    SHEP_CLOSED,    /* nothing to do but to exit */
    SHEP_STATE_COUNT
};

enum shep_event {
    SHEP_EV_LAUNCHED,
    SHEP_EV_SETUP_FAILED,
    SHEP_EV_TERMINATE, /* with a grace */
    SHEP_EV_KILL,      /* without */
    SHEP_EV_WALLTIME,  /* the limit of time is reached */
    SHEP_EV_WITHDRAW,  /* the order to end is withdrawn */
    SHEP_EV_GRACE_OVER,
    SHEP_EV_MAIN_ENDED, /* the first process; others may be left */
    SHEP_EV_ALL_ENDED,  /* no process is below us any more */
    SHEP_EV_GIVE_UP,    /* something cannot be killed */
    SHEP_EV_CLOSE,
    SHEP_EVENT_COUNT
};

enum shep_action {
    SHEP_ACT_NONE,
    SHEP_ACT_STARTED,  /* the limit of time begins */
    SHEP_ACT_TERM,     /* SIGTERM to all, the grace begins */
    SHEP_ACT_WALLTIME, /* say why on the job's stderr, then as TERM */
    SHEP_ACT_STAY,     /* it was not ended: WITHDRAW is answered */
    SHEP_ACT_KILL,     /* SIGKILL to all, again and again */
    SHEP_ACT_RECORD,   /* write the end record, tell the MOM */
    SHEP_ACT_CLOSE,    /* deliver, clean up */
    SHEP_ACTION_COUNT
};

struct shep_row {
    enum shep_state state;
    enum shep_event event;
    enum shep_action action;
    enum shep_state next;
};

/* The row for a pair; NULL: nothing happens, which is an answer too (a late or repeated event). */
const struct shep_row *shep_fsm_find(enum shep_state s, enum shep_event ev);

#endif
