/* Answering what is parked on a job. See settle_parked.h.
 *
 * The state after a transition says which waits are over, and how: one that waits for a start is well when
 * the job runs, and also when it has run and ended in between. A job that is back or gone settles all that
 * is left, so that no request waits for what cannot come any more. */
#include "settle_parked.h"

#include "parked.h"
#include "pbs_error.h"
#include "schedulers.h"

static const char *why_not(const struct job *j)
{
    const char *comment = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);

    return comment ? comment : "the run has ended";
}

static void is_back(struct job *j)
{
    struct err e;

    parked_settle(j, PARKED_REQUEUE, NULL);
    parked_settle(j, PARKED_HOLD, NULL);
    err_set(&e, PBSE_MOMREJECT, "job %s is back in its queue: %s", j->obj.name, why_not(j));
    parked_settle_all(j, &e);
}

/* A request that waited for its start saw one, if it had begun. */
static void settle_parked_is_over(struct job *j)
{
    struct err e;

    if (j->exited)
        parked_settle(j, PARKED_RUN, NULL);
    err_set(&e, PBSE_UNKJOBID, "Unknown Job Id %s: it has ended", j->obj.name);
    parked_settle_all(j, &e);
}

static void settle_parked_answer(struct job *j)
{
    if (!j->parked)
        return;
    if (j->state != JOB_STARTING && !job_is_waiting(j) && !job_is_over(j))
        parked_settle(j, PARKED_START, NULL);
    if (j->state == JOB_RUNNING) {
        parked_settle(j, PARKED_RUN, NULL);
        parked_settle(j, PARKED_RESUME, NULL);
    } else if (j->state == JOB_SUSPENDED) {
        parked_settle(j, PARKED_SUSPEND, NULL);
    } else if (job_is_waiting(j)) {
        is_back(j);
    } else if (job_is_over(j)) {
        settle_parked_is_over(j);
    }
}

static bool held_nodes(enum job_state s)
{
    return s == JOB_STARTING || s == JOB_RUNNING || s == JOB_EXITING;
}

void settle_parked_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct parts *p = arg;

    settle_parked_answer(j);
    if (j->state == JOB_QUEUED && from != JOB_QUEUED)
        schedulers_wake_all(p->schedulers, SCHED_CMD_NEW);
    if (held_nodes(from) && !held_nodes(j->state))
        schedulers_wake_all(p->schedulers, SCHED_CMD_TERM);
}

/* A job that cannot be saved at all runs on, and its hold counts when it comes back. */
static bool is_no_failure(const struct server_event *ev)
{
    return ev->kind == EVENT_RUN_NOT_CHECKPOINTED && ev->why->code == PBSE_NOSUP;
}

void settle_parked_on_failed(void *arg, const struct server_event *ev)
{
    parked_settle(ev->job,
                  ev->kind == EVENT_RUN_NOT_SUSPENDED ? PARKED_SUSPEND
                  : ev->kind == EVENT_RUN_NOT_RESUMED ? PARKED_RESUME
                                                      : PARKED_HOLD,
                  is_no_failure(ev) ? NULL : ev->why);
}
