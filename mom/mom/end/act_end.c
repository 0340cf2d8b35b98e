/* Every end of a run here, and why: all go through act_end_finish(), with r->failure filled before.
 *
 * act_end_finish() says FINISH to the server, then begins the epilogue; delivery and release follow by themselves (act_leave).
 * The end and a checkpoint may cross: a script that leaves the job dead answers after the job's end is known, so that end
 * waits for it (r->ckpt.end_waits) and act_end_checkpointed or act_end_late says it. */
#include "act_end.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "act_running.h"
#include "act_start.h"
#include "ckpt.h"
#include "disk.h"
#include "fitness.h"
#include "images.h"
#include "orphans.h"
#include "log.h"
#include "mom.h"
#include "mom_run.h"
#include "run_end.h"
#include "shepherds.h"
#include "site_action.h"
#include "site_steps.h"
#include "units.h"
#include "usage.h"

enum {
    STATUS_TERMINATED = 256 + SIGTERM,
    STATUS_RETRY = -3,
    STATUS_LOST = -4,
    STATUS_LOST_CHECKPOINTED = -5,
    STATUS_CHECKPOINTED = -12,
    MS_PER_S = 1000
};

static void log_usage(const struct mom *m, const struct run *r, const struct exec_usage *u)
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
 * room (act_leave_release says so). */
static void blame_the_disk(struct mom *m, struct run *r)
{
    char why[ERR_TEXT_MAX];

    if (r->failure.reason != EXEC_END_SETUP || !disk_is_full(&m->home, why, sizeof why))
        return;
    r->failure = (struct run_failure){.status = STATUS_RETRY, .reason = EXEC_END_DISK};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", why);
    log_event(LOGC_NODE, LOGE_ERROR, m->home.node,
              "%s; it takes no more jobs (pbsnodes -r when there is room)", why);
}

/* What could not be begun may be begun elsewhere; the server hears whether this host can begin anything before it hears of the
 * end. */
static void doubt_the_host(struct mom *m, const struct run *r)
{
    if (r->failure.reason == EXEC_END_SETUP && !r->started)
        fitness_look(m->fitness);
}

/* Say finish by r->failure, then what follows an end. */
static void act_end_finish(struct mom *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_FINISH};

    usage_end(r);
    blame_the_disk(m, r);
    doubt_the_host(m, r);
    data.exec_event_data_u.finish = (struct exec_finish_data){.status = r->failure.status,
                                                              .reason = r->failure.reason,
                                                              .text = r->failure.text,
                                                              .usage = usage_counted(m, r)};
    if (r->started)
        log_usage(m, r, &data.exec_event_data_u.finish.usage);
    mom_say(m, r, &data);
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "Obit sent");
    act_end_again(m, r);
}

void act_end_again(struct mom *m, struct run *r)
{
    if (r->epilogue_done || !r->started || run_is_sister(r))
        mom_post(m, r, RUN_EV_EPILOGUE_OK);
    else
        site_steps_run(m->site_steps, r, STEP_EPILOGUE);
}

void act_end_epilogue_done(struct mom *m, struct run *r, bool ran)
{
    r->epilogue_done = true;
    if (ran)
        mom_note(r, SHEP_NOTE_EPILOGUE_DONE);
    mom_post(m, r, RUN_EV_EPILOGUE_OK);
}

void act_end_give_up(void *ctx, struct run *r)
{
    act_start_stop(r);
    r->failure = (struct run_failure){.status = STATUS_TERMINATED, .reason = EXEC_END_TERMINATED};
    act_end_finish(ctx, r);
}

void act_end_fail(void *ctx, struct run *r)
{
    act_end_finish(ctx, r);
}

/* The end of the job answers the checkpoint too: a failure said before it would have others turn to a job that is no
 * more. A sister's part may end while the job lives on. */
void act_end_late(void *ctx, struct run *r)
{
    run_end_judge(&r->ended_record, &r->failure);
    r->ckpt.end_waits = false;
    if (r->ckpt.attempt && run_is_sister(r))
        act_running_failed(ctx, r);
    act_end_finish(ctx, r);
}

/* Was it the tool of a checkpoint that ended it, before its MOM could hear how the checkpoint went? */
static bool ended_in_the_dark(const struct run *r)
{
    return r->ckpt.interrupted && r->ended_record.how == SHEP_END_ITSELF &&
           WIFSIGNALED(r->ended_record.status) && WTERMSIG(r->ended_record.status) == SIGKILL;
}

void act_end_recorded(void *ctx, struct run *r)
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
    act_end_finish(ctx, r);
}

void act_end_checkpointed(void *ctx, struct run *r)
{
    struct mom *m = ctx;

    ckpt_say(m, r);
    if (r->ckpt.end_waits) {
        r->ckpt.end_waits = false;
        r->failure = (struct run_failure){.status = STATUS_CHECKPOINTED, .reason = EXEC_END_CHECKPOINTED};
        r->keep_output = true;
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        act_end_finish(m, r);
    } else if (r->ckpt.leave && !images_are_joint(r)) {
        r->keep_output = true; /* the job will go on writing */
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        r->stop_text[0] = '\0';
        shepherds_terminate(r, 0, EXEC_END_CHECKPOINTED, r->stop_text);
    }
}

void act_end_lost(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    size_t n = orphans_kill(&m->home, r);

    log_event(LOGC_JOB, LOGE_ERROR, r->id, "the job's shepherd is gone without a word; killed %zu processes",
              n);
    if (r->started)
        r->failure = (struct run_failure){.status = STATUS_LOST, .reason = EXEC_END_LOST};
    else /* it records that before anything of the job runs */
        r->failure = (struct run_failure){.status = STATUS_RETRY, .reason = EXEC_END_SETUP};
    snprintf(r->failure.text, sizeof r->failure.text, "the job's shepherd %s",
             r->started ? "was lost" : "ended before the job began");
    act_end_finish(ctx, r);
}
