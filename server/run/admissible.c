/* See admissible.h. */
#include "admissible.h"

#include "pbs_error.h"
#include "queue.h"

int admissible(const struct job *j, struct err *e)
{
    if (j->state != JOB_QUEUED)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    if (!j->queue || !queue_is_execution(j->queue))
        return err_set(e, PBSE_BADSTATE, "job %s is in no execution queue", j->obj.name);
    if (!queue_is_started(j->queue))
        return err_set(e, PBSE_BADSTATE, "queue %s of job %s is not started", j->queue->obj.name,
                       j->obj.name);
    return 0;
}
