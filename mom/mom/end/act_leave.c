/* After the end of a run: deliver its output, release its vnodes, forget it. Steps 4 to 6 of the order in act_end.c.
 *
 * The shepherd closes (outputs, job directory, processes that are left). Then RELEASE, the last report of the run here,
 * frees the vnodes. Where delivery may take long (another host, large files) a first RELEASE frees them before it: no process
 * of the job is left, and other jobs need not wait for a host that does not answer. PURGE of the server then removes what is
 * left, but for what another run of the same job on this host uses: spool files and images are named by the job. */
#include "act_leave.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act_start.h"
#include "fitness.h"
#include "hook_event.h"
#include "host_event.h"
#include "images.h"
#include "requeue_output.h"
#include "log.h"
#include "outputs.h"
#include "mom.h"
#include "mom_run.h"
#include "shepherds.h"
#include "site_action.h"
#include "rundir_pool.h"
#include "staging.h"
#include "strbuf.h"
#include "usage.h"

/* COPIED_SOON_BYTES: a choice; a local copy of so much takes well under a second. See takes_long. */
enum { PATH_LEN_MAX = 8192, VNODES_MAX = 256, COPIED_SOON_BYTES = 16 << 20 };

static void act_leave_on_end_hooks(struct mom *m, struct run *r, const struct host_verdict *v)
{
    (void)v; /* nothing is left to refuse */
    r->end_done = true;
    mom_post(m, r, RUN_EV_CLOSED);
}

/* Hooks of execjob_end, last before the vnodes are free; of a start that failed before any prologue, those of execjob_abort. */
static void act_leave_end_hooks(struct mom *m, struct run *r)
{
    bool began = r->started || r->prologue_begun || r->prologue_done;
    uint32_t event = began ? HOOK_EVENT_execjob_end : HOOK_EVENT_execjob_abort;

    if (r->end_done || (!began && !r->begin_begun) || !host_event_run(m, r, event, act_leave_on_end_hooks))
        mom_post(m, r, RUN_EV_CLOSED);
}

static void act_leave_on_closed(void *arg, struct run *r, const struct shep_close_result *res)
{
    staging_log(r, res, "out");
    if (res->failed) {
        log_event(LOGC_FIL, LOGE_ERROR, r->id, "Job files not copied:---->>>> %s", res->text);
        free(r->note);
        r->note = strdup(res->text);
    }
    act_leave_end_hooks(arg, r);
}

/* A run that never had a process has nothing to deliver, and this host cannot start the program that would. Files that were
 * staged in, or are of an earlier run, wait until the host can start processes again. */
static bool is_untouched(const struct mom *m, const struct run *r)
{
    return !r->started && !r->staged_in && !r->keep_output && r->failure.reason == EXEC_END_SETUP &&
           fitness_is_bad(m->fitness);
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

/* A short copy is over before another job could start: it is not worth an event. */
static bool takes_long(const struct shep_close_args *a)
{
    struct stat st;

    if (a->out.files.files_len)
        return true;
    for (u_int i = 0; i < a->items.items_len; i++) {
        const struct shep_delivery *d = &a->items.items_val[i];

        if (!d->remove && lstat(d->from, &st) == 0 && (!d->local || st.st_size > COPIED_SOON_BYTES))
            return true;
    }
    return false;
}

static void release_early(struct mom *m, struct run *r)
{
    char *nodes[VNODES_MAX], none[1] = "";
    struct exec_event_data data = {.kind = EXEC_EVENT_RELEASE};
    struct exec_release_data *d = &data.exec_event_data_u.release;

    if (r->room_given || (r->ended && r->ended_record.leftovers))
        return; /* processes that could not be killed may still use the vnodes */
    r->room_given = true;
    d->nodes.nodes_val = nodes;
    d->nodes.nodes_len = vnodes_of(r, nodes, VNODES_MAX);
    d->note = none;
    mom_say(m, r, &data);
}

void act_leave_close(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    struct shep_close_args a;
    struct err e = {0};

    if (!r->owner_home || is_untouched(m, r)) { /* no order was ever written, or none was begun */
        act_leave_end_hooks(m, r);
        return;
    }
    if (r->staged_in)
        images_note_staged(&m->home, r, r->failure.reason == EXEC_END_CHECKPOINTED);
    if (outputs_deliver(&m->home, r, r->owner_home, r->failure.status, &a, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: the list of its files to deliver is not whole", r->key.run);
    if (a.out.files.files_len || a.items.items_len)
        log_event(LOGC_FIL, LOGE_JOB, r->id, "copy file request received");
    if (a.brought.files.files_len)
        log_event(LOGC_FIL, LOGE_JOB, r->id, "delete file request received");
    if (takes_long(&a))
        release_early(m, r);
    shepherds_close(m->shepherds, r, &a, act_leave_on_closed, m);
}

static void say_left(struct mom *m, struct run *r)
{
    struct exec_event_data data = {.kind = EXEC_EVENT_LEFT};

    if (images_are_left(&m->home, r))
        mom_say(m, r, &data);
}

void act_leave_release(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    char *nodes[VNODES_MAX], none[1] = "";
    struct exec_event_data data = {.kind = EXEC_EVENT_RELEASE};
    struct exec_release_data *d = &data.exec_event_data_u.release;

    if (r->keep_output) { /* first: the next host may ask as soon as RELEASE is sent */
        requeue_output_keep(&m->home, r);
        say_left(m, r);
    }
    d->nodes.nodes_val = nodes;
    d->nodes.nodes_len = vnodes_of(r, nodes, VNODES_MAX);
    d->final = true;
    d->attention = (r->ended && r->ended_record.leftovers) || r->failure.reason == EXEC_END_DISK;
    d->note = r->failure.reason == EXEC_END_DISK ? r->failure.text : r->note ? r->note : none;
    mom_say(m, r, &data);
    if (r->purge_wanted)
        mom_post(m, r, RUN_EV_PURGE);
}

void act_leave_purge_later(void *ctx, struct run *r)
{
    r->purge_wanted = true;
    mom_note(r, SHEP_NOTE_PURGE);
    r->grace_s = 0;
    r->stop_reason = EXEC_END_TERMINATED;
    r->stop_text[0] = '\0';
    if (r->slot.state < RUN_ENDING)
        mom_post(ctx, r, RUN_EV_TERMINATE);
}

static void remove_spooled(const struct mom *m, const struct run *r)
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

void act_leave_forget(void *ctx, struct run *r)
{
    struct mom *m = ctx;
    struct err e = {0};

    act_start_stop(r);
    site_action_stop(r);
    shepherds_let_go(r);
    usage_end(r);
    journal_close(&m->outbox, r);
    if (!run_has_other(m->runs, r)) { /* these files would be that run's too */
        if (!r->keep_output && r->unwanted)
            requeue_output_put_aside(&m->home, r);
        if (!r->keep_output)
            remove_spooled(m, r);
        if (images_is_from_elsewhere(r) && !r->started) /* the server knows it by its old host */
            images_remove(&m->home, r->key.seq, r->key.index);
        images_forget(&m->home, r);
    }
    if (rundir_pool_give(m->rundir_pool, r->path, r->start.user, &e) < 0)
        log_err(LOGC_JOB, r->id, &e, "run %u: its directory is neither kept for the next run nor removed",
                r->key.run);
}
