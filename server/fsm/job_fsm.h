#ifndef JOB_FSM_H
#define JOB_FSM_H
/* The state machine of jobs: states, events, and the one function that changes a state.
 *
 * Requests, execution services, timers and preemptions only ever post events. The rows (job_rules.c) say what
 * an event does in a state: the first row of (state, event) whose guard holds names an action and the next
 * state. The assembly binds actions to the modules that perform them, so this file depends on none of them. An event
 * posted while another one is being handled is queued and handled after it. After each transition the listeners
 * are called, in the order in which they were bound (the table in assembly_events.c has the reasons).
 *
 *     ARRIVING --SUBMIT--> QUEUED <--> HELD <--> WAITING
 *                            | RUN
 *                         STARTING --STARTED--> RUNNING <--SUSPENDED/RESUMED--> SUSPENDED
 *                            |                     |                               |
 *                            +---------- FINISH ---+------------- FINISH ----------+
 *                                                  v
 *                                               EXITING --RUN_OVER--> FINISHED | GONE | QUEUED, HELD, WAITING
 *
 * What happens to the job when its run is over (it is deleted, requeued or finished) is a field of the job
 * (intent), not a state. The PBS letter and substate are computed from both in job_view.c.
 *
 * Actions are idempotent: after a crash the entry action of the restored state runs again (job_fsm_enter). Loop
 * thread only.
 */
#include <stddef.h>

#include "job.h"

struct job_fsm;

enum job_event {
    EV_SUBMIT,    /* complete and admitted */
    EV_REVIEW,    /* holds, start time or dependencies may have changed */
    EV_RUN,       /* resources are claimed: start it */
    EV_STARTED,   /* the first host runs the script */
    EV_SUSPENDED, /* every host says so */
    EV_RESUMED,
    EV_FINISH,       /* the script's end is known; hosts still clean up */
    EV_RUN_OVER,     /* the last host has released */
    EV_DELETE,       /* a request to delete it */
    EV_REQUEUE,      /* a request to put it back into its queue */
    EV_FORCE_DELETE, /* delete now, whatever its hosts say */
    EV_FORCE_REQUEUE,
    EV_EXPIRE,      /* leave memory (history) */
    EV_ARRAY_BEGUN, /* an array: its first subjob was started */
    EV_ARRAY_OVER,  /* an array: its last subjob has ended */
    EV_COUNT
};

enum job_action {
    ACT_NONE,
    ACT_ENQUEUE,   /* it is new in its queue */
    ACT_WAIT,      /* it waits (again): holds, timers, eligible time */
    ACT_WAIT_ON,   /* it waited before the server was started: timers */
    ACT_START,     /* claim is made: write the run, order the hosts */
    ACT_STARTED,   /* note start time */
    ACT_SUSPENDED, /* give back what a suspended job gives back */
    ACT_RESUMED,
    ACT_FINISH,    /* note exit status and usage */
    ACT_TERMINATE, /* order the hosts to end it, with more force each time */
    ACT_REQUEUE,   /* the run is over and the job goes back */
    ACT_END,       /* the run is over, and so is the job */
    ACT_DROP,      /* it never ran: end without a run */
    ACT_ABANDON,   /* forget the hosts, then end */
    ACT_ABANDON_REQUEUE,
    ACT_FORGET, /* out of memory */
    ACT_COUNT
};

typedef void job_action_fn(void *arg, struct job *j);
typedef void job_listener_fn(void *arg, struct job *j, enum job_state from, enum job_event ev);

struct job_fsm *job_fsm_create(void);
void job_fsm_destroy(struct job_fsm *f);

/* ^ Bind the function that performs an action. Every action except NONE is bound before the first event. */
void job_fsm_bind(struct job_fsm *f, enum job_action a, job_action_fn *fn, void *arg);
/* ^ Add a listener, called at every transition, in the order of these calls. */
void job_fsm_listen(struct job_fsm *f, job_listener_fn *fn, void *arg);

/* Post an event. Unless this is called from inside an action or listener it is handled before the call
 * returns, with all that it causes; the job may be freed then, so look it up again, or hold a reference.
 * An event without a row is logged (at level debug if it is only late) and changes nothing. */
void job_fsm_post(struct job_fsm *f, struct job *j, enum job_event ev);

/* After a restart: run the entry action of the state this job was restored in. */
void job_fsm_enter(struct job_fsm *f, struct job *j);

const char *job_event_name(enum job_event ev);
const char *job_action_name(enum job_action a); /* for tests */

/* ---- the rows, for tests and for drawings */
typedef bool job_guard_fn(const struct job *j);
struct job_rule {
    enum job_state in;
    enum job_event event;
    job_guard_fn *when; /* NULL: always */
    enum job_action act;
    enum job_state to;
};
extern const struct job_rule job_rules[];
extern const size_t job_rules_count;
/* Which action a restored job's state runs again. */
extern const enum job_action job_entry_action[JOB_STATE_COUNT];
/* Return true if an event without a row in this state is only late, false if it is an error of the server. */
bool job_rule_is_late(enum job_state s, enum job_event ev);

#endif
