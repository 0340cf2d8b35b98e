/* While a job is being stopped its processes have the whole grace to leave in order: that the first one has gone
 * does not shorten it, nor does an order that is repeated, as a server does that has lost its connection. A harder order
 * has no grace. A job that ends by itself leaves no such grace to what it left behind.
 *
 * An order that is withdrawn stops nothing at once: what the job does until the grace is over may be the answer to SIGTERM, so an end
 * then is the end that was ordered. If the first process is gone by then, what it left has the rest of the grace. */
#include "shep_fsm.h"

#include <stddef.h>

static const struct shep_row rows[] = {
    {SHEP_BEGIN, SHEP_EV_LAUNCHED, SHEP_ACT_STARTED, SHEP_RUNNING},
    {SHEP_BEGIN, SHEP_EV_SETUP_FAILED, SHEP_ACT_RECORD, SHEP_ENDED},

    {SHEP_RUNNING, SHEP_EV_TERMINATE, SHEP_ACT_TERM, SHEP_STOPPING},
    {SHEP_RUNNING, SHEP_EV_KILL, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_RUNNING, SHEP_EV_WALLTIME, SHEP_ACT_WALLTIME, SHEP_STOPPING},
    {SHEP_RUNNING, SHEP_EV_MAIN_ENDED, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_RUNNING, SHEP_EV_ALL_ENDED, SHEP_ACT_RECORD, SHEP_ENDED},

    {SHEP_STOPPING, SHEP_EV_KILL, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_STOPPING, SHEP_EV_WITHDRAW, SHEP_ACT_NONE, SHEP_WITHDRAWN},
    {SHEP_STOPPING, SHEP_EV_GRACE_OVER, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_STOPPING, SHEP_EV_ALL_ENDED, SHEP_ACT_RECORD, SHEP_ENDED},

    {SHEP_WITHDRAWN, SHEP_EV_TERMINATE, SHEP_ACT_TERM, SHEP_STOPPING},
    {SHEP_WITHDRAWN, SHEP_EV_KILL, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_WITHDRAWN, SHEP_EV_GRACE_OVER, SHEP_ACT_STAY, SHEP_RUNNING},
    {SHEP_WITHDRAWN, SHEP_EV_MAIN_ENDED, SHEP_ACT_NONE, SHEP_STOPPING},
    {SHEP_WITHDRAWN, SHEP_EV_ALL_ENDED, SHEP_ACT_RECORD, SHEP_ENDED},

    {SHEP_KILLING, SHEP_EV_MAIN_ENDED, SHEP_ACT_KILL, SHEP_KILLING},
    {SHEP_KILLING, SHEP_EV_ALL_ENDED, SHEP_ACT_RECORD, SHEP_ENDED},
    {SHEP_KILLING, SHEP_EV_GIVE_UP, SHEP_ACT_RECORD, SHEP_ENDED},

    {SHEP_ENDED, SHEP_EV_CLOSE, SHEP_ACT_CLOSE, SHEP_CLOSED},
};

const struct shep_row *shep_fsm_find(enum shep_state s, enum shep_event ev)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].state == s && rows[i].event == ev)
            return &rows[i];
    return NULL;
}
