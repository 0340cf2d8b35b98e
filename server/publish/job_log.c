/* A job's life in the words of PBS. See job_log.h.
 *
 * It is told after the action, so of what is over it knows what stays for history: the queue's name, the run's number. */
#include "job_log.h"

#include "job_run.h"
#include "job_view.h"
#include "log.h"

static const char *job_log_queue_of(const struct job *j)
{
    return j->queue_name ? j->queue_name : "";
}

/* The substate that a run had before the transition: the job itself has the new one already. */
static int substate_of(enum job_state from)
{
    return from == JOB_STARTING ? 41 : from == JOB_SUSPENDED ? 43 : 42;
}

static void tell_event(const struct job *j, enum job_state from, enum job_event ev)
{
    const char *id = j->obj.name;

    if (ev == EV_SUBMIT)
        log_event(LOGC_JOB, LOGE_DEBUG, id, "enqueuing into %s, state %c hop 1", job_log_queue_of(j),
                  job_view_letter(j));
    else if (ev == EV_STARTED && j->session > 0)
        log_event(LOGC_JOB, LOGE_DEBUG, id, "Received session ID for job: %d", j->session);
    else if (ev == EV_FINISH && from != j->state)
        log_event(LOGC_JOB, LOGE_DEBUG, id, "Obit received momhop:%u serverhop:%u state:R substate:%d",
                  j->run_version, j->run_version, substate_of(from));
    else if (ev == EV_DELETE && j->run && !j->run->finished)
        log_event(LOGC_JOB, LOGE_JOB, id, "Job sent signal TermJob on delete");
    else if (ev == EV_FORCE_DELETE)
        log_event(LOGC_JOB, LOGE_JOB, id, "Delete forced");
}

void job_log_listen(void *ctx, struct job *j, enum job_state from, enum job_event ev)
{
    tell_event(j, from, ev);
    if (j->state == JOB_GONE && from != JOB_GONE)
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "dequeuing from %s, state %c", job_log_queue_of(j),
                  job_view_letter(j));
    else if (j->state != from)
        log_event(LOGC_JOB, LOGE_DEBUG3, j->obj.name, "Updated job state to %d and substate to %d",
                  job_view_number(j), job_view_substate(j));
}
