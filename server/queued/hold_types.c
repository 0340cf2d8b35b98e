/* Holds of jobs. See hold_types.h. The attribute Hold_Types shows the same bits, but those of a dependency and of a held array. A change
 * posts EV_REVIEW, and the machine decides whether the job waits, is held, or is queued; nothing is decided here. */
#include "hold_types.h"

#include "job_fsm.h"
#include "pbs_error.h"
#include "server_ctx.h"

int hold_types_may(unsigned bits, enum level level, struct err *e)
{
    if ((bits & (HOLD_SYSTEM | HOLD_BAD_PASSWORD)) && level < LEVEL_MANAGER)
        return err_set(e, PBSE_PERM, "Unauthorized Request : a system hold is a manager's");
    if ((bits & HOLD_OTHER) && level < LEVEL_OPERATOR)
        return err_set(e, PBSE_PERM, "Unauthorized Request : an \"o\" hold is an operator's");
    return 0;
}

void hold_types_change(struct server_ctx *s, struct job_fsm *f, struct job *j, unsigned set, unsigned clear)
{
    unsigned now = (j->hold & ~clear) | set;

    if (now == j->hold)
        return;
    j->hold = now;
    j->dependent = (now & HOLD_DEPEND) != 0;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_Hold_Types, now & ~(unsigned)(HOLD_DEPEND | HOLD_ARRAY),
                         NULL);
    if (!now)
        j->etime_s = server_ctx_now_s(s);
    jobs_touch(s->jobs, j, PART_HOT | PART_ATTRS);
    if (j->state != JOB_ARRIVING)
        job_fsm_post(f, j, EV_REVIEW);
}
