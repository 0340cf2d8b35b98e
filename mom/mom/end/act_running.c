/* While a job runs: suspend, resume, checkpoint, terminate, withdraw.
 *
 * Each asks the shepherd (or a script of the site) and returns; the answer posts the event that says how it went. It
 * may come when the job is over: an answer of PBSE_BADSTATE is dropped, since the end of the job answers the attempt. One
 * attempt at a time: r->attempt is its number, which the server gave, r->attempt_code and _text are why it failed. */
#include "act_running.h"

#include <stdio.h>

#include <shep.h>

#include "ckpt.h"
#include "hook_event.h"
#include "host_event.h"
#include "host_hooks.h"
#include "mom_config.h"
#include "log.h"
#include "mom.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "shepherds.h"
#include "site_action.h"
#include "usage.h"

/* If the job is over already, the report of its end follows and answers the order. */
static void attempt_answered(struct mom *m, struct run *r, const struct shep_done *d, enum run_event good)
{
    if (d->code == PBSE_BADSTATE)
        return;
    r->attempt_code = d->code;
    snprintf(r->attempt_text, sizeof r->attempt_text, "%s", d->text);
    mom_post(m, r, d->code ? RUN_EV_ATTEMPT_FAILED : good);
}

static void act_running_on_suspended(void *arg, struct run *r, const struct shep_done *d)
{
    attempt_answered(arg, r, d, RUN_EV_SUSPENDED);
}

static void act_running_on_resumed(void *arg, struct run *r, const struct shep_done *d)
{
    attempt_answered(arg, r, d, RUN_EV_RESUMED);
}

void act_running_suspend(void *ctx, struct run *r)
{
    shepherds_suspend(r, act_running_on_suspended, ctx);
}

static void act_running_on_preresume_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    if (v->accepted) {
        if (r->slot.state == RUN_SUSPENDED)
            shepherds_resume(r, act_running_on_resumed, m);
        return;
    }
    r->attempt_code = PBSE_MOMREJECT;
    snprintf(r->attempt_text, sizeof r->attempt_text, "execjob_preresume hook rejected request: %s",
             v->message ? v->message : "");
    mom_post(m, r, RUN_EV_ATTEMPT_FAILED);
}

void act_running_resume(void *ctx, struct run *r)
{
    if (host_event_is_under_way(r)) /* an order that was repeated: they answer the last attempt */
        return;
    if (!host_event_run(ctx, r, HOOK_EVENT_execjob_preresume, act_running_on_preresume_hooks))
        shepherds_resume(r, act_running_on_resumed, ctx);
}

static void say_outcome(struct mom *m, struct run *r, enum exec_event_kind kind)
{
    struct exec_event_data data = {.kind = kind};
    struct exec_outcome_data *o =
        kind == EXEC_EVENT_SUSPENDED ? &data.exec_event_data_u.suspended : &data.exec_event_data_u.resumed;

    o->attempt = r->attempt;
    o->usage = usage_counted(m, r);
    mom_say(m, r, &data);
}

static void act_running_on_postsuspend_hooks(void *arg, struct run *r, const struct host_verdict *v)
{
    if (!r)
        return;
    r->suspend_hooks_run = false;
    mom_note(r, SHEP_NOTE_SUSPEND_HOOKS_OVER);
    if (!v->accepted) /* it stays suspended */
        log_event(LOGC_JOB, LOGE_JOB, r->id, "execjob_postsuspend hook rejected request: %s",
                  v->message ? v->message : "");
}

void act_running_suspended_again(struct mom *m, struct run *r)
{
    if (r->suspend_hooks_run)
        (void)host_event_ask(m, r, HOOK_EVENT_execjob_postsuspend, NULL, act_running_on_postsuspend_hooks,
                             NULL);
}

void act_running_suspended(void *ctx, struct run *r)
{
    const struct mom *m = ctx;

    r->suspend_hooks_run = host_hooks_want(m->hooks, HOOK_EVENT_execjob_postsuspend);
    if (r->suspend_hooks_run)
        mom_note(r, SHEP_NOTE_SUSPEND_HOOKS);
    say_outcome(ctx, r, EXEC_EVENT_SUSPENDED);
    act_running_suspended_again(ctx, r);
}

void act_running_resumed(void *ctx, struct run *r)
{
    say_outcome(ctx, r, EXEC_EVENT_RESUMED);
}

void act_running_checkpoint(void *ctx, struct run *r)
{
    ckpt_begin(ctx, r);
}

void act_running_failed(void *ctx, struct run *r)
{
    char method[16], text[ERR_TEXT_MAX];
    struct exec_event_data data = {.kind = EXEC_EVENT_FAILED};

    if (r->slot.state == RUN_LAUNCHING) {
        r->attempt_code = PBSE_BADSTATE;
        snprintf(r->attempt_text, sizeof r->attempt_text, "the job has not started yet");
    }
    snprintf(method, sizeof method, "%s", r->attempt_method);
    snprintf(text, sizeof text, "%s", r->attempt_text);
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s failed: %s", method, text);
    data.exec_event_data_u.failed = (struct exec_failed_data){
        .attempt = r->attempt, .method = method, .code = r->attempt_code, .text = text};
    mom_say(ctx, r, &data);
}

/* The site's script first, where there is one: 0 says that what is left may be killed; else we do as always. */
static void act_running_on_terminate_script(void *arg, struct run *r, const struct site_action_end *end)
{
    if (run_is_active(r))
        shepherds_terminate(r, end->code == 0 ? 0 : r->grace_s, r->stop_reason, r->stop_text);
}

static bool begin_terminate_script(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (r->terminating || r->slot.state == RUN_LAUNCHING || !r->grace_s ||
        !m->home.config->actions[ACTION_TERMINATE].argv.n)
        return false;
    r->terminating = true;
    if (site_action_run(m->loop, &m->home, r, ACTION_TERMINATE, "", r->started_record.pid,
                        act_running_on_terminate_script, m, &e) == 0)
        return true;
    log_err(LOGC_JOB, r->id, &e, "the script of $action terminate is not run; the job is signalled");
    return false;
}

void act_running_terminate(void *ctx, struct run *r)
{
    if (r->terminating && r->grace_s)
        return; /* the same order again, from a server that was away: the site's script has its time */
    site_action_stop(r); /* a checkpoint, or the script of a gentler end */
    if (begin_terminate_script(ctx, r))
        return;
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "kill_job");
    shepherds_terminate(r, r->grace_s, r->stop_reason, r->stop_text);
}

static void act_running_on_stayed(void *arg, struct run *r, const struct shep_done *d)
{
    if (r->withdrawing) /* else it was ordered to end again meanwhile */
        attempt_answered(arg, r, d, RUN_EV_STAYED);
}

void act_running_withdraw(void *ctx, struct run *r)
{
    shepherds_withdraw(r, act_running_on_stayed, ctx);
}

/* Its output goes where a job's output goes that was never told to end. */
void act_running_stayed(void *ctx, struct run *r)
{
    r->withdrawing = false;
    r->stop_reason = EXEC_END_ITSELF;
    if (r->keep_output)
        mom_note(r, SHEP_NOTE_GIVE_OUTPUT);
    r->keep_output = false;
    log_event(LOGC_JOB, LOGE_JOB, r->id, "the job has not ended, and runs on");
    say_outcome(ctx, r, EXEC_EVENT_RESUMED);
}
