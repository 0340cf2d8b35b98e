/* An order to end is withdrawn. See run_withdraw.h.
 *
 * A host answers when the time between SIGTERM and SIGKILL is over: only then is it known that the job has not taken SIGTERM for the
 * order that it was. Until then nothing has changed but what the hosts are to do: the job has its intent, so an end that crosses
 * the withdrawal is the end that was ordered. */
#include "run_withdraw.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "exec_send.h"
#include "job_run.h"
#include "log.h"
#include "run_terminate.h"
#include "server_ctx.h"

struct run_withdraw {
    struct server_ctx *ctx;
    struct exec_send *send;
};

struct run_withdraw *run_withdraw_create(struct server_ctx *s, struct exec_send *x)
{
    struct run_withdraw *w = calloc(1, sizeof *w);

    if (w)
        *w = (struct run_withdraw){s, x};
    return w;
}

void run_withdraw_destroy(struct run_withdraw *w)
{
    free(w);
}

/* Hosts that the job has given back count no more. */
static bool all_hosts_run(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (!r->hosts[i].leaving && r->hosts[i].state != RUN_HOST_READY)
            return false;
    return true;
}

static bool all_stay(const struct run *r)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (!r->hosts[i].leaving && !r->hosts[i].stays)
            return false;
    return true;
}

/* Nothing else was asked of the run that would have to be withdrawn too. */
static bool is_quiet(const struct run *r)
{
    return !r->withdrawing && !r->finished && !r->lost && !r->deleted_by && !r->suspending && !r->resuming &&
           !r->checkpointing && !r->over_limit;
}

static bool run_withdraw_may(const struct run_withdraw *w, const struct job *j)
{
    const struct run *r = j->run;

    if (!r || j->state != JOB_RUNNING || (j->intent != INTENT_REQUEUE && j->intent != INTENT_DELETE))
        return false;
    return r->terminations == 1 && is_quiet(r) && all_hosts_run(r) && exec_send_can_withdraw(w->send, j);
}

bool run_withdraw_begin(struct run_withdraw *w, struct job *j)
{
    if (!run_withdraw_may(w, j))
        return false;
    j->run->withdrawing = true;
    j->run->attempt++;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        j->run->hosts[i].stays = false;
    jobs_touch(w->ctx->jobs, j, PART_HOT);
    exec_send_withdraw(w->send, j);
    return true;
}

void run_withdraw_on_resumed(void *arg, const struct server_event *ev)
{
    struct run_withdraw *w = arg;
    struct job *j = ev->job;

    if (!job_run_is_withdrawing(j) || !all_stay(j->run))
        return;
    j->run->withdrawing = false;
    j->run->terminations = 0;
    j->intent = INTENT_NONE;
    jobs_touch(w->ctx->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "was told to end, did not, and runs on: that was withdrawn");
    server_events_tell(w->ctx->events, &(struct server_event){.kind = EVENT_RUN_STAYS, .job = j});
}

/* Hosts where it would have run on get SIGTERM again. */
static void run_withdraw_fail(struct run_withdraw *w, struct job *j, const char *why)
{
    j->run->withdrawing = false;
    j->run->attempt++;
    jobs_touch(w->ctx->jobs, j, PART_HOT);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "its end cannot be withdrawn any more: %s", why);
    exec_send_terminate(w->send, j, run_terminate_why(j), run_terminate_grace_s(j));
    server_events_tell(w->ctx->events, &(struct server_event){.kind = EVENT_RUN_ENDS, .job = j});
}

void run_withdraw_on_failed(void *arg, const struct server_event *ev)
{
    bool mine =
        ev->kind == EVENT_RUN_FAILED ? strcmp(ev->method, "withdraw") == 0 : ev->proc == EXEC_WITHDRAW;

    if (mine && job_run_is_withdrawing(ev->job))
        run_withdraw_fail(arg, ev->job, ev->text);
}

void run_withdraw_on_host_over(void *arg, const struct server_event *ev)
{
    if (job_run_is_withdrawing(ev->job) && !all_hosts_run(ev->job->run))
        run_withdraw_fail(arg, ev->job, "it has ended on one of its hosts");
}
