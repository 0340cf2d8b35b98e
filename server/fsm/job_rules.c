/* The rows of the job machine: what each event means in each state. See job_fsm.h.
 *
 * A row: in this state, at this event, when the guard holds, perform the action and be in that state. Where several rows
 * have one (state, event), the first whose guard holds counts; the last one has none.
 *
 * To add a state or an event: its enum member and name, its rows here, its entry action below, and its row of may_be_late. Every pair that can happen has a row. job_fsm_test.c walks all pairs and finds rows that
 * none of their pair's events reaches. Guards read the job only, and have no side effects: which intent a run ends with is
 * decided by job_end.c before it posts RUN_OVER. */
#include "job_fsm.h"

#include <assert.h>

static bool job_rules_held(const struct job *j)
{
    return j->hold != 0;
}

static bool job_rules_too_early(const struct job *j)
{
    return j->exec_time_s != 0;
}

static bool job_rules_goes_back(const struct job *j)
{
    return j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT;
}

static bool job_rules_goes_back_held(const struct job *j)
{
    return job_rules_goes_back(j) && job_rules_held(j);
}

static bool job_rules_goes_back_early(const struct job *j)
{
    return job_rules_goes_back(j) && job_rules_too_early(j);
}

/* clang-format off */
const struct job_rule job_rules[] = {
    /* Without a run no host has to answer: what is requested is done at once. */
    /* in           event             when                      do                   goes to */
    {JOB_ARRIVING,  EV_SUBMIT,        job_rules_held,           ACT_ENQUEUE,         JOB_HELD},
    {JOB_ARRIVING,  EV_SUBMIT,        job_rules_too_early,      ACT_ENQUEUE,         JOB_WAITING},
    {JOB_ARRIVING,  EV_SUBMIT,        NULL,                     ACT_ENQUEUE,         JOB_QUEUED},
    {JOB_ARRIVING,  EV_DELETE,        NULL,                     ACT_FORGET,          JOB_GONE},
    {JOB_ARRIVING,  EV_FORCE_DELETE,  NULL,                     ACT_FORGET,          JOB_GONE},

    {JOB_QUEUED,    EV_REVIEW,        job_rules_held,           ACT_WAIT,            JOB_HELD},
    {JOB_QUEUED,    EV_REVIEW,        job_rules_too_early,      ACT_WAIT,            JOB_WAITING},
    {JOB_QUEUED,    EV_REVIEW,        NULL,                     ACT_NONE,            JOB_QUEUED},
    {JOB_QUEUED,    EV_RUN,           NULL,                     ACT_START,           JOB_STARTING},
    {JOB_QUEUED,    EV_DELETE,        NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_QUEUED,    EV_FORCE_DELETE,  NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_QUEUED,    EV_REQUEUE,       NULL,                     ACT_NONE,            JOB_QUEUED},
    {JOB_QUEUED,    EV_ARRAY_BEGUN,   NULL,                     ACT_NONE,            JOB_QUEUED},
    {JOB_QUEUED,    EV_ARRAY_OVER,    NULL,                     ACT_END,             JOB_FINISHED},

    {JOB_HELD,      EV_REVIEW,        job_rules_held,           ACT_NONE,            JOB_HELD},
    {JOB_HELD,      EV_REVIEW,        job_rules_too_early,      ACT_WAIT,            JOB_WAITING},
    {JOB_HELD,      EV_REVIEW,        NULL,                     ACT_WAIT,            JOB_QUEUED},
    {JOB_HELD,      EV_RUN,           NULL,                     ACT_START,           JOB_STARTING},  /* qrun of a held job */
    {JOB_HELD,      EV_DELETE,        NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_HELD,      EV_FORCE_DELETE,  NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_HELD,      EV_REQUEUE,       NULL,                     ACT_NONE,            JOB_HELD},
    {JOB_HELD,      EV_ARRAY_BEGUN,   NULL,                     ACT_NONE,            JOB_HELD},
    {JOB_HELD,      EV_ARRAY_OVER,    NULL,                     ACT_END,             JOB_FINISHED},

    {JOB_WAITING,   EV_REVIEW,        job_rules_held,           ACT_WAIT,            JOB_HELD},
    {JOB_WAITING,   EV_REVIEW,        job_rules_too_early,      ACT_NONE,            JOB_WAITING},
    {JOB_WAITING,   EV_REVIEW,        NULL,                     ACT_WAIT,            JOB_QUEUED},
    {JOB_WAITING,   EV_RUN,           NULL,                     ACT_START,           JOB_STARTING},
    {JOB_WAITING,   EV_DELETE,        NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_WAITING,   EV_FORCE_DELETE,  NULL,                     ACT_DROP,            JOB_FINISHED},
    {JOB_WAITING,   EV_REQUEUE,       NULL,                     ACT_NONE,            JOB_WAITING},
    {JOB_WAITING,   EV_ARRAY_BEGUN,   NULL,                     ACT_NONE,            JOB_WAITING},
    {JOB_WAITING,   EV_ARRAY_OVER,    NULL,                     ACT_END,             JOB_FINISHED},

    /* From here on a run has hosts. DELETE and REQUEUE only ask these to end it: the state changes with
     * RUN_OVER, when none has anything of the run left, and the intent says where to. A forced end waits for no
     * host: a host that cannot be told now kills what it has when it next says HELLO, since the server no
     * longer knows the run. */
    {JOB_STARTING,  EV_STARTED,       NULL,                     ACT_STARTED,         JOB_RUNNING},
    {JOB_STARTING,  EV_FINISH,        NULL,                     ACT_FINISH,          JOB_EXITING},
    {JOB_STARTING,  EV_RUN_OVER,      job_rules_goes_back_held, ACT_REQUEUE,         JOB_HELD},  /* START was refused */
    {JOB_STARTING,  EV_RUN_OVER,      job_rules_goes_back_early,ACT_REQUEUE,         JOB_WAITING},
    {JOB_STARTING,  EV_RUN_OVER,      job_rules_goes_back,      ACT_REQUEUE,         JOB_QUEUED},
    {JOB_STARTING,  EV_RUN_OVER,      NULL,                     ACT_END,             JOB_FINISHED},
    {JOB_STARTING,  EV_DELETE,        NULL,                     ACT_TERMINATE,       JOB_STARTING},
    {JOB_STARTING,  EV_REQUEUE,       NULL,                     ACT_TERMINATE,       JOB_STARTING},
    {JOB_STARTING,  EV_FORCE_DELETE,  NULL,                     ACT_ABANDON,         JOB_FINISHED},
    {JOB_STARTING,  EV_FORCE_REQUEUE, job_rules_held,           ACT_ABANDON_REQUEUE, JOB_HELD},
    {JOB_STARTING,  EV_FORCE_REQUEUE, NULL,                     ACT_ABANDON_REQUEUE, JOB_QUEUED},
    {JOB_STARTING,  EV_REVIEW,        NULL,                     ACT_NONE,            JOB_STARTING},

    {JOB_RUNNING,   EV_STARTED,       NULL,                     ACT_NONE,            JOB_RUNNING},  /* a MOM may repeat itself */
    {JOB_RUNNING,   EV_SUSPENDED,     NULL,                     ACT_SUSPENDED,       JOB_SUSPENDED},
    {JOB_RUNNING,   EV_RESUMED,       NULL,                     ACT_NONE,            JOB_RUNNING},
    {JOB_RUNNING,   EV_FINISH,        NULL,                     ACT_FINISH,          JOB_EXITING},
    {JOB_RUNNING,   EV_RUN_OVER,      job_rules_goes_back_held, ACT_REQUEUE,         JOB_HELD},  /* every host lost */
    {JOB_RUNNING,   EV_RUN_OVER,      job_rules_goes_back_early,ACT_REQUEUE,         JOB_WAITING},
    {JOB_RUNNING,   EV_RUN_OVER,      job_rules_goes_back,      ACT_REQUEUE,         JOB_QUEUED},
    {JOB_RUNNING,   EV_RUN_OVER,      NULL,                     ACT_END,             JOB_FINISHED},
    {JOB_RUNNING,   EV_DELETE,        NULL,                     ACT_TERMINATE,       JOB_RUNNING},
    {JOB_RUNNING,   EV_REQUEUE,       NULL,                     ACT_TERMINATE,       JOB_RUNNING},
    {JOB_RUNNING,   EV_FORCE_DELETE,  NULL,                     ACT_ABANDON,         JOB_FINISHED},
    {JOB_RUNNING,   EV_FORCE_REQUEUE, job_rules_held,           ACT_ABANDON_REQUEUE, JOB_HELD},
    {JOB_RUNNING,   EV_FORCE_REQUEUE, NULL,                     ACT_ABANDON_REQUEUE, JOB_QUEUED},
    {JOB_RUNNING,   EV_REVIEW,        NULL,                     ACT_NONE,            JOB_RUNNING},

    {JOB_SUSPENDED, EV_SUSPENDED,     NULL,                     ACT_NONE,            JOB_SUSPENDED},
    {JOB_SUSPENDED, EV_RESUMED,       NULL,                     ACT_RESUMED,         JOB_RUNNING},
    {JOB_SUSPENDED, EV_FINISH,        NULL,                     ACT_FINISH,          JOB_EXITING},
    {JOB_SUSPENDED, EV_RUN_OVER,      job_rules_goes_back_held, ACT_REQUEUE,         JOB_HELD},
    {JOB_SUSPENDED, EV_RUN_OVER,      job_rules_goes_back_early,ACT_REQUEUE,         JOB_WAITING},
    {JOB_SUSPENDED, EV_RUN_OVER,      job_rules_goes_back,      ACT_REQUEUE,         JOB_QUEUED},
    {JOB_SUSPENDED, EV_RUN_OVER,      NULL,                     ACT_END,             JOB_FINISHED},
    {JOB_SUSPENDED, EV_DELETE,        NULL,                     ACT_TERMINATE,       JOB_SUSPENDED},
    {JOB_SUSPENDED, EV_REQUEUE,       NULL,                     ACT_TERMINATE,       JOB_SUSPENDED},
    {JOB_SUSPENDED, EV_FORCE_DELETE,  NULL,                     ACT_ABANDON,         JOB_FINISHED},
    {JOB_SUSPENDED, EV_FORCE_REQUEUE, job_rules_held,           ACT_ABANDON_REQUEUE, JOB_HELD},
    {JOB_SUSPENDED, EV_FORCE_REQUEUE, NULL,                     ACT_ABANDON_REQUEUE, JOB_QUEUED},
    {JOB_SUSPENDED, EV_REVIEW,        NULL,                     ACT_NONE,            JOB_SUSPENDED},

    /* The script is over; hosts clean up, deliver and release. REQUEUE finds nothing left to end: the intent decides when the
     * last of them has released it. */
    {JOB_EXITING,   EV_FINISH,        NULL,                     ACT_NONE,            JOB_EXITING},  /* a MOM may repeat itself */
    {JOB_EXITING,   EV_RUN_OVER,      job_rules_goes_back_held, ACT_REQUEUE,         JOB_HELD},
    {JOB_EXITING,   EV_RUN_OVER,      job_rules_goes_back_early,ACT_REQUEUE,         JOB_WAITING},
    {JOB_EXITING,   EV_RUN_OVER,      job_rules_goes_back,      ACT_REQUEUE,         JOB_QUEUED},
    {JOB_EXITING,   EV_RUN_OVER,      NULL,                     ACT_END,             JOB_FINISHED},
    {JOB_EXITING,   EV_DELETE,        NULL,                     ACT_TERMINATE,       JOB_EXITING},
    {JOB_EXITING,   EV_REQUEUE,       NULL,                     ACT_NONE,            JOB_EXITING},
    {JOB_EXITING,   EV_FORCE_DELETE,  NULL,                     ACT_ABANDON,         JOB_FINISHED},
    {JOB_EXITING,   EV_FORCE_REQUEUE, job_rules_held,           ACT_ABANDON_REQUEUE, JOB_HELD},
    {JOB_EXITING,   EV_FORCE_REQUEUE, NULL,                     ACT_ABANDON_REQUEUE, JOB_QUEUED},
    {JOB_EXITING,   EV_REVIEW,        NULL,                     ACT_NONE,            JOB_EXITING},

    {JOB_FINISHED,  EV_EXPIRE,        NULL,                     ACT_FORGET,          JOB_GONE},
};
/* clang-format on */

const size_t job_rules_count = sizeof job_rules / sizeof job_rules[0];

/* Done for each job after a restart. A run that has begun needs nothing of us: what its hosts hold they say at HELLO, and
 * events that were not acknowledged they send again. A START may have been lost with the crash, so it is given again; a host
 * that has it takes it for the same. */
const enum job_action job_entry_action[JOB_STATE_COUNT] = {
    [JOB_ARRIVING] = ACT_NONE,   [JOB_QUEUED] = ACT_WAIT_ON, [JOB_HELD] = ACT_WAIT_ON,
    [JOB_WAITING] = ACT_WAIT_ON, [JOB_STARTING] = ACT_START, [JOB_RUNNING] = ACT_NONE,
    [JOB_SUSPENDED] = ACT_NONE,  [JOB_EXITING] = ACT_NONE,   [JOB_FINISHED] = ACT_NONE,
    [JOB_GONE] = ACT_NONE,
};

/* Events that may come when their moment is past, for a host repeats itself and two causes may cross; all others in a state
 * without a row are mistakes of ours. */
static const bool may_be_late[] = {
    [EV_STARTED] = true,      [EV_SUSPENDED] = true,     [EV_RESUMED] = true,      [EV_FINISH] = true,
    [EV_RUN_OVER] = true,     [EV_REVIEW] = true,        [EV_DELETE] = true,       [EV_REQUEUE] = true,
    [EV_FORCE_DELETE] = true, [EV_FORCE_REQUEUE] = true, [EV_ARRAY_OVER] = true,   [EV_EXPIRE] = true,
    [EV_SUBMIT] = false,      [EV_RUN] = false,          [EV_ARRAY_BEGUN] = false,
};
static_assert(EV_COUNT == 15, "a new event has its row in may_be_late");

bool job_rule_is_late(enum job_state s, enum job_event ev)
{
    if (ev == EV_EXPIRE && (s == JOB_RUNNING || s == JOB_STARTING))
        return false;
    return may_be_late[ev];
}
