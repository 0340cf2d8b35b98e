/* From START to the first process of the job on this host. The order, and who acts:
 *
 *   serialize     run_serialize   waits until earlier runs of the job here are released, since they write the same files
 *   prepare       prepare         looks up the owner, fetches image and script, writes the order: it needs them all
 *   begin hooks   act_start_ready waits for the site's hooks of execjob_begin: the host may not be fit for the job
 *   report ready  act_start_ready the first of several hosts then waits for LAUNCH of the server, until all hosts are ready
 *   launch steps  launch_steps[]  what must be here before the script: below, one after the other
 *   shepherd      act_start_launch  the parent of the job's processes
 *   report start  act_start_begun   after the shepherd has recorded it, so that a crash cannot start the job twice
 *
 * A launch step that waits posts LAUNCH again when it is done; act_start_prologue then finds the next one. An answer may come
 * when the run is in another state: such functions only post, and the machine decides. A step that fails ends the run:
 * r->failure is filled before FAILED is posted. A sister only reports that it is ready, when its shepherd is. */
#include "act_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt.h"
#include "exit_status.h"
#include "mom_config.h"
#include "output_fetch.h"
#include "hook_event.h"
#include "host_event.h"
#include "host_hooks.h"
#include "host_launch.h"
#include "host_release.h"
#include "host_sync.h"
#include "image_in.h"
#include "images.h"
#include "log.h"
#include "mom.h"
#include "nodefile.h"
#include "prepare.h"
#include "mom_run.h"
#include "rundir_moved.h"
#include "shepherds.h"
#include "staging.h"
#include "run_serialize.h"
#include "mom_terminal.h"
#include "usage.h"

enum { RELEASED_MAX = 4096 };

/* A step of LAUNCH. True: it has begun, and posts LAUNCH or FAILED later. False: it is done, or this run does not need it. */
typedef bool launch_step_fn(struct mom *m, struct run *r);
static launch_step_fn act_start_fetch_output, act_start_stage_in, act_start_open_terminal,
    act_start_run_prologue, act_start_run_launch_hooks;

static launch_step_fn *const launch_steps[] = {
    act_start_fetch_output,     /* first: whatever fails later must write behind the output of the last run */
    act_start_stage_in,         /* before the terminal: the user does not wait at it while files are copied */
    act_start_open_terminal,    /* before the prologue: a user who has left costs no script of the site */
    act_start_run_prologue,     /* it may look at the files, and prepares what only an epilogue undoes */
    act_start_run_launch_hooks, /* last: they see and change the program as it will run */
};

/* LAUNCH, as often as a step posts it: begin the next step, or report that all are done. */
void act_start_prologue(void *ctx, struct run *r)
{
    if (r->step || r->staging || r->terminal || output_fetch_is_under_way(r) || host_event_is_under_way(r))
        return; /* a step is at work: the server has sent LAUNCH twice */
    for (size_t i = 0; i < sizeof launch_steps / sizeof launch_steps[0]; i++)
        if (launch_steps[i](ctx, r))
            return;
    mom_post(ctx, r, RUN_EV_PROLOGUE_OK);
}

static void say_ready(struct mom *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_READY};

    mom_say(m, r, &data);
}

static void act_start_refused(struct mom *m, struct run *r, const struct host_verdict *v, bool always_ends)
{
    if (!v->rerun || !always_ends)
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "its start is refused by a hook");
    host_event_fail(r, v, always_ends);
    if (r->failure.status != EXIT_STATUS_HOOK_DELETE) {
        r->keep_output = true; /* the next run writes behind the output of this one */
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
    }
    mom_post(m, r, RUN_EV_FAILED);
}

static void act_start_on_begin_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    if (!v->accepted) {
        act_start_refused(m, r, v, false);
        return;
    }
    r->begin_done = true;
    mom_post(m, r, RUN_EV_PREPARED);
}

/* Hooks of execjob_begin. True: PREPARED or FAILED is posted when they have answered. Hook files that are on their way are waited for:
 * the server has sent them before the job. */
static bool act_start_begin_hooks(struct mom *m, struct run *r)
{
    if (r->begin_done)
        return false;
    r->hook_waits = host_sync_is_busy(m);
    if (r->hook_waits || host_event_is_under_way(r))
        return true;
    if (!host_hooks_want(m->hooks, HOOK_EVENT_execjob_begin))
        return false;
    if (!r->begin_begun && host_hooks_want(m->hooks, HOOK_EVENT_execjob_abort))
        mom_note(r, SHEP_NOTE_BEGIN_HOOKS);
    r->begin_begun = true;
    return host_event_run(m, r, HOOK_EVENT_execjob_begin, act_start_on_begin_hooks);
}

/* The first of several hosts waits for LAUNCH here. A sister is ready when its shepherd is. */
void act_start_ready(void *ctx, struct run *r)
{
    if (act_start_begin_hooks(ctx, r))
        return;
    if (r->start.launch || run_is_sister(r))
        mom_post(ctx, r, RUN_EV_LAUNCH);
    else
        say_ready(ctx, r);
}

static void act_start_fail(struct mom *m, struct run *r, int status, exec_reason reason, const char *text)
{
    r->failure = (struct run_failure){.status = status, .reason = reason};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", text);
    mom_post(m, r, RUN_EV_FAILED);
}

static void act_start_on_staged(void *arg, struct run *r, int failed, const char *text)
{
    struct mom *m = arg;

    if (failed) {
        log_event(LOGC_FIL, LOGE_ERROR, r->id, "Job files not copied:---->>>> %s", text);
        act_start_fail(m, r, EXIT_STATUS_RETRY, EXEC_END_STAGEIN, text);
        return;
    }
    r->staged_in = true;
    mom_note(r, SHEP_NOTE_STAGED_IN);
    mom_post(m, r, RUN_EV_LAUNCH);
}

/* A job that continues from an image has its files as they were. */
static bool act_start_stage_in(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (!staging_is_wanted(r))
        return false;
    if (images_has_staged(&m->home, r)) {
        r->staged_in = true;
        mom_note(r, SHEP_NOTE_STAGED_IN);
        return false;
    }
    if (staging_begin(m->loop, &m->home, r, act_start_on_staged, m, &e) < 0)
        act_start_fail(m, r, EXIT_STATUS_RETRY, EXEC_END_STAGEIN, e.text);
    return true;
}

static void act_start_on_terminal(void *arg, struct run *r, const char *why)
{
    if (!why) {
        mom_post(arg, r, RUN_EV_LAUNCH);
        return;
    }
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", why);
    act_start_fail(arg, r, EXIT_STATUS_SETUP, EXEC_END_SETUP, why);
}

static bool act_start_open_terminal(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (!terminal_is_wanted(r))
        return false;
    if (terminal_begin(m->loop, &m->home, r, act_start_on_terminal, m, &e) < 0)
        act_start_fail(m, r, EXIT_STATUS_SETUP, EXEC_END_SETUP, e.text);
    return true;
}

/* The mark is written first: the other host forgets the output when it is confirmed. */
static void act_start_on_fetched(void *arg, struct run *r)
{
    r->fetched = true;
    mom_note(r, SHEP_NOTE_FETCHED);
    output_fetch_confirm(r);
    mom_post(arg, r, RUN_EV_LAUNCH);
}

static bool act_start_fetch_output(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (!output_fetch_is_wanted(r))
        return false;
    if (output_fetch_begin(m, r, act_start_on_fetched, &e) < 0)
        act_start_fail(m, r, EXIT_STATUS_RETRY, EXEC_END_SETUP, e.text);
    return true;
}

static void act_start_on_prologue_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    if (!v->accepted) {
        act_start_refused(m, r, v, false);
        return;
    }
    r->prologue_done = true;
    mom_note(r, SHEP_NOTE_PROLOGUE_DONE);
    mom_post(m, r, RUN_EV_LAUNCH);
}

/* Hooks of execjob_prologue, on each host; where there are none, the site's script, on the first host alone. */
static bool act_start_run_prologue(struct mom *m, struct run *r)
{
    if (r->prologue_done)
        return false;
    if (!r->prologue_begun && host_hooks_want(m->hooks, HOOK_EVENT_execjob_end | HOOK_EVENT_execjob_abort))
        mom_note(r, SHEP_NOTE_PROLOGUE_BEGUN);
    r->prologue_begun = true;
    if (host_event_run(m, r, HOOK_EVENT_execjob_prologue, act_start_on_prologue_hooks))
        return true;
    if (run_is_sister(r))
        return false;
    site_steps_run(m->site_steps, r, STEP_PROLOGUE);
    return true;
}

void act_start_prologue_done(struct mom *m, struct run *r, enum step_verdict v, bool ran, int code)
{
    char text[64];

    if (v == STEP_RERUN && terminal_is_interactive(r))
        v = STEP_ABORT; /* its user waits at the terminal */
    snprintf(text, sizeof text, "Could not run prolog: exit %d", code);
    switch (v) {
    case STEP_GO_ON:
        r->prologue_done = true;
        if (ran)
            mom_note(r, SHEP_NOTE_PROLOGUE_DONE);
        mom_post(m, r, RUN_EV_LAUNCH);
        break;
    case STEP_RERUN:
        r->keep_output = true; /* the next run writes behind the output of this one */
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        act_start_fail(m, r, EXIT_STATUS_RETRY, EXEC_END_PROLOGUE_RERUN, text);
        break;
    case STEP_ABORT:
        act_start_fail(m, r, EXIT_STATUS_ABORTED, EXEC_END_PROLOGUE_ABORT, text);
        break;
    }
}

static void act_start_on_launch_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    struct host_verdict failed = *v;
    struct err e;

    if (!v->accepted) {
        act_start_refused(m, r, v, true);
        return;
    }
    if (host_launch_apply(r, v->data, &e) < 0) {
        failed.message = e.text;
        act_start_refused(m, r, &failed, true);
        return;
    }
    r->launch_done = true;
    mom_post(m, r, RUN_EV_LAUNCH);
}

/* Hooks of execjob_launch. A sister has no program of its own. */
static bool act_start_run_launch_hooks(struct mom *m, struct run *r)
{
    if (r->launch_done || run_is_sister(r))
        return false;
    return host_event_run(m, r, HOOK_EVENT_execjob_launch, act_start_on_launch_hooks);
}

/* The hosts that hooks have given back are not in the job's nodefile. -1: it cannot be made. */
static int act_start_narrow(const struct run *r, struct err *e)
{
    char *names = r->release ? strdup(r->release) : NULL, *save = NULL, *text;
    exec_update_args without = {0};
    wire_name list[RELEASED_MAX];
    int rc;

    if (!names)
        return 0;
    without.give_up.give_up_val = list;
    for (char *w = strtok_r(names, "+", &save); w && without.give_up.give_up_len < RELEASED_MAX;
         w = strtok_r(NULL, "+", &save))
        list[without.give_up.give_up_len++] = w;
    text = nodefile_make(r, &without, e);
    rc = text ? host_launch_set_nodefile(r, text, e) : -1;
    free(text);
    free(names);
    return rc;
}

void act_start_launch(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    struct err e = {0};

    if (act_start_narrow(r, &e) < 0 || shepherds_start(m->shepherds, r, &e) < 0) {
        log_err(LOGC_JOB, r->id, &e, "run %u is not launched", r->key.run);
        act_start_fail(m, r, EXIT_STATUS_RETRY, EXEC_END_SETUP, e.text);
    }
}

/* Report an image that was on another host: it is here now, or the job has begun without it. */
static void say_image(struct mom *m, struct run *r)
{
    const char *missing = images_missing(r);
    char type[] = "image", text[ERR_TEXT_MAX];
    struct exec_event_data data = {.kind = EXEC_EVENT_EXCEPTION};

    if (images_is_from_elsewhere(r))
        ckpt_say(m, r);
    if (!missing)
        return;
    snprintf(text, sizeof text, "%s", missing);
    data.exec_event_data_u.exception =
        (struct exec_exception_data){.severity = 1, .type = type, .note = text};
    mom_say(m, r, &data);
}

static void log_restart(const struct mom *m, const struct run *r)
{
    const struct config *c = m->home.config;

    if (c->restart_becomes_task && c->actions[ACTION_RESTART].argv.n && !images_is_from_elsewhere(r))
        log_event(LOGC_JOB, LOGE_JOB, r->id, "task 00000001 transmogrified");
    log_event(LOGC_JOB, LOGE_JOB, r->id, "Restarted 1 task(s)");
}

/* The job directory has another name where the usual one was taken. */
static void find_jobdir(struct run *r)
{
    char *moved = r->jobdir ? rundir_moved_find(r->path, RUNDIR_MOVED_JOBDIR) : NULL;

    if (!moved)
        return;
    free(r->jobdir);
    r->jobdir = moved;
}

static void say_start(struct mom *m, struct run *r)
{
    char none[1] = "";

    struct exec_event_data data = {
        .kind = EXEC_EVENT_START,
        .exec_event_data_u.start = {.session = r->started_record.pid, .host = m->home.host, .jobdir = none}};

    find_jobdir(r);
    if (r->jobdir)
        data.exec_event_data_u.start.jobdir = r->jobdir;
    if (r->jobdir)
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "created the job directory %s", r->jobdir);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "Started, pid = %d", r->started_record.pid);
    if (images_is_restart(r))
        log_restart(m, r);
    say_image(m, r); /* first: the server relies on it when the job has started */
    mom_say(m, r, &data);
    host_release_say(m, r); /* behind it: vnodes are given back by a job that runs */
}

void act_start_begun(void *ctx, struct run *r)
{
    struct mom *m = ctx;

    if (run_is_sister(r)) {
        log_event(LOGC_JOB, LOGE_JOB, r->id, "JOIN_JOB as node %u", r->start.my_host);
        say_ready(m, r);
    } else {
        say_start(m, r);
    }
    usage_begin(m, r);
}

void act_start_stop(struct run *r)
{
    site_steps_stop(r);
    host_event_stop(r);
    staging_stop(r);
    terminal_stop(r);
    output_fetch_stop(r);
    run_serialize_stop(r);
    image_in_stop(r);
    prepare_forget(r);
}
