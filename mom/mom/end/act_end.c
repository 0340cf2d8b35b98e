/* The end of a run on this host. The order, and why:
 *
 *   1 judge     act_end_*            a cause fills r->failure: the shepherd's record, a loss, a failure, a checkpoint
 *   2 finish    act_end_finish       sampling stops, the host is examined, FINISH is sent: the server hears of the end before
 *                                    anything that may take long
 *   3 epilogue  act_end_again        the site's script, while the job's files are still here
 *   4 close     act_leave_close      the shepherd delivers output and removes what the job had here; early RELEASE if that
 *                                    may take long, since vnodes must not wait for another host
 *   5 release   act_leave_release    the last RELEASE: after it the server may start another run of the job
 *   6 forget    act_leave_forget     on PURGE, so that a restart of the MOM can answer for the run until the server knows all
 *
 * An end and a checkpoint may cross: a script that ends the job answers after the job's end is known. That end then
 * waits (r->ckpt.end_waits), and act_end_checkpointed or act_end_late reports it. */
#include "act_end.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "act_running.h"
#include "act_start.h"
#include "ckpt.h"
#include "exit_status.h"
#include "fitness.h"
#include "hook_event.h"
#include "host_event.h"
#include "images.h"
#include "orphans.h"
#include "log.h"
#include "mom.h"
#include "mom_config.h"
#include "mom_run.h"
#include "enforce.h"
#include "shepherds.h"
#include "site_action.h"
#include "site_steps.h"
#include "units.h"
#include "usage.h"

enum {
    STATUS_TERMINATED = EXIT_STATUS_SIGNAL + SIGTERM,
    LEAST_INODES = 16, /* a choice: a run and its output make fewer files */
    MS_PER_S = 1000
};

static int wait_status(int status)
{
    return WIFSIGNALED(status) ? EXIT_STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The first row of a reason counts; reasons without a row keep the status of the process. */
static const struct {
    exec_reason reason;
    int status;
} limits[] = {
    {EXEC_END_NCPUS, EXIT_STATUS_NCPUS_SUM},
    {EXEC_END_VMEM, EXIT_STATUS_VMEM},
    {EXEC_END_MEM, EXIT_STATUS_MEM},
    {EXEC_END_LOST, EXIT_STATUS_LOST},
    {EXEC_END_CHECKPOINTED, EXIT_STATUS_CHECKPOINTED},
    {EXEC_END_CPUT, EXIT_STATUS_CPUT},
    {EXEC_END_WALLTIME, EXIT_STATUS_WALLTIME},
};

void act_end_judge(const struct shep_ended *ended, struct run_failure *out)
{
    out->reason = ended->reason;
    out->status = ended->how == SHEP_END_SETUP ? ended->code : wait_status(ended->status);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (ended->how != SHEP_END_SETUP && limits[i].reason == ended->reason)
            out->status = limits[i].status;
    if (out->status == EXIT_STATUS_NCPUS_SUM && ended->reason == EXEC_END_NCPUS &&
        strstr(ended->text, ENFORCE_BURST))
        out->status = EXIT_STATUS_NCPUS_BURST;
    snprintf(out->text, sizeof out->text, "%s", ended->text);
}

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

/* A run's own files and a little output need more than this, so a disk with less fails every run. */
static const uint64_t least_bytes = 256 << 10;

/* File systems without a count of inodes say 0 of 0. */
static bool is_full(const char *path, char *why, size_t size)
{
    struct statvfs v;

    if (statvfs(path, &v) < 0)
        snprintf(why, size, "%s: %s", path, strerror(errno));
    else if ((uint64_t)v.f_bavail * v.f_frsize < least_bytes)
        snprintf(why, size, "no space is left for %s", path);
    else if (v.f_files && v.f_favail < LEAST_INODES)
        snprintf(why, size, "no inodes are left for %s", path);
    else
        return false;
    return true;
}

/* Is one of the places full that a run writes to: no space, or no inode? `why`, of `size` bytes, names it. The answer decides
 * whether a run failed by the host's fault or the job's. A disk that cannot be examined counts as full: it is broken. The
 * owner's home is not examined: it tells nothing about the next job. */
static bool is_disk_full(const struct home *h, char *why, size_t size)
{
    const char *root = h->config->jobdir_root;

    return is_full(h->jobs, why, size) || is_full(h->spool, why, size) || is_full(h->aux, why, size) ||
           is_full(h->config->tmpdir, why, size) || (root && is_full(root, why, size));
}

/* A run that could not be set up on a full disk may be set up on another host. This host takes no job until an operator
 * has made room (act_leave_release reports that). */
static void blame_the_disk(struct mom *m, struct run *r)
{
    char why[ERR_TEXT_MAX];

    if (r->failure.reason != EXEC_END_SETUP || !is_disk_full(&m->home, why, sizeof why))
        return;
    r->failure = (struct run_failure){.status = EXIT_STATUS_RETRY, .reason = EXEC_END_DISK};
    snprintf(r->failure.text, sizeof r->failure.text, "%s", why);
    log_event(LOGC_NODE, LOGE_ERROR, m->home.node,
              "%s; it takes no more jobs (pbsnodes -r when there is room)", why);
}

/* A job that could not be started may start on another host: the server hears whether this host can start processes before it
 * hears of the end. */
static void doubt_the_host(struct mom *m, const struct run *r)
{
    if (r->failure.reason == EXEC_END_SETUP && !r->started)
        fitness_look(m->fitness);
}

/* Step 2: send FINISH by r->failure, then begin the epilogue. */
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
    ckpt_keep_saved(m, r);
    mom_say(m, r, &data);
    log_event(LOGC_JOB, LOGE_DEBUG, r->id, "Obit sent");
    act_end_again(m, r);
}

/* What they ask for has gone to the server, which decides when the run is over; a failure of theirs is ignored. */
static void act_end_on_epilogue_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    act_end_epilogue_done(m, r, true);
}

void act_end_again(struct mom *m, struct run *r)
{
    if (!r->epilogue_done && r->started &&
        host_event_run(m, r, HOOK_EVENT_execjob_epilogue, act_end_on_epilogue_hooks))
        return;
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

/* The end of the job answers the checkpoint too: after a failure of the attempt the server would send orders to a job that has
 * ended. A sister's part may end while the job runs on. */
void act_end_late(void *ctx, struct run *r)
{
    act_end_judge(&r->ended_record, &r->failure);
    r->ckpt.end_waits = false;
    if (r->ckpt.attempt && run_is_sister(r))
        act_running_failed(ctx, r);
    act_end_finish(ctx, r);
}

/* Did the tool of a checkpoint end the job, before its MOM could hear how the checkpoint went? */
static bool ended_in_the_dark(const struct run *r)
{
    return r->ckpt.interrupted && r->ended_record.how == SHEP_END_ITSELF &&
           WIFSIGNALED(r->ended_record.status) && WTERMSIG(r->ended_record.status) == SIGKILL;
}

void act_end_recorded(void *ctx, struct run *r)
{
    if (site_action_is_active(r) && r->ended_record.how == SHEP_END_ITSELF && !r->terminating) {
        r->ckpt.end_waits = true; /* the script may have ended it, and will report that */
        return;
    }
    site_action_stop(r);
    act_end_judge(&r->ended_record, &r->failure);
    if (ended_in_the_dark(r)) {
        r->failure.status = EXIT_STATUS_LOST_CHECKPOINTED;
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
        r->failure =
            (struct run_failure){.status = EXIT_STATUS_CHECKPOINTED, .reason = EXEC_END_CHECKPOINTED};
        r->keep_output = true;
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        act_end_finish(m, r);
    } else if (r->ckpt.leave && !images_are_joint(r)) {
        r->keep_output = true; /* the job will continue to write */
        mom_note(r, SHEP_NOTE_KEEP_OUTPUT);
        r->stop_text[0] = '\0';
        shepherds_terminate(r, 0, EXEC_END_CHECKPOINTED, r->stop_text);
    }
}

void act_end_lost(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    size_t n = orphans_kill(&m->home, r);

    log_event(LOGC_JOB, LOGE_ERROR, r->id,
              "the job's shepherd has ended without a record; killed %zu processes", n);
    if (r->started)
        r->failure = (struct run_failure){.status = EXIT_STATUS_LOST, .reason = EXEC_END_LOST};
    else /* a shepherd records a start before it runs anything of the job */
        r->failure = (struct run_failure){.status = EXIT_STATUS_RETRY, .reason = EXEC_END_SETUP};
    snprintf(r->failure.text, sizeof r->failure.text, "the job's shepherd %s",
             r->started ? "was lost" : "ended before the job began");
    act_end_finish(ctx, r);
}
