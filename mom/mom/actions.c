/* Actions of a run. Each is idempotent, since the last one may be done again after a crash: what is said
 * twice has the same number (journal), what is started twice is held once (shepherd), what is delivered twice
 * is there once.
 *
 * An action either does its work and posts the next event, or asks somebody who will: a script, a shepherd, a
 * worker. What then comes back may find the run in another state, so such functions only post or look first
 * whether the run is still active. LAUNCH goes through act_prologue as often as it takes: files, then the
 * terminal, each of which posts LAUNCH again when it is there, then the site's script. Every end goes through
 * finish(), with r->failure filled before; from there epilogue, delivery and release follow by themselves. */
#include "actions.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt.h"
#include "config.h"
#include "disk.h"
#include "fetch.h"
#include "image_in.h"
#include "images.h"
#include "left.h"
#include "leftovers.h"
#include "log.h"
#include "outputs.h"
#include "parts.h"
#include "pbs_error.h"
#include "prepare.h"
#include "run.h"
#include "run_end.h"
#include "shepherds.h"
#include "site_action.h"
#include "spares.h"
#include "staging.h"
#include "succession.h"
#include "terminal.h"
#include "strbuf.h"
#include "units.h"
#include "usage.h"

enum {
    STATUS_TERMINATED = 256 + SIGTERM,
    STATUS_RETRY = -3,
    STATUS_NO_TERMINAL = -1,
    STATUS_ABORTED = -2,
    STATUS_LOST = -4,
    PATH_LEN_MAX = 8192,
    MS_PER_S = 1000
};

static void say(struct parts *m, struct run *r, const struct exec_event_data *data)
{
    struct err e = {0};

    if (journal_say(r, data, &m->outbox, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "journal");
}

static void note(struct run *r, enum shep_note what)
{
    struct err e = {0};

    if (journal_note(r, what, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "journal");
}

/* ---- towards the start */
static void say_ready(struct parts *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_READY};

    say(m, r, &data);
}

/* The first of several hosts waits for LAUNCH here. A sister is ready when its shepherd is. */
static void act_say_ready(void *ctx, struct run *r)
{
    if (r->start.launch || run_is_sister(r))
        parts_post(ctx, r, RUN_EV_LAUNCH);
    else
        say_ready(ctx, r);
}

static void fail(struct parts *m, struct run *r, int status, exec_reason reason, const char *text)
{
    r->failure = (struct run_failure){.status = status, .reason = reason};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", text);
    parts_post(m, r, RUN_EV_FAILED);
}

/* Then LAUNCH once more, which goes on from there. */
static void on_staged(void *arg, struct run *r, int failed, const char *text)
{
    struct parts *m = arg;

    if (failed) {
        log_event(LOGC_FIL, LOGE_ERROR, r->id, "Job files not copied:---->>>> %s", text);
        fail(m, r, STATUS_RETRY, EXEC_END_STAGEIN, text);
        return;
    }
    r->staged_in = true;
    note(r, SHEP_NOTE_STAGED_IN);
    parts_post(m, r, RUN_EV_LAUNCH);
}

static void stage_in(struct parts *m, struct run *r)
{
    struct err e = {0};

    if (staging_begin(m->loop, &m->home, r, on_staged, m, &e) < 0)
        fail(m, r, STATUS_RETRY, EXEC_END_STAGEIN, e.text);
}

static void on_terminal(void *arg, struct run *r, const char *why)
{
    if (!why) {
        parts_post(arg, r, RUN_EV_LAUNCH);
        return;
    }
    log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", why);
    fail(arg, r, STATUS_NO_TERMINAL, EXEC_END_SETUP, why);
}

static void open_terminal(struct parts *m, struct run *r)
{
    struct err e = {0};

    if (terminal_begin(m->loop, &m->home, r, on_terminal, m, &e) < 0)
        fail(m, r, STATUS_NO_TERMINAL, EXEC_END_SETUP, e.text);
}

/* On record first, so that it is not fetched again from where it then is no more. */
static void on_fetched(void *arg, struct run *r)
{
    r->fetched = true;
    note(r, SHEP_NOTE_FETCHED);
    fetch_confirm(r);
    parts_post(arg, r, RUN_EV_LAUNCH);
}

static void fetch_output(struct parts *m, struct run *r)
{
    struct err e = {0};

    if (fetch_begin(m, r, on_fetched, &e) < 0)
        fail(m, r, STATUS_RETRY, EXEC_END_SETUP, e.text);
}

/* The site's script is for the first host alone. */
static void act_prologue(void *ctx, struct run *r)
{
    struct parts *m = ctx;

    if (r->step || r->staging || r->terminal || fetch_is_under_way(r))
        return; /* LAUNCH said twice */
    if (fetch_is_wanted(r)) {
        fetch_output(m, r);
        return;
    }
    if (staging_is_wanted(r) && images_has_staged(&m->home, r)) { /* it goes on with its files as they were */
        r->staged_in = true;
        note(r, SHEP_NOTE_STAGED_IN);
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
        parts_post(m, r, RUN_EV_PROLOGUE_OK);
    else
        steps_run(m->steps, r, STEP_PROLOGUE);
}

static void prologue_done(struct parts *m, struct run *r, enum step_verdict v, bool ran, int code)
{
    char text[64];

    if (v == STEP_RERUN && terminal_is_interactive(r))
        v = STEP_ABORT; /* its user sits there */
    snprintf(text, sizeof text, "Could not run prolog: exit %d", code);
    switch (v) {
    case STEP_GO_ON:
        r->prologue_done = true;
        if (ran)
            note(r, SHEP_NOTE_PROLOGUE_DONE);
        parts_post(m, r, RUN_EV_PROLOGUE_OK);
        break;
    case STEP_RERUN:
        r->keep_output = true; /* the next try writes behind what this one has said */
        note(r, SHEP_NOTE_KEEP_OUTPUT);
        fail(m, r, STATUS_RETRY, EXEC_END_PROLOGUE_RERUN, text);
        break;
    case STEP_ABORT:
        fail(m, r, STATUS_ABORTED, EXEC_END_PROLOGUE_ABORT, text);
        break;
    }
}

void actions_step_done(void *ctx, struct run *r, enum step which, enum step_verdict v, bool ran, int code)
{
    if (which == STEP_PROLOGUE) {
        prologue_done(ctx, r, v, ran, code);
        return;
    }
    if (which == STEP_EPILOGUE) {
        r->epilogue_done = true;
        if (ran)
            note(r, SHEP_NOTE_EPILOGUE_DONE);
        parts_post(ctx, r, RUN_EV_EPILOGUE_OK);
    }
}

static void act_launch(void *ctx, struct run *r)
{
    struct parts *m = ctx;
    struct err e = {0};

    if (shepherds_start(m->shepherds, r, &e) < 0) {
        log_err(LOGC_JOB, r->id, &e, "launch");
        fail(m, r, STATUS_RETRY, EXEC_END_SETUP, e.text);
    }
}

/* What has become of an image that was on another host: it is ours now, or the job has begun without. */
static void say_image(struct parts *m, struct run *r)
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
    say(m, r, &data);
}

static void say_start(struct parts *m, struct run *r)
{
    char none[1] = "";
    struct exec_event_data data = {.kind = EXEC_EVENT_START,
                                   .exec_event_data_u.start = {.session = r->started_record.pid,
                                                               .host = m->home.host,
                                                               .jobdir = r->jobdir ? r->jobdir : none}};

    if (r->jobdir)
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "created the job directory %s", r->jobdir);
    log_event(LOGC_JOB, LOGE_JOB, r->id, "Started, pid = %d", r->started_record.pid);
    if (images_is_restart(r))
        log_event(LOGC_JOB, LOGE_JOB, r->id, "Restarted 1 task(s)");
    say_image(m, r); /* before: the server goes by it when the job has started */
    say(m, r, &data);
}

static void act_say_start(void *ctx, struct run *r)
{
    struct parts *m = ctx;

    if (run_is_sister(r)) {
        log_event(LOGC_JOB, LOGE_JOB, r->id, "JOIN_JOB as node %u", r->start.my_host);
        say_ready(m, r);
    } else {
        say_start(m, r);
    }
    usage_begin(m, r);
}

/* ---- attempts */
/* A job that is over already is answered for by its end, which follows. */
static void attempt_answered(struct parts *m, struct run *r, const struct shep_done *d, enum run_event good)
{
    if (d->code == PBSE_BADSTATE)
        return;
    r->attempt_code = d->code;
    snprintf(r->attempt_text, sizeof r->attempt_text, "%s", d->text);
    parts_post(m, r, d->code ? RUN_EV_ATTEMPT_FAILED : good);
}

static void on_suspended(void *arg, struct run *r, const struct shep_done *d)
{
    attempt_answered(arg, r, d, RUN_EV_SUSPENDED);
}

static void on_resumed(void *arg, struct run *r, const struct shep_done *d)
{
    attempt_answered(arg, r, d, RUN_EV_RESUMED);
}

static void act_suspend(void *ctx, struct run *r)
{
    shepherds_suspend(r, on_suspended, ctx);
}

static void act_resume(void *ctx, struct run *r)
{
    shepherds_resume(r, on_resumed, ctx);
}

static void say_outcome(struct parts *m, struct run *r, enum exec_event_kind kind)
{
    struct exec_event_data data = {.kind = kind};
    struct exec_outcome_data *o =
        kind == EXEC_EVENT_SUSPENDED ? &data.exec_event_data_u.suspended : &data.exec_event_data_u.resumed;

    o->attempt = r->attempt;
    o->usage = usage_counted(m, r);
    say(m, r, &data);
}

static void act_say_suspended(void *ctx, struct run *r)
{
    say_outcome(ctx, r, EXEC_EVENT_SUSPENDED);
}

static void act_say_resumed(void *ctx, struct run *r)
{
    say_outcome(ctx, r, EXEC_EVENT_RESUMED);
}

static void act_checkpoint(void *ctx, struct run *r)
{
    ckpt_begin(ctx, r);
}

static void act_say_failed(void *ctx, struct run *r)
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
    say(ctx, r, &data);
}

/* ---- towards the end */
/* The site's script first, where there is one: 0 says that what is left may be killed; else we do as always. */
static void on_terminate_script(void *arg, struct run *r, const struct site_action_end *end)
{
    (void)arg;
    if (run_is_active(r))
        shepherds_terminate(r, end->code == 0 ? 0 : r->grace_s, r->stop_reason, r->stop_text);
}

static bool begin_terminate_script(struct parts *m, struct run *r)
{
    struct err e = {0};

    if (r->terminating || r->slot.state == RUN_LAUNCHING || !r->grace_s ||
        !m->home.config->actions[ACTION_TERMINATE].argv.n)
        return false; /* said again is harder */
    r->terminating = true;
    if (site_action_run(m->loop, &m->home, r, ACTION_TERMINATE, "", r->started_record.pid,
                        on_terminate_script, m, &e) == 0)
        return true;
    log_err(LOGC_JOB, r->id, &e, "action terminate");
    return false;
}

static void act_terminate(void *ctx, struct run *r)
{
    site_action_stop(r); /* a checkpoint, or the script of a gentler end */
    if (begin_terminate_script(ctx, r))
        return;
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "kill_job");
    shepherds_terminate(r, r->grace_s, r->stop_reason, r->stop_text);
}

static void log_usage(const struct parts *m, const struct run *r, const struct exec_usage *u)
{
    char cput[UNITS_TEXT_MAX];

    units_format_duration(cput, (int64_t)u->cput_ms / MS_PER_S);
    if (!run_is_sister(r)) {
        log_event(LOGC_JOB, LOGE_JOB, r->id, "Terminated");
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "task 00000001 terminated");
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "task 00000001 cput=%s", cput);
    }
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "%s cput=%s mem=%llukb", m->home.host, cput,
              (unsigned long long)u->mem_kb);
}

/* What could not be set up on a full disk may do so elsewhere; no further job is to come here until somebody has made
 * room (act_release says so). */
static void blame_the_disk(struct parts *m, struct run *r)
{
    char why[ERR_TEXT_MAX];

    if (r->failure.reason != EXEC_END_SETUP || !disk_is_full(&m->home, why, sizeof why))
        return;
    r->failure = (struct run_failure){.status = STATUS_RETRY, .reason = EXEC_END_DISK};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", why);
    log_event(LOGC_NODE, LOGE_ERROR, m->home.node,
              "%s; it takes no more jobs (pbsnodes -r when there is room)", why);
}

/* Say finish by r->failure, then what follows an end. */
static void finish(struct parts *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_FINISH};

    usage_end(r);
    blame_the_disk(m, r);
    data.exec_event_data_u.finish = (struct exec_finish_data){.status = r->failure.status,
                                                              .reason = r->failure.reason,
                                                              .text = r->failure.text,
                                                              .usage = usage_counted(m, r)};
    if (r->started)
        log_usage(m, r, &data.exec_event_data_u.finish.usage);
    say(m, r, &data);
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "Obit sent");
    actions_end_again(m, r);
}

void actions_end_again(struct parts *m, struct run *r)
{
    if (r->epilogue_done || !r->started || run_is_sister(r))
        parts_post(m, r, RUN_EV_EPILOGUE_OK);
    else
        steps_run(m->steps, r, STEP_EPILOGUE);
}

static void act_give_up(void *ctx, struct run *r)
{
    steps_stop(r);
    staging_stop(r);
    terminal_stop(r);
    fetch_stop(r);
    succession_stop(r);
    image_in_stop(r);
    prepare_forget(r);
    r->failure = (struct run_failure){.status = STATUS_TERMINATED, .reason = EXEC_END_TERMINATED};
    finish(ctx, r);
}

static void act_fail(void *ctx, struct run *r)
{
    finish(ctx, r);
}

enum { STATUS_CHECKPOINTED = -12, STATUS_LOST_CHECKPOINTED = -5 };

/* The end of the job answers the checkpoint too: a failure said before it would have others turn to a job that is no
 * more. A sister's part may end while the job lives on. */
static void act_end_late(void *ctx, struct run *r)
{
    run_end_judge(&r->ended_record, &r->failure);
    r->ckpt.end_waits = false;
    if (r->ckpt.attempt && run_is_sister(r))
        act_say_failed(ctx, r);
    finish(ctx, r);
}

/* Was it the tool of a checkpoint that ended it, before its MOM could hear how the checkpoint went? */
static bool ended_in_the_dark(const struct run *r)
{
    return r->ckpt.interrupted && r->ended_record.how == SHEP_END_ITSELF &&
           WIFSIGNALED(r->ended_record.status) && WTERMSIG(r->ended_record.status) == SIGKILL;
}

static void act_end(void *ctx, struct run *r)
{
    if (site_action_is_active(r) && r->ended_record.how == SHEP_END_ITSELF && !r->terminating) {
        r->ckpt.end_waits = true; /* the script may have ended it, and will say so */
        return;
    }
    site_action_stop(r);
    run_end_judge(&r->ended_record, &r->failure);
    if (ended_in_the_dark(r)) {
        r->failure.status = STATUS_LOST_CHECKPOINTED;
        snprintf(r->failure.text, sizeof r->failure.text, "the job ended in the middle of a checkpoint");
    }
    if (r->ended_record.how == SHEP_END_SETUP)
        log_event(LOGC_JOB, LOGE_ERROR, r->id, "%s", r->failure.text);
    finish(ctx, r);
}

static void act_say_checkpointed(void *ctx, struct run *r)
{
    struct parts *m = ctx;

    ckpt_say(m, r);
    if (r->ckpt.end_waits) {
        r->ckpt.end_waits = false;
        r->failure = (struct run_failure){.status = STATUS_CHECKPOINTED, .reason = EXEC_END_CHECKPOINTED};
        r->keep_output = true;
        note(r, SHEP_NOTE_KEEP_OUTPUT);
        finish(m, r);
    } else if (r->ckpt.leave && !images_are_joint(r)) {
        r->keep_output = true; /* the job will go on writing */
        note(r, SHEP_NOTE_KEEP_OUTPUT);
        r->stop_text[0] = '\0';
        shepherds_terminate(r, 0, EXEC_END_CHECKPOINTED, r->stop_text);
    }
}

static void act_lost(void *ctx, struct run *r)
{
    struct parts *m = ctx;
    size_t n = leftovers_kill(&m->home, r);

    log_event(LOGC_JOB, LOGE_ERROR, r->id, "the job's shepherd is gone without a word; killed %zu processes",
              n);
    if (r->started)
        r->failure = (struct run_failure){.status = STATUS_LOST, .reason = EXEC_END_LOST};
    else /* it records that before anything of the job runs */
        r->failure = (struct run_failure){.status = STATUS_RETRY, .reason = EXEC_END_SETUP};
    snprintf(r->failure.text, sizeof r->failure.text, "the job's shepherd %s",
             r->started ? "was lost" : "ended before the job began");
    finish(ctx, r);
}

static void on_closed(void *arg, struct run *r, const struct shep_close_result *res)
{
    if (res->failed) {
        log_event(LOGC_FIL, LOGE_ERROR, r->id, "Job files not copied:---->>>> %s", res->text);
        free(r->note);
        r->note = strdup(res->text);
    }
    parts_post(arg, r, RUN_EV_CLOSED);
}

static void act_close(void *ctx, struct run *r)
{
    struct parts *m = ctx;
    struct shep_close_args a;
    struct err e = {0};

    if (!r->owner_home) { /* no order was ever written: nothing is there */
        parts_post(m, r, RUN_EV_CLOSED);
        return;
    }
    if (r->staged_in)
        images_note_staged(&m->home, r, r->failure.reason == EXEC_END_CHECKPOINTED);
    if (outputs_deliver(&m->home, r, r->owner_home, r->failure.status, &a, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "delivery");
    shepherds_close(m->shepherds, r, &a, on_closed, m);
}

/* Our vnodes of the job, each once. */
static u_int vnodes_of(const struct run *r, char **out, u_int max)
{
    const struct exec_job_host *h = &r->start.hosts.hosts_val[r->start.my_host];
    u_int n = 0;

    for (u_int i = 0; i < h->chunks.chunks_len && n < max; i++) {
        bool seen = false;

        for (u_int k = 0; k < n; k++)
            seen |= strcmp(out[k], h->chunks.chunks_val[i].vnode) == 0;
        if (!seen)
            out[n++] = h->chunks.chunks_val[i].vnode;
    }
    return n;
}

static void act_release(void *ctx, struct run *r)
{
    struct parts *m = ctx;
    char *nodes[256], none[1] = "";
    struct exec_event_data data = {.kind = EXEC_EVENT_RELEASE};
    struct exec_release_data *d = &data.exec_event_data_u.release;

    if (r->keep_output)
        left_keep(&m->home, r); /* the next host may ask as soon as we have said it */
    d->nodes.nodes_val = nodes;
    d->nodes.nodes_len = vnodes_of(r, nodes, sizeof nodes / sizeof nodes[0]);
    d->final = true;
    d->attention = (r->ended && r->ended_record.leftovers) || r->failure.reason == EXEC_END_DISK;
    d->note = r->failure.reason == EXEC_END_DISK ? r->failure.text : r->note ? r->note : none;
    say(m, r, &data);
    if (r->purge_wanted)
        parts_post(m, r, RUN_EV_PURGE);
}

static void act_purge_later(void *ctx, struct run *r)
{
    r->purge_wanted = true;
    note(r, SHEP_NOTE_PURGE);
    r->grace_s = 0;
    r->stop_reason = EXEC_END_TERMINATED;
    r->stop_text[0] = '\0';
    if (r->slot.state < RUN_ENDING)
        parts_post(ctx, r, RUN_EV_TERMINATE);
}

static void remove_spooled(const struct parts *m, const struct run *r)
{
    static const char *const suffixes[] = {"OU", "ER", "KEY"};

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        struct strbuf path;

        strbuf_init(&path, PATH_LEN_MAX);
        strbuf_addf(&path, "%s/%s.%s", m->home.spool, r->id, suffixes[i]);
        unlink(path.s);
        strbuf_fini(&path);
    }
}

static void act_forget(void *ctx, struct run *r)
{
    struct parts *m = ctx;
    struct err e = {0};

    steps_stop(r);
    site_action_stop(r);
    staging_stop(r);
    terminal_stop(r);
    fetch_stop(r);
    succession_stop(r);
    image_in_stop(r);
    prepare_forget(r);
    shepherds_let_go(r);
    usage_end(r);
    journal_close(&m->outbox, r);
    if (!run_has_other(m->runs, r)) { /* whose these are as well: both are named by the job */
        if (!r->keep_output && r->unwanted)
            left_put_aside(&m->home, r);
        if (!r->keep_output)
            remove_spooled(m, r);
        if (images_is_from_elsewhere(r) && !r->started) /* the server knows of it where it was */
            images_remove(&m->home, r->key.seq, r->key.index);
        images_forget(&m->home, r);
    }
    if (spares_give(m->spares, r->path, r->start.user, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "purge");
}

run_action_fn *const actions[RUN_ACTION_COUNT] = {
    [RUN_ACT_SAY_READY] = act_say_ready,
    [RUN_ACT_PROLOGUE] = act_prologue,
    [RUN_ACT_LAUNCH] = act_launch,
    [RUN_ACT_SAY_START] = act_say_start,
    [RUN_ACT_SUSPEND] = act_suspend,
    [RUN_ACT_SAY_SUSPENDED] = act_say_suspended,
    [RUN_ACT_RESUME] = act_resume,
    [RUN_ACT_SAY_RESUMED] = act_say_resumed,
    [RUN_ACT_CHECKPOINT] = act_checkpoint,
    [RUN_ACT_SAY_CHECKPOINTED] = act_say_checkpointed,
    [RUN_ACT_SAY_FAILED] = act_say_failed,
    [RUN_ACT_END_LATE] = act_end_late,
    [RUN_ACT_TERMINATE] = act_terminate,
    [RUN_ACT_GIVE_UP] = act_give_up,
    [RUN_ACT_FAIL] = act_fail,
    [RUN_ACT_LOST] = act_lost,
    [RUN_ACT_END] = act_end,
    [RUN_ACT_CLOSE] = act_close,
    [RUN_ACT_RELEASE] = act_release,
    [RUN_ACT_PURGE_LATER] = act_purge_later,
    [RUN_ACT_FORGET] = act_forget,
};

void actions_changed(void *ctx, struct run *r, enum run_state before, enum run_event ev)
{
    struct parts *m = ctx;

    if (log_is_on(LOGE_DEBUG3))
        log_event(LOGC_JOB, LOGE_DEBUG3, r->id, "run %u: %s, %s", r->key.run, run_fsm_event_name(ev),
                  run_fsm_state_name(before));
    if (before < RUN_RELEASED && r->slot.state >= RUN_RELEASED)
        succession_left(m, r);
    if (r->slot.state == RUN_GONE)
        run_drop(m->runs, r);
}

void actions_odd(void *ctx, struct run *r, enum run_event ev)
{
    (void)ctx;
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "run %u: %s means nothing while %s", r->key.run,
              run_fsm_event_name(ev), run_fsm_state_name(r->slot.state));
}
