/* The actions of a run, as the machine names them, each in the file of its time of life: act_start, act_running, act_end,
 * act_leave.
 *
 * Each is idempotent, since the last one may be done again after a crash: what is said twice has the same number
 * (journal), what is started twice is held once (shepherd), what is delivered twice is there once. An action either does
 * its work and posts the next event, or asks another part that will: a script, a shepherd, a worker. What then comes back may
 * find the run in another state, so such functions only post or look first whether the run is still active. */
#include "actions.h"

#include "act_end.h"
#include "act_leave.h"
#include "act_running.h"
#include "act_start.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "run_serialize.h"

run_action_fn *const actions[RUN_ACTION_COUNT] = {
    [RUN_ACT_SAY_READY] = act_start_ready,
    [RUN_ACT_PROLOGUE] = act_start_prologue,
    [RUN_ACT_LAUNCH] = act_start_launch,
    [RUN_ACT_SAY_START] = act_start_begun,
    [RUN_ACT_SUSPEND] = act_running_suspend,
    [RUN_ACT_SAY_SUSPENDED] = act_running_suspended,
    [RUN_ACT_RESUME] = act_running_resume,
    [RUN_ACT_SAY_RESUMED] = act_running_resumed,
    [RUN_ACT_CHECKPOINT] = act_running_checkpoint,
    [RUN_ACT_SAY_CHECKPOINTED] = act_end_checkpointed,
    [RUN_ACT_SAY_FAILED] = act_running_failed,
    [RUN_ACT_END_LATE] = act_end_late,
    [RUN_ACT_TERMINATE] = act_running_terminate,
    [RUN_ACT_WITHDRAW] = act_running_withdraw,
    [RUN_ACT_SAY_STAYED] = act_running_stayed,
    [RUN_ACT_GIVE_UP] = act_end_give_up,
    [RUN_ACT_FAIL] = act_end_fail,
    [RUN_ACT_LOST] = act_end_lost,
    [RUN_ACT_END] = act_end_recorded,
    [RUN_ACT_CLOSE] = act_leave_close,
    [RUN_ACT_RELEASE] = act_leave_release,
    [RUN_ACT_PURGE_LATER] = act_leave_purge_later,
    [RUN_ACT_FORGET] = act_leave_forget,
};

void actions_step_done(void *ctx, struct run *r, enum step which, enum step_verdict v, bool ran, int code)
{
    if (which == STEP_PROLOGUE)
        act_start_prologue_done(ctx, r, v, ran, code);
    else if (which == STEP_EPILOGUE)
        act_end_epilogue_done(ctx, r, ran);
}

void actions_changed(void *ctx, struct run *r, enum run_state before, enum run_event ev)
{
    struct mom *m = ctx;

    if (log_is_on(LOGE_DEBUG3))
        log_event(LOGC_JOB, LOGE_DEBUG3, r->id, "run %u: %s, %s", r->key.run, run_fsm_event_name(ev),
                  run_fsm_state_name(before));
    if (before < RUN_RELEASED && r->slot.state >= RUN_RELEASED)
        run_serialize_released(m, r);
    if (r->slot.state == RUN_GONE)
        run_drop(m->runs, r);
}

void actions_odd(void *ctx, struct run *r, enum run_event ev)
{
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "run %u: %s means nothing while %s", r->key.run,
              run_fsm_event_name(ev), run_fsm_state_name(r->slot.state));
}
