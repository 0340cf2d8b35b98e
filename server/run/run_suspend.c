/* Method S, and its opposite. See run_suspend.h.
 *
 *   run_suspend_begin          -> SUSPEND to every host -> suspended, from the last -> act_suspended: gives back
 *   run_suspend_resume: takes  -> RESUME to every host  -> resumed, from the last   -> act_resumed
 *
 * Room is given back only when the job is stopped on all hosts, and taken before anything moves. After a resume that
 * fails on one of several hosts all are told to stop it again, and that is when it is given back. Each order
 * has a new `attempt`; exec_take drops outcomes of an earlier one, so a host that answers late cannot
 * complete the attempt after it. */
#include "run_suspend.h"

#include <stdlib.h>

#include <exec.h>

#include "assign.h"
#include "exec_send.h"
#include "run_hosts.h"
#include "job_fsm.h"
#include "log.h"
#include "pbs_error.h"
#include "suspend_release.h"
#include "run_comment.h"
#include "server_ctx.h"
#include "server_events.h"

struct run_suspend {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct exec_send *send;
};

static int run_suspend_may_suspend(void *arg, const struct job *j, struct err *e)
{
    if (j->state == JOB_RUNNING && j->intent == INTENT_NONE && !j->run->suspending && !j->run->checkpointing)
        return 0;
    return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name,
                   j->intent ? "about to end" : job_state_name(j->state));
}

static int run_suspend_method_start(void *arg, struct job *j, struct err *e)
{
    return run_suspend_begin(arg, j, SUSPENDED_BY_SCHED, e);
}

static bool run_suspend_is_settled(void *arg, const struct job *j)
{
    return j->state == JOB_SUSPENDED && !(j->run && (j->run->resuming || j->run->suspending));
}

/* A choice: a host stops a job's processes in well under a second, and refuses at once what it cannot. */
static int64_t run_suspend_limit_s(const struct job *j)
{
    return 60;
}

struct run_suspend *run_suspend_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                       struct stop_methods *m)
{
    struct run_suspend *u = calloc(1, sizeof *u);
    struct stop_method row = {.id = METHOD_SUSPEND,
                              .can = run_suspend_may_suspend,
                              .start = run_suspend_method_start,
                              .settled = run_suspend_is_settled,
                              .limit_s = run_suspend_limit_s,
                              .arg = u};

    if (!u)
        return NULL;
    *u = (struct run_suspend){s, f, x};
    stop_methods_add(m, &row);
    return u;
}

void run_suspend_destroy(struct run_suspend *u)
{
    free(u);
}

int run_suspend_begin(struct run_suspend *u, struct job *j, enum job_suspender by, struct err *e)
{
    if (run_suspend_may_suspend(u, j, e) < 0)
        return -1;
    j->run->attempt++;
    j->run->suspending = true;
    j->suspender = by;
    run_hosts_clear_suspended(j->run);
    jobs_touch(u->ctx->jobs, j, PART_HOT);
    exec_send_suspend(u->send, j);
    return 0;
}

int run_suspend_resume(struct run_suspend *u, struct job *j, bool force, struct err *e)
{
    if (j->state != JOB_SUSPENDED || j->intent != INTENT_NONE)
        return err_set(e, PBSE_BADSTATE, "job %s is %s", j->obj.name, job_state_name(j->state));
    if (j->run->resuming)
        return 0;
    if (j->run->suspending || j->run->checkpointing)
        return err_set(e, PBSE_BADSTATE, "job %s is being %s", j->obj.name,
                       j->run->suspending ? "stopped again after a resume that has failed" : "checkpointed");
    if (assign_resume(u->ctx->assign, j, force, e) < 0)
        return -1;
    j->run->attempt++;
    j->run->resuming = true;
    jobs_touch(u->ctx->jobs, j, PART_HOT);
    exec_send_resume(u->send, j);
    return 0;
}

/* What it had to give back when it was suspended: all, or what the list of then said. */
static void run_suspend_give_back(struct run_suspend *u, struct job *j)
{
    struct strbuf names;
    struct assign_gift gift;

    strbuf_init(&names, 4096);
    suspend_release_gift(u->ctx, j, &names, &gift);
    assign_suspend(u->ctx->assign, j, &gift);
    strbuf_fini(&names);
}

void run_suspend_host_answered(struct run_suspend *u, struct job *j)
{
    if (!j->run->suspending || !run_hosts_all_suspended(j->run))
        return;
    j->run->suspending = false;
    if (j->state == JOB_SUSPENDED) { /* after a resume that has failed */
        run_suspend_give_back(u, j);
        jobs_touch(u->ctx->jobs, j, PART_HOT);
    } else {
        job_fsm_post(u->fsm, j, EV_SUSPENDED);
    }
}

void run_suspend_resumed(struct run_suspend *u, struct job *j)
{
    if (!j->run->resuming) /* a host lets it continue after an attempt on all of them that has failed */
        return;
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (j->run->hosts[i].suspended && !j->run->hosts[i].leaving &&
            j->run->hosts[i].state <= RUN_HOST_READY)
            return;
    j->run->resuming = false;
    job_fsm_post(u->fsm, j, EV_RESUMED);
}

/* Those hosts where it runs again are told to stop it; only then is its room free. */
static void stop_again(struct run_suspend *u, struct job *j)
{
    j->run->resuming = false;
    j->run->suspending = true;
    j->run->attempt++;
    run_hosts_clear_suspended(j->run);
    exec_send_suspend(u->send, j);
}

static void resume_failed(struct run_suspend *u, struct job *j, int code, const char *text)
{
    struct err why;

    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "resume failed: %s (%d)", text, code);
    if (j->run->n_hosts > 1) {
        stop_again(u, j);
    } else {
        j->run->resuming = false;
        run_suspend_give_back(u, j);
    }
    jobs_touch(u->ctx->jobs, j, PART_HOT);
    err_set(&why, code, "job %s could not be resumed: %s", j->obj.name, text);
    server_events_tell(u->ctx->events,
                       &(struct server_event){.kind = EVENT_RUN_NOT_RESUMED, .job = j, .why = &why});
}

static void run_suspend_failed(struct run_suspend *u, struct job *j, int code, const char *text)
{
    struct err why;

    if (j->run->resuming) {
        resume_failed(u, j, code, text);
        return;
    }
    if (!j->run->suspending)
        return;
    j->run->suspending = false;
    if (j->state ==
        JOB_SUSPENDED) { /* a host that cannot stop it again: it keeps its room until it is resumed */
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name,
                  "still runs on one of its hosts, which cannot stop it again: %s (%d)", text, code);
        jobs_touch(u->ctx->jobs, j, PART_HOT);
        return;
    }
    j->suspender = SUSPENDED_BY_NOBODY;
    j->run->attempt++;
    exec_send_resume(u->send, j); /* those hosts that did stop it */
    jobs_touch(u->ctx->jobs, j, PART_HOT);
    err_set(&why, code, "job %s could not be suspended: %s", j->obj.name, text);
    server_events_tell(u->ctx->events,
                       &(struct server_event){.kind = EVENT_RUN_NOT_SUSPENDED, .job = j, .why = &why});
    server_events_tell(u->ctx->events,
                       &(struct server_event){
                           .kind = EVENT_RUN_METHOD_FAILED, .job = j, .id = METHOD_SUSPEND, .code = code});
}

void run_suspend_on_suspended(void *arg, const struct server_event *ev)
{
    run_suspend_host_answered(arg, ev->job);
}

void run_suspend_on_resumed(void *arg, const struct server_event *ev)
{
    run_suspend_resumed(arg, ev->job);
}

void run_suspend_on_failed(void *arg, const struct server_event *ev)
{
    bool mine = ev->kind == EVENT_RUN_FAILED
                    ? strcmp(ev->method, "suspend") == 0 || strcmp(ev->method, "resume") == 0
                    : ev->proc == EXEC_SUSPEND || ev->proc == EXEC_RESUME;

    if (mine)
        run_suspend_failed(arg, ev->job, ev->code, ev->text);
}

void act_suspended(void *arg, struct job *j)
{
    struct run_suspend *u = arg;

    j->run->suspended_s = server_ctx_now_s(u->ctx);
    suspend_release_note(u->ctx, j);
    run_suspend_give_back(u, j);
    jobs_touch(u->ctx->jobs, j, PART_HOT);
}

void act_resumed(void *arg, struct job *j)
{
    struct run_suspend *u = arg;

    suspend_release_forget(u->ctx, j);
    if (j->run->suspended_s)
        j->run->paused_s += server_ctx_now_s(u->ctx) - j->run->suspended_s;
    j->run->suspended_s = 0;
    j->suspender = SUSPENDED_BY_NOBODY;
    j->ptime_s = 0;
    run_hosts_clear_suspended(j->run);
    run_comment_set(u->ctx, j, "run"); /* a scheduler has said why it was suspended */
    jobs_touch(u->ctx->jobs, j, PART_HOT | PART_ATTRS);
}
