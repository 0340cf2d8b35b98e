/* The end of a run. See job_end.h.
 *
 *   finish of the first host -> act_finish: the exit status is known, the other hosts are told to end
 *   a host is over           -> its claims go; the last one: facts -> verdict -> EV_RUN_OVER
 *   act_end, act_requeue     -> orders to forget the run, accounting, history, or back into the queue
 *   job_end_listen           -> only now the run itself is freed: listeners before it still read it
 *
 * A host may come here more than once (a refusal, a loss and a late release cross); the second time
 * nothing happens, since its state is beyond READY. What the verdict found is kept as the job's intent,
 * which the machine's guards read. A subjob leaves memory only when its row of history can be read; any
 * other job after its minutes as history, or at once where none is kept. */
#include "job_end.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "assign.h"
#include "commit.h"
#include "exec_send.h"
#include "hold_types.h"
#include "host_loss.h"
#include "run_hosts.h"
#include "intern.h"
#include "job_fsm.h"
#include "job_view.h"
#include "log.h"
#include "suspend_release.h"
#include "release_nodes.h"
#include "run_comment.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "subjob.h"
#include "run_verdict.h"
#include "server_events.h"
#include "words.h"

enum {
    MAX_RUNS = 20,            /* PBS holds a job whose run_count is above that */
    STAGEIN_WAIT_S = 1800,    /* a choice: a file server may be back by then; qalter -a shortens it */
    HOOK_DELETE_STATUS = -19, /* HOOK_ASKED_DELETE of exit_status.def: job.delete() in a hook of a host */
    LEFT_AT_MAX = 1 << 20     /* names of some ten thousand hosts; what is at hosts beyond stays there */
};

struct job_end {
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct exec_send *send;
    struct commit *commit;
    struct host_loss *loss;
};

struct job_end *job_end_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x, struct commit *c,
                               struct host_loss *l)
{
    struct job_end *d = calloc(1, sizeof *d);

    if (d)
        *d = (struct job_end){s, f, x, c, l};
    return d;
}

void job_end_destroy(struct job_end *d)
{
    free(d);
}

/* --- the last host -------------------------------------------------------------------------------- */

/* A lost host outweighs what the others ended with when they were told to; a wish that is then as good as done
 * outweighs both. */
static void count_loss(struct job *j)
{
    struct run *r = j->run;
    int status = host_loss_status(r);

    if (!status || j->run->hook_status || j->intent == INTENT_DELETE ||
        (!r->lost && j->intent != INTENT_NONE))
        return;
    r->finished = true;
    r->status = status;
    j->exited = true;
    j->exit_status = status;
}

/* A hook of a host decides how the run ends, whatever the job ended with. */
static void count_hook(struct job *j)
{
    struct run *r = j->run;

    if (!r->hook_status || j->intent == INTENT_DELETE)
        return;
    r->finished = true;
    r->status = r->hook_status;
    j->exited = true;
    j->exit_status = r->hook_status;
}

static void say_lost(const struct job *j)
{
    if (!j->run->lost_host || j->intent == INTENT_DELETE)
        return;
    if (!j->run->started)
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job never started, execution node %s down",
                  j->run->lost_host);
    else
        log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Job %s, execution node %s down",
                  j->intent == INTENT_REQUEUE ? "requeued" : "deleted", j->run->lost_host);
}

/* It has been tried too often. Of an array, all that has not started yet would fare no better. */
static void hold_back(struct job_end *d, struct job *j)
{
    struct job *array = job_is_subjob(j) ? subjob_array(d->ctx->jobs, j) : NULL;
    char text[JOBID_TEXT_MAX + 80];

    if (!array) {
        j->hold |= HOLD_SYSTEM;
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, "job held, too many failed attempts to run",
                           NULL);
        return;
    }
    snprintf(text, sizeof text, "Job Array Held, too many failed attempts to run subjob %s", j->obj.name);
    attr_list_set_text(&array->obj.attrs, JOB_ATTR_comment, text, NULL);
    hold_types_change(d->ctx, d->fsm, array, HOLD_SYSTEM, 0);
}

/* It has been given notice that it goes back into its queue, with an image or without, and its script has ended
 * before that. A method that has begun meanwhile changes nothing: C only asks for an image at first. */
static bool was_told_to_go(const struct job *j)
{
    return j->preempt && preempt_method_row(j->preempt->notice.method)->after == AFTER_QUEUED &&
           j->run->finished && j->run->reason == EXEC_END_ITSELF;
}

/* A hook has asked for its deletion, or an epilogue hook has rejected it and none has asked for another run. A deletion stays one. */
static bool is_rejected(const struct job *j)
{
    const struct run *r = j->run;

    return j->intent != INTENT_DELETE &&
           (r->hook_status == HOOK_DELETE_STATUS || (r->hook_ends && !r->hook_status));
}

static void judge_run(struct job_end *d, struct job *j)
{
    struct run_verdict_facts f = {.wants_delete = j->intent == INTENT_DELETE,
                                  .wants_requeue =
                                      j->intent == INTENT_REQUEUE || j->intent == INTENT_CHECKPOINT,
                                  .rejected = is_rejected(j),
                                  .noticed = was_told_to_go(j),
                                  .finished = j->run->finished,
                                  .status = j->run->status,
                                  .rerunable = attr_list_bool(&j->obj.attrs, JOB_ATTR_Rerunable, true),
                                  .started = j->run->started,
                                  .run_count = j->run_count,
                                  .max_runs = MAX_RUNS};

    switch (run_verdict_of(&f)) {
    case RUN_VERDICT_REQUEUE_HELD:
        hold_back(d, j);
        j->intent = INTENT_REQUEUE;
        break;
    case RUN_VERDICT_REQUEUE:
        if (j->intent != INTENT_CHECKPOINT)
            j->intent = INTENT_REQUEUE;
        break;
    case RUN_VERDICT_END:
        break;
    }
}

/* What could not be brought now may be there later: the job is in state W until then. */
static void wait_for_files(struct job_end *d, struct job *j)
{
    if (j->intent != INTENT_REQUEUE || !j->run->finished || j->run->reason != EXEC_END_STAGEIN)
        return;
    j->exec_time_s = server_ctx_now_s(d->ctx) + STAGEIN_WAIT_S;
    attr_list_set_number(&j->obj.attrs, JOB_ATTR_Execution_Time, j->exec_time_s, NULL);
}

/* Return true if the job was to be requeued for another one but ended by itself, with success, before the order reached it: it is not
 * run again. */
static bool was_done(const struct job *j)
{
    return j->preempt && j->preempt->method == METHOD_REQUEUE && j->run->finished &&
           j->run->reason == EXEC_END_ITSELF && j->run->status == 0;
}

/* First the wishes that events have overtaken are dropped; then the verdict is asked, and what it found is the intent. */
static void job_end_judge(struct job_end *d, struct job *j)
{
    /* Its image was written, but it came to its own end before it could be stopped. */
    if (j->intent == INTENT_CHECKPOINT && j->run->finished && j->run->reason == EXEC_END_ITSELF)
        j->intent = INTENT_NONE;
    if (j->intent == INTENT_REQUEUE && was_done(j))
        j->intent = INTENT_NONE;
    if (is_rejected(j))
        j->intent = INTENT_NONE;
    judge_run(d, j);
    wait_for_files(d, j);
}

/* The facts in the order in which they outweigh each other: a hook of a host, a lost host, what the script ended with. They are
 * complete before RUN_OVER is posted, since the guards of its rows read the intent. */
static void maybe_over(struct job_end *d, struct job *j)
{
    jobs_touch(d->ctx->jobs, j, PART_HOT);
    if (!job_run_is_over(j->run))
        return;
    count_hook(j);
    count_loss(j);
    job_end_judge(d, j);
    say_lost(j);
    job_fsm_post(d->fsm, j, EV_RUN_OVER);
}

static void host_is(struct job_end *d, struct job *j, const char *service, enum run_host_state how)
{
    struct run_host *h = j->run ? job_run_host(j->run, service) : NULL;

    if (!h || h->state > RUN_HOST_READY)
        return;
    run_hosts_release(d->ctx, j, h, how);
    if (!job_run_is_over(j->run))
        host_loss_judge(d->loss, j, h);
    maybe_over(d, j);
}

void job_end_on_released(void *arg, const struct server_event *ev)
{
    host_is(arg, ev->job, ev->service, RUN_HOST_RELEASED);
}

void job_end_on_refused(void *arg, const struct server_event *ev)
{
    struct job *j = ev->job;
    struct strbuf b;

    if (ev->proc != EXEC_START)
        return;
    strbuf_init(&b, 1024);
    strbuf_addf(&b, "Not Running: PBS Error: %s (%d)", ev->text, ev->code);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&b), NULL);
    strbuf_fini(&b);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Unable to Run Job, MOM rejected: %s: %s (%d)", ev->service,
              ev->text, ev->code);
    host_is(arg, j, ev->service, RUN_HOST_LOST);
}

void job_end_on_lost(void *arg, const struct server_event *ev)
{
    job_end_host_lost(arg, ev->job, ev->service);
}

void job_end_host_lost(struct job_end *d, struct job *j, const char *service)
{
    if (j->run && !j->run->lost_host && !j->run->finished)
        j->run->lost_host = intern_ref(job_run_host_name(service));
    host_is(d, j, service, RUN_HOST_LOST);
}

/* --- actions -------------------------------------------------------------------------------------- */

void act_finish(void *arg, struct job *j)
{
    struct job_end *d = arg;

    j->exited = true;
    j->exit_status = j->run->status;
    j->obittime_s = server_ctx_now_s(d->ctx);
    jobs_touch(d->ctx->jobs, j, PART_HOT);
    exec_send_end_others(d->send, j);
}

static void add_how_it_ended(struct strbuf *b, const struct job *j)
{
    const char *limit = j->run && j->run->finished ? job_view_limit(j->run->status) : NULL;

    if (limit)
        strbuf_addf(b, " and exceeded resource %s", limit);
    else if (j->intent != INTENT_DELETE)
        strbuf_add(b, j->exited && j->exit_status == 0 ? " and finished" : " and failed");
    else if (j->run && j->run->deleted_by)
        strbuf_addf(b, " and terminated by %s", j->run->deleted_by);
    else
        strbuf_add(b, " and terminated");
}

/* What the comment of a run that is over begins with. That of a notice speaks of what is to come. */
static const char *comment_of_run(const struct job *j)
{
    const char *old = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);

    if (j->preempt && j->preempt->notice.method)
        return "Job had notice to give way";
    return old ? old : "Job";
}

static void say_how(struct job *j)
{
    struct strbuf b;

    strbuf_init(&b, 4096);
    if (job_is_subjob(j))
        strbuf_addf(&b, "Subjob %s",
                    j->intent == INTENT_DELETE         ? "terminated"
                    : j->exited && j->exit_status == 0 ? "finished"
                                                       : "failed");
    else {
        strbuf_add(&b, comment_of_run(j));
        add_how_it_ended(&b, j);
    }
    if (j->run && j->run->note)
        strbuf_addf(&b, ": %s", j->run->note);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&b), NULL);
    strbuf_fini(&b);
}

/* The run goes; its hosts are told to forget it when all of this is durable. */
static void close_run(struct job_end *d, struct job *j)
{
    if (!j->run)
        return;
    exec_send_purge(d->send, j);
    suspend_release_forget(d->ctx, j);
    assign_release_all(d->ctx->assign, j);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_exec_vnode, job_run_vnodes(j->run), NULL);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_exec_host, job_run_where(j->run), NULL);
}

struct job_end_leaving {
    struct job_end *end;
    struct job *job; /* referenced */
};

static void job_end_leave(void *arg)
{
    struct job_end_leaving *l = arg;

    if (!l->job->obj.gone)
        job_fsm_post(l->end->fsm, l->job, EV_EXPIRE);
    job_unref(l->job);
    free(l);
}

/* A million subjobs would be too many in memory, so each leaves at its end. It is shown by its row of history as soon as that can be
 * read. Its own row goes with the batch that brings
 * it: a server killed in between must not find it running. */
static void leave_when_durable(struct job_end *d, struct job *j)
{
    struct job_end_leaving *l = malloc(sizeof *l);

    commit_remove_job(d->commit, j->key);
    if (!l) {
        job_fsm_post(d->fsm, j, EV_EXPIRE);
        return;
    }
    *l = (struct job_end_leaving){d, job_ref(j)};
    commit_then(d->commit, job_end_leave, l);
}

static void job_end_finish(struct job_end *d, struct job *j)
{
    int64_t now = server_ctx_now_s(d->ctx);

    j->history_s = now;
    if (!j->obittime_s)
        j->obittime_s = now;
    if (j->output_at)
        exec_send_purge_left(d->send, j, j->output_at);
    exec_send_purge_earlier(d->send, j);
    job_set_text(&j->output_at, NULL);
    job_set_text(&j->left_at, NULL);
    if (j->exited && attr_list_is_set(&j->obj.attrs, JOB_ATTR_stageout) &&
        !attr_list_is_set(&j->obj.attrs, JOB_ATTR_Stageout_status)) /* no failure was reported: all is well */
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_Stageout_status, 1, NULL);
    server_events_tell(d->ctx->events, &(struct server_event){.kind = EVENT_RUN_ENDED, .job = j});
    job_set_text(&j->resv_name, j->queue && j->queue->resv ? j->queue->resv->obj.name : NULL);
    jobs_leave_queue(j);
    jobs_touch(d->ctx->jobs, j, PART_HOT | PART_ATTRS);
    if (job_is_subjob(j))
        leave_when_durable(d, j);
    else if (!server_obj_history(d->ctx->server) || j->no_history || j->moved_to)
        job_fsm_post(d->fsm, j, EV_EXPIRE);
}

void act_end(void *arg, struct job *j)
{
    say_how(j);
    close_run(arg, j);
    job_end_finish(arg, j);
}

void act_drop(void *arg, struct job *j)
{
    job_end_finish(arg, j);
}

/* A run that ended by a failure of its host: users who look at the job in its queue read why. */
static void say_why_back(struct job *j)
{
    struct strbuf b;

    if (!j->run || !j->run->finished || j->run->started || !j->run->note || j->hold & HOLD_SYSTEM)
        return;
    strbuf_init(&b, 4096);
    strbuf_addf(&b, "Not Running: PBS Error: %s", j->run->note);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&b), NULL);
    strbuf_fini(&b);
}

/* The host that ran the script has what it has written, and all that runs before it had, which was brought there. */
static void note_output(struct job *j)
{
    if (j->run && j->run->started)
        job_set_text(&j->output_at, j->run->hosts[0].service);
}

static bool is_left_at(const struct job *j, const char *service)
{
    const char *at = j->left_at, *one;
    size_t n;

    while (at && (one = words_next(&at, ' ', &n)))
        if (n == strlen(service) && strncmp(one, service, n) == 0)
            return true;
    return false;
}

/* What it is stays with the host; it goes when the job is over, wherever that ran last. */
void job_end_on_left(void *arg, const struct server_event *ev)
{
    struct job_end *d = arg;
    struct job *j = ev->job;
    struct strbuf b;

    if (is_left_at(j, ev->service))
        return;
    strbuf_init(&b, LEFT_AT_MAX);
    strbuf_add(&b, j->left_at ? j->left_at : "");
    strbuf_add_sep(&b, " ");
    strbuf_add(&b, ev->service);
    job_set_text(&j->left_at, strbuf_str(&b));
    strbuf_fini(&b);
    jobs_touch(d->ctx->jobs, j, PART_HOT);
}

static void go_back(struct job_end *d, struct job *j)
{
    run_comment_forget(j);
    say_why_back(j);
    note_output(j);
    j->start_failed_s = j->run && !j->run->started ? server_ctx_now_s(d->ctx) : 0;
    close_run(d, j);
    j->suspender = SUSPENDED_BY_NOBODY;
    j->etime_s = j->hold ? 0 : server_ctx_now_s(d->ctx);
    jobs_touch(d->ctx->jobs, j, PART_HOT | PART_ATTRS);
}

void act_requeue(void *arg, struct job *j)
{
    go_back(arg, j);
}

/* Nothing is heard of hosts that are given up: they get KILL at their next HELLO. Those that are here are told
 * now. */
static void job_end_give_up(struct job_end *d, struct job *j, exec_why why)
{
    if (!j->run)
        return;
    if (!j->run->finished)
        exec_send_terminate(d->send, j, why, 0);
    for (size_t i = 0; i < j->run->n_hosts; i++)
        if (j->run->hosts[i].state <= RUN_HOST_READY)
            run_hosts_release(d->ctx, j, &j->run->hosts[i], RUN_HOST_LOST);
    if (!j->exited) {
        j->exited = true;
        j->exit_status = KILLED_STATUS;
    }
}

void act_abandon(void *arg, struct job *j)
{
    job_end_give_up(arg, j, EXEC_WHY_FORCE);
    act_end(arg, j);
}

void act_abandon_requeue(void *arg, struct job *j)
{
    job_end_give_up(arg, j, EXEC_WHY_REQUEUE); /* its output is kept for the next run */
    go_back(arg, j);
}

/* What a waiting job must not show of the run before. Its output stays where it is (output_at), and so do its counts. */
static void begin_again(struct job *j)
{
    release_nodes_forget(j);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_exec_vnode);
    attr_list_unset(&j->obj.attrs, JOB_ATTR_exec_host);
    j->intent = INTENT_NONE;
    j->session = 0;
    j->stime_s = 0;
    j->exited = false;
}

void job_end_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    if (!j->run || job_is_placed(j))
        return;
    job_run_destroy(j->run);
    j->run = NULL;
    if (job_is_waiting(j))
        begin_again(j);
}

void act_forget(void *arg, struct job *j)
{
    struct job_end *d = arg;

    commit_remove_job(d->commit, j->key);
    if (j->array)
        commit_remove_array(d->commit, j->key.seq);
    if (j->array && (!server_obj_history(d->ctx->server) || j->no_history))
        commit_remove_subjob_history(d->commit, j->key.seq);
    jobs_remove(d->ctx->jobs, j);
}
