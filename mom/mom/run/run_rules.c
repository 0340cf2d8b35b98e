/* The life of a run on this host, a row for each event that means something in a state. A run whose state is
 *   PREPARING  has no order on disk yet: an earlier run of the job, its image or its script are waited for (start/prepare.c);
 *   READY      has its begin hooks run, is reported, waits for LAUNCH and does the launch steps (start/act_start.c), the prologue
 *              among them. TERMINATE stops them, and the run ends without a start;
 *   LAUNCHING  has a shepherd that has not reported a start. TERMINATE reaches it as soon as it listens; SUSPEND and CHECKPOINT
 *              are refused, since there is no process yet;
 *   RUNNING, SUSPENDED  has processes. The state changes when the shepherd has done it, not when the server orders it: SUSPEND
 *              leaves RUNNING, SUSPENDED leads out of it. An order that asks for what is true already is answered by the outcome
 *              again, because the server repeats an order whose answer it has lost;
 *   ENDING     has sent its finish. Epilogue, delivery and cleaning follow, in this order, and only forwards;
 *   RELEASED   has sent its last event. It is kept until PURGE, which the server sends when it has all events: so no end is lost.
 *
 * ENDED and SHEPHERD_LOST come in every state with a shepherd, and exclude one another. PURGE is accepted in every state; before
 * RELEASED it kills, and is remembered. To add a row, name its action in run_fsm.h and bind it in end/actions.c; run_fsm_test.c
 * walks all pairs. */
#include "run_rules.h"

const struct run_row run_rules[] = {
    {RUN_PREPARING, RUN_EV_PREPARED, RUN_ACT_SAY_READY, RUN_READY},
    {RUN_PREPARING, RUN_EV_FAILED, RUN_ACT_FAIL, RUN_ENDING},
    {RUN_PREPARING, RUN_EV_TERMINATE, RUN_ACT_GIVE_UP, RUN_ENDING},
    {RUN_PREPARING, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_PREPARING},

    {RUN_READY, RUN_EV_PREPARED, RUN_ACT_SAY_READY, RUN_READY}, /* its begin hooks have answered */
    {RUN_READY, RUN_EV_LAUNCH, RUN_ACT_PROLOGUE, RUN_READY},
    {RUN_READY, RUN_EV_PROLOGUE_OK, RUN_ACT_LAUNCH, RUN_LAUNCHING},
    {RUN_READY, RUN_EV_FAILED, RUN_ACT_FAIL, RUN_ENDING},
    {RUN_READY, RUN_EV_TERMINATE, RUN_ACT_GIVE_UP, RUN_ENDING},
    {RUN_READY, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_READY},

    {RUN_LAUNCHING, RUN_EV_STARTED, RUN_ACT_SAY_START, RUN_RUNNING},
    {RUN_LAUNCHING, RUN_EV_ENDED, RUN_ACT_END, RUN_ENDING},
    {RUN_LAUNCHING, RUN_EV_FAILED, RUN_ACT_FAIL, RUN_ENDING},
    {RUN_LAUNCHING, RUN_EV_SHEPHERD_LOST, RUN_ACT_LOST, RUN_ENDING},
    {RUN_LAUNCHING, RUN_EV_TERMINATE, RUN_ACT_TERMINATE, RUN_LAUNCHING},
    {RUN_LAUNCHING, RUN_EV_CHECKPOINT, RUN_ACT_SAY_FAILED, RUN_LAUNCHING},
    {RUN_LAUNCHING, RUN_EV_SUSPEND, RUN_ACT_SAY_FAILED, RUN_LAUNCHING},
    {RUN_LAUNCHING, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_LAUNCHING},

    {RUN_RUNNING, RUN_EV_SUSPEND, RUN_ACT_SUSPEND, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_SUSPENDED, RUN_ACT_SAY_SUSPENDED, RUN_SUSPENDED},
    {RUN_RUNNING, RUN_EV_RESUME, RUN_ACT_SAY_RESUMED, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_CHECKPOINT, RUN_ACT_CHECKPOINT, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_CHECKPOINTED, RUN_ACT_SAY_CHECKPOINTED, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_ATTEMPT_FAILED, RUN_ACT_SAY_FAILED, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_TERMINATE, RUN_ACT_TERMINATE, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_WITHDRAW, RUN_ACT_WITHDRAW, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_STAYED, RUN_ACT_SAY_STAYED, RUN_RUNNING},
    {RUN_RUNNING, RUN_EV_ENDED, RUN_ACT_END, RUN_ENDING},
    {RUN_RUNNING, RUN_EV_SHEPHERD_LOST, RUN_ACT_LOST, RUN_ENDING},
    {RUN_RUNNING, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_RUNNING},

    {RUN_SUSPENDED, RUN_EV_SUSPEND, RUN_ACT_SAY_SUSPENDED, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_RESUME, RUN_ACT_RESUME, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_RESUMED, RUN_ACT_SAY_RESUMED, RUN_RUNNING},
    {RUN_SUSPENDED, RUN_EV_CHECKPOINT, RUN_ACT_CHECKPOINT, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_CHECKPOINTED, RUN_ACT_SAY_CHECKPOINTED, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_ATTEMPT_FAILED, RUN_ACT_SAY_FAILED, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_TERMINATE, RUN_ACT_TERMINATE, RUN_SUSPENDED},
    {RUN_SUSPENDED, RUN_EV_ENDED, RUN_ACT_END, RUN_ENDING},
    {RUN_SUSPENDED, RUN_EV_SHEPHERD_LOST, RUN_ACT_LOST, RUN_ENDING},
    {RUN_SUSPENDED, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_SUSPENDED},

    {RUN_ENDING, RUN_EV_CHECKPOINTED, RUN_ACT_SAY_CHECKPOINTED, RUN_ENDING}, /* its tool has ended the job */
    {RUN_ENDING, RUN_EV_ATTEMPT_FAILED, RUN_ACT_END_LATE, RUN_ENDING},
    {RUN_ENDING, RUN_EV_EPILOGUE_OK, RUN_ACT_CLOSE, RUN_ENDING},
    {RUN_ENDING, RUN_EV_CLOSED, RUN_ACT_RELEASE, RUN_RELEASED},
    {RUN_ENDING, RUN_EV_PURGE, RUN_ACT_PURGE_LATER, RUN_ENDING},

    {RUN_RELEASED, RUN_EV_PURGE, RUN_ACT_FORGET, RUN_GONE},
};

const size_t run_rules_n = sizeof run_rules / sizeof run_rules[0];
