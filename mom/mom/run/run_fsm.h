#ifndef RUN_FSM_H
#define RUN_FSM_H
/* The machine of a run on this host: state and event give action and next state, from one table of rows.
 *
 * It knows no part: actions are named here, bound to functions by main. A part that learns something posts an event;
 * what belongs to it (attempt, grace, why) is written into the run before. An event posted during an action is applied
 * after it. A pair without a row changes nothing and is told to `odd`. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>

struct run;

enum run_state {
    RUN_PREPARING, /* START taken; the order is not written yet */
    RUN_READY,     /* waits for LAUNCH, or prologue and shepherd are on their way */
    RUN_LAUNCHING, /* the shepherd has been told */
    RUN_RUNNING,
    RUN_SUSPENDED,
    RUN_ENDING,   /* finish is said; epilogue, delivery, cleaning */
    RUN_RELEASED, /* the last release is said; waits for PURGE */
    RUN_GONE,     /* forgotten */
    RUN_STATE_COUNT
};

enum run_event {
    RUN_EV_PREPARED,
    RUN_EV_FAILED, /* could not be prepared or launched; run->failure says why */
    RUN_EV_LAUNCH, /* order of the server, or of START itself */
    RUN_EV_PROLOGUE_OK,
    RUN_EV_STARTED,       /* a record of the shepherd */
    RUN_EV_ENDED,         /* a record of the shepherd */
    RUN_EV_SHEPHERD_LOST, /* it is gone and has left no end */
    RUN_EV_SUSPEND,
    RUN_EV_SUSPENDED,
    RUN_EV_RESUME,
    RUN_EV_RESUMED,
    RUN_EV_CHECKPOINT, /* with run->ckpt */
    RUN_EV_CHECKPOINTED,
    RUN_EV_ATTEMPT_FAILED,
    RUN_EV_TERMINATE, /* with run->grace_s; again is harder */
    RUN_EV_WITHDRAW,  /* that order is withdrawn */
    RUN_EV_STAYED,    /* the job has not ended, and runs on */
    RUN_EV_EPILOGUE_OK,
    RUN_EV_CLOSED, /* delivered and clean */
    RUN_EV_PURGE,
    RUN_EVENT_COUNT
};

enum run_action {
    RUN_ACT_NONE,
    RUN_ACT_SAY_READY, /* or, when START said so, launch at once */
    RUN_ACT_PROLOGUE,
    RUN_ACT_LAUNCH, /* the shepherd */
    RUN_ACT_SAY_START,
    RUN_ACT_SUSPEND,
    RUN_ACT_SAY_SUSPENDED,
    RUN_ACT_RESUME,
    RUN_ACT_SAY_RESUMED,
    RUN_ACT_CHECKPOINT,
    RUN_ACT_SAY_CHECKPOINTED,
    RUN_ACT_SAY_FAILED, /* of an attempt */
    RUN_ACT_END_LATE,   /* the end that a checkpoint has kept waiting */
    RUN_ACT_TERMINATE,
    RUN_ACT_WITHDRAW,
    RUN_ACT_SAY_STAYED,
    RUN_ACT_GIVE_UP, /* nothing runs yet: finish as terminated */
    RUN_ACT_FAIL,    /* finish with run->failure */
    RUN_ACT_LOST,    /* kill what the lost shepherd left, finish */
    RUN_ACT_END,     /* finish by the end record */
    RUN_ACT_CLOSE,   /* after the epilogue */
    RUN_ACT_RELEASE,
    RUN_ACT_PURGE_LATER, /* asked for while something is still there: kill, forget when released */
    RUN_ACT_FORGET,
    RUN_ACTION_COUNT
};

struct run_row {
    enum run_state state;
    enum run_event event;
    enum run_action action;
    enum run_state next;
};

/* A choice: an action posts one or two events, and they are applied before the loop continues. A full queue means actions that post
 * to one another in a circle; an assertion fails then. */
enum { RUN_QUEUE_MAX = 16 };

struct run_slot { /* in each run; written here only, but for the state that `recover` sets */
    enum run_state state;
    bool busy;
    size_t n_waiting;
    enum run_event waiting[RUN_QUEUE_MAX];
};

typedef void run_action_fn(void *ctx, struct run *r);

struct run_machine {
    const struct run_row *rows;
    size_t n_rows;
    run_action_fn *act[RUN_ACTION_COUNT]; /* NULL only for NONE */
    void *ctx;
    /* ^ after each step, action done; the run may be freed in it only when the state is GONE */
    void (*changed)(void *ctx, struct run *r, enum run_state before, enum run_event ev);
    void (*odd)(void *ctx, struct run *r, enum run_event ev);
};

void run_fsm_post(const struct run_machine *m, struct run *r, struct run_slot *s, enum run_event ev);
const struct run_row *run_fsm_find(const struct run_row *rows, size_t n, enum run_state s, enum run_event ev);

const char *run_fsm_state_name(enum run_state s);
const char *run_fsm_event_name(enum run_event ev);

#endif
