/* Towards the start: what a run does from START to the start of its script.
 *
 * LAUNCH goes through act_start_prologue as often as it takes: output of the last run from another host, then files,
 * then the terminal, each of which posts LAUNCH again when it is there, then the site's script. Whoever is asked may
 * answer when the run has gone on: such functions post, and the machine judges. What cannot be had ends the run:
 * r->failure is filled before FAILED is posted. A sister only says that it is ready, when its shepherd is. */
#include "act_start.h"

#include <stdio.h>
#include <stdlib.h>

#include "ckpt.h"
#include "mom_config.h"
#include "output_fetch.h"
#include "image_in.h"
#include "images.h"
#include "log.h"
#include "mom.h"
#include "prepare.h"
#include "mom_run.h"
#include "rundir_moved.h"
#include "shepherds.h"
#include "staging.h"
#include "run_serialize.h"
#include "mom_terminal.h"
#include "usage.h"

enum { STATUS_NO_TERMINAL = -1, STATUS_ABORTED = -2, STATUS_RETRY = -3 };

static void say_ready(struct mom *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_READY};

    mom_say(m, r, &data);
}

/* The first of several hosts waits for LAUNCH here. A sister is ready when its shepherd is. */
void act_start_ready(void *ctx, struct run *r)
{
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

/* Then LAUNCH once more, which goes on from there. */
static void act_start_on_staged(void *arg, struct run *r, int failed, const char *text)
{
    struct mom *m = arg;

    if (failed) {
        log_event(LOGC_FIL, LOGE_ERROR, r->id, "Job files not copied:---->>>> %s", text);
        act_start_fail(m, r, STATUS_RETRY, EXEC_END_STAGEIN, text);
        return;
    }
    r->staged_in = true;
    mom_note(r, SHEP_NOTE_STAGED_IN);
    mom_post(m, r, RUN_EV_LAUNCH);
}

static void stage_in(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (staging_begin(m->loop, &m->home, r, act_start_on_staged, m, &e) < 0)
        act_start_fail(m, r, STATUS_RETRY, EXEC_END_STAGEIN, e.text);
}

static void act_start_on_terminal(void *arg, struct run *r, const char *why)
{
    if (!why) {
        mom_post(arg, r, RUN_EV_LAUNCH);
        return;
    }
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", why);
    act_start_fail(arg, r, STATUS_NO_TERMINAL, EXEC_END_SETUP, why);
}

static void open_terminal(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (terminal_begin(m->loop, &m->home, r, act_start_on_terminal, m, &e) < 0)
        act_start_fail(m, r, STATUS_NO_TERMINAL, EXEC_END_SETUP, e.text);
}

/* On record first, so that it is not fetched again from where it then is no more. */
static void act_start_on_fetched(void *arg, struct run *r)
{
    r->fetched = true;
    mom_note(r, SHEP_NOTE_FETCHED);
    output_fetch_confirm(r);
    mom_post(arg, r, RUN_EV_LAUNCH);
}

static void fetch_output(struct mom *m, struct run *r)
{
    struct err e = {0};

    if (output_fetch_begin(m, r, act_start_on_fetched, &e) < 0)
        act_start_fail(m, r, STATUS_RETRY, EXEC_END_SETUP, e.text);
}

/* The site's script is for the first host alone. */
void act_start_prologue(void *ctx, struct run *r)
{
    struct mom *m = ctx;

    if (r->step || r->staging || r->terminal || output_fetch_is_under_way(r))
        return; /* LAUNCH said twice */
    if (output_fetch_is_wanted(r)) {
        fetch_output(m, r);
        return;
    }
    if (staging_is_wanted(r) && images_has_staged(&m->home, r)) { /* it goes on with its files as they were */
        r->staged_in = true;
        mom_note(r, SHEP_NOTE_STAGED_IN);
    }
    if (staging_is_wanted(r)) {
        stage_in(m, r);
        return;
    }
    if (terminal_is_wanted(r)) {
        open_terminal(m, r);
        return;
    }
    if (r->prologue_done || run_is_sister(r))
        mom_post(m, r, RUN_EV_PROLOGUE_OK);
    else
        site_steps_run(m->site_steps, r, STEP_PROLOGUE);
}

void act_start_prologue_done(struct mom *m, struct run *r, enum step_verdict v, bool ran, int code)
{
    char text[64];

    if (v == STEP_RERUN && terminal_is_interactive(r))
        v = STEP_ABORT; /* its user sits there */
    snprintf(text, sizeof text, "Could not run prolog: exit %d", code);
    switch (v) {
    case STEP_GO_ON:
        r->prologue_done = true;
        if (ran)
            mom_note(r, SHEP_NOTE_PROLOGUE_DONE);
        mom_post(m, r, RUN_EV_PROLOGUE_OK);
        break;
    case STEP_RERUN:
        r->keep_output = true; /* the next try writes behind what this one has said */
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        act_start_fail(m, r, STATUS_RETRY, EXEC_END_PROLOGUE_RERUN, text);
        break;
    case STEP_ABORT:
        act_start_fail(m, r, STATUS_ABORTED, EXEC_END_PROLOGUE_ABORT, text);
        break;
    }
}

void act_start_launch(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    struct err e = {0};

    if (shepherds_start(m->shepherds, r, &e) < 0) {
        log_err(LOGC_JOB, r->id, &e, "launch");
        act_start_fail(m, r, STATUS_RETRY, EXEC_END_SETUP, e.text);
    }
}

/* What has become of an image that was on another host: it is ours now, or the job has begun without. */
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

/* Where its usual name was taken. */
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
    say_image(m, r); /* before: the server goes by it when the job has started */
    mom_say(m, r, &data);
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
    staging_stop(r);
    terminal_stop(r);
    output_fetch_stop(r);
    run_serialize_stop(r);
    image_in_stop(r);
    prepare_forget(r);
}
