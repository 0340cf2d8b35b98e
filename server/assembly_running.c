/* The parts that run jobs, and what happens to runs. See assembly.h.
 *
 * Two directions meet here. Down: a method (run, suspend, checkpoint, ...) gives its orders to exec_send. Up: exec_take
 * has
 * posted an event, and the hooks above the table report it to the others (preemption, accounting, limits, parked
 * requests). A hook reads state and calls parts; none decides anything. A part created here knows only those that were
 * created before it. */
#include "assembly.h"

#include "accounting.h"
#include "run_checkpoint.h"
#include "exec_hello.h"
#include "exec_send.h"
#include "exec_take.h"
#include "handover.h"
#include "history.h"
#include "host_loss.h"
#include "job_end.h"
#include "job_limits.h"
#include "intern.h"
#include "job_run.h"
#include "join_wait.h"
#include "kept_output.h"
#include "log.h"
#include "mail.h"
#include "preempt_record.h"
#include "stop_method.h"
#include "node_lost.h"
#include "node_watch.h"
#include "preempt_notice.h"
#include "parked.h"
#include "partial_release.h"
#include "run_removal.h"
#include "term_resend.h"
#include "release_nodes.h"
#include "run.h"
#include "schedulers.h"
#include "script_cache.h"
#include "services.h"
#include "shutdown.h"
#include "strbuf.h"
#include "run_suspend.h"
#include "run_terminate.h"
#include "victim.h"
#include "virtual_time.h"

enum { KEPT_TEXT_MAX = 1 << 20 }; /* as the note of a host, which is the longest part of it */

static void assembly_running_on_ready(void *arg, struct job *j)
{
    runs_host_ready(((struct server *)arg)->parts.runs, j);
}

static void assembly_running_on_released(void *arg, struct job *j, const char *service)
{
    struct server *s = arg;

    job_end_host_over(s->job_end, j, service);
    victims_host_over(s->parts.victims, j);
}

static void assembly_running_on_suspended(void *arg, struct job *j)
{
    run_suspend_host_answered(((struct server *)arg)->parts.run_suspend, j);
}

static void assembly_running_on_resumed(void *arg, struct job *j)
{
    run_suspend_resumed(((struct server *)arg)->parts.run_suspend, j);
}

static void assembly_running_on_checkpointed(void *arg, struct job *j, const char *service,
                                             const exec_checkpointed_data *d)
{
    run_checkpoint_taken(((struct server *)arg)->parts.run_checkpoint, j, service, d);
}

static void assembly_running_on_without_image(void *arg, struct job *j, const char *why)
{
    run_checkpoint_without(((struct server *)arg)->parts.run_checkpoint, j, why);
}

static void assembly_running_on_failed(void *arg, struct job *j, const char *method, int code,
                                       const char *text)
{
    struct server *s = arg;

    if (strcmp(method, "checkpoint") == 0)
        run_checkpoint_failed(s->parts.run_checkpoint, j, code, text);
    else
        run_suspend_failed(s->parts.run_suspend, j, code, text);
}

static void assembly_running_on_image(void *arg, struct job *j)
{
    accounting_checkpointed(((struct server *)arg)->parts.accounting, j);
}

static void assembly_running_on_restarted(void *arg, struct job *j)
{
    accounting_restarted(((struct server *)arg)->parts.accounting, j);
}

static void assembly_running_on_not_suspended(void *arg, struct job *j, const struct err *why)
{
    (void)arg;
    parked_settle(j, PARKED_SUSPEND, why);
}

static void assembly_running_on_not_resumed(void *arg, struct job *j, const struct err *why)
{
    (void)arg;
    parked_settle(j, PARKED_RESUME, why);
}

static void assembly_running_on_no_image(void *arg, struct job *j, const struct err *why)
{
    struct server *s = arg;

    parked_settle(j, PARKED_HOLD, why);
    shutdown_not_saved(s->shutdown, j);
}

static void assembly_running_on_noticed(void *arg, struct job *j, const exec_notice_data *d)
{
    victims_answered(((struct server *)arg)->parts.victims, j, d);
}

/* For the comment of the job when it has ended, behind what its end said. */
static void note_kept(struct server *s, struct job *j, const char *kept)
{
    struct strbuf b;

    strbuf_init(&b, KEPT_TEXT_MAX);
    strbuf_addf(&b, "%s%s%s", j->run->note ? j->run->note : "", j->run->note ? "; " : "", kept);
    intern_unref(j->run->note);
    j->run->note = intern_ref(strbuf_str(&b));
    strbuf_fini(&b);
    jobs_touch(s->ctx.jobs, j, PART_HOT);
}

static void assembly_running_on_files(void *arg, struct job *j, const char *service, const char *note)
{
    struct server *s = arg;
    struct strbuf kept, text;
    bool kept_any;

    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Post job file processing error; job %s on host %s",
              j->obj.name, service);
    if (attr_list_is_set(&j->obj.attrs, JOB_ATTR_stageout)) {
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_Stageout_status, 0, NULL);
        jobs_touch(s->ctx.jobs, j, PART_ATTRS);
    }
    strbuf_init(&kept, KEPT_TEXT_MAX);
    kept_any = kept_output_add(&kept, host_loss_name(service), note);
    if (kept_any)
        note_kept(s, j, strbuf_str(&kept));
    strbuf_init(&text, KEPT_TEXT_MAX);
    strbuf_addf(&text, "%s%s%s", note, kept_any ? "\n" : "", strbuf_str(&kept));
    mail_files(s->parts.mail, j, host_loss_name(service), strbuf_str(&text));
    strbuf_fini(&text);
    strbuf_fini(&kept);
}

static void assembly_running_on_used(void *arg, struct job *j)
{
    job_limits_look(((struct server *)arg)->job_limits, j);
    run_checkpoint_look(((struct server *)arg)->parts.run_checkpoint, j);
}

static void assembly_running_on_attention(void *arg, const char *node, const char *note)
{
    struct server *s = arg;
    struct node *n = nodes_find(s->ctx.nodes, node);

    attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment, note, NULL);
    node_set_state(s->ctx.nodes, n, NODE_OFFLINE_BY_MOM, 0, server_ctx_now_s(&s->ctx));
    change_touch(s->ctx.change, &n->obj.change, PART_HOT | PART_ATTRS);
    log_event(LOGC_NODE, LOGE_ADMIN, node, "offline at the word of its MOM: %s", note);
}

static void assembly_running_on_lost(void *arg, struct job *j, const char *service)
{
    struct server *s = arg;

    job_ref(j);
    job_end_host_lost(s->job_end, j, service);
    victims_host_over(s->parts.victims, j);
    job_unref(j);
}

/* Away too long, or it has left: its runs are given up, and vnodes that it took from another service go back. */
static void assembly_running_on_gone(void *arg, struct service *sv)
{
    struct server *s = arg;

    node_lost_expired(s->node_lost, sv);
    handover_back(&s->ctx, s->parts.services, sv);
}

static bool assembly_running_on_quiet(void *arg)
{
    return schedulers_all_wait(((struct server *)arg)->parts.schedulers);
}

static void assembly_running_on_iteration(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_TIME);
}

static void assembly_running_on_kept(void *arg, struct job *j)
{
    struct server *s = arg;

    runs_renew(s->parts.runs, j);
    preempt_notices_renew(s->preempt_notices, j);
}

static void assembly_running_on_refused(void *arg, struct job *j, const char *service, unsigned proc,
                                        int code, const char *text)
{
    struct server *s = arg;

    if (proc == EXEC_START)
        job_end_refused(s->job_end, j, service, code, text);
    else if (proc == EXEC_SUSPEND || proc == EXEC_RESUME)
        run_suspend_failed(s->parts.run_suspend, j, code, text);
    else if (proc == EXEC_CHECKPOINT)
        run_checkpoint_failed(s->parts.run_checkpoint, j, code, text);
    else if (proc == EXEC_TERMINATE)
        term_resend_later(s->term_resend, j);
}

static void assembly_running_on_ended(void *arg, struct job *j)
{
    struct server *s = arg;

    if (j->exited && attr_list_is_set(&j->obj.attrs, JOB_ATTR_stageout) &&
        !attr_list_is_set(&j->obj.attrs, JOB_ATTR_Stageout_status)) /* nothing was heard of it: all is well */
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_Stageout_status, 1, NULL);
    script_cache_drop(s->script_cache, j->key); /* a subjob has none of its own */
    preempt_record_note_gone(&s->ctx, j);
    if (j->state == JOB_FINISHED)
        history_ended(s->history, j);
}

static const void *assembly_running_script_at_hand(void *arg, const struct job *j, size_t *n)
{
    return script_cache_find(((struct server *)arg)->script_cache,
                             (struct job_key){j->key.seq, JOBID_NO_INDEX}, n);
}

int assembly_running(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;
    struct exec_take_hooks take = {s,
                                   assembly_running_on_ready,
                                   assembly_running_on_released,
                                   assembly_running_on_suspended,
                                   assembly_running_on_resumed,
                                   assembly_running_on_checkpointed,
                                   assembly_running_on_without_image,
                                   assembly_running_on_failed,
                                   assembly_running_on_noticed,
                                   assembly_running_on_files,
                                   assembly_running_on_used,
                                   assembly_running_on_attention};
    struct run_checkpoint_hooks images = {s, assembly_running_on_image, assembly_running_on_restarted,
                                          assembly_running_on_no_image};
    struct run_suspend_hooks standing = {s, assembly_running_on_not_suspended,
                                         assembly_running_on_not_resumed};
    struct job_end_hooks end = {s, assembly_running_on_ended};
    struct virtual_time_hooks time = {s, assembly_running_on_quiet, assembly_running_on_iteration};
    struct release_nodes_hooks resize = {p->accounting, accounting_phase_over, accounting_phase_begun};

    p->services = services_create(&s->ctx);
    p->send = exec_send_create(&s->ctx, p->services, p->commit, s->loop);
    p->stop_methods = stop_methods_create();
    p->runs = runs_create(&s->ctx, p->fsm, p->services, p->send);
    p->run_suspend = run_suspend_create(&s->ctx, p->fsm, p->send, p->stop_methods, &standing);
    p->run_checkpoint =
        run_checkpoint_create(&s->ctx, p->fsm, p->send, p->services, p->stop_methods, &images);
    p->run_removal = run_removal_create(&s->ctx, p->fsm, p->arrays, p->stop_methods);
    p->release_nodes = release_nodes_create(&s->ctx, p->send, &resize);
    s->partial_release = p->release_nodes ? partial_release_create(p->release_nodes, p->stop_methods) : NULL;
    s->run_terminate = run_terminate_create(&s->ctx, p->send);
    s->job_limits = job_limits_create(&s->ctx, p->services, p->send);
    s->host_loss = host_loss_create(&s->ctx, p->send, p->runs, p->run_suspend, p->run_checkpoint);
    s->job_end = job_end_create(&s->ctx, p->fsm, p->send, p->commit, s->host_loss, &end);
    s->join_wait = join_wait_create(s->loop, &s->ctx, s->job_end);
    s->term_resend = p->runs ? term_resend_create(s->loop, &s->ctx, p->runs) : NULL;
    s->take = exec_take_create(&s->ctx, p->services, p->fsm, p->commit, &take);
    s->node_lost = node_lost_create(&s->ctx, s->job_end);
    s->node_watch = node_watch_create(s->loop, &s->ctx, p->services, assembly_running_on_gone, s);
    if (!p->services || !p->send || !p->stop_methods || !p->runs || !p->run_suspend || !p->run_checkpoint ||
        !p->run_removal || !s->partial_release || !s->run_terminate || !s->job_limits || !s->host_loss ||
        !s->job_end || !s->join_wait || !s->term_resend || !s->take || !s->node_lost || !s->node_watch)
        return err_no_memory(e);
    exec_send_on_refused(p->send, assembly_running_on_refused, s);
    exec_send_on_script(p->send, assembly_running_script_at_hand, s);
    s->time = virtual_time_create(s->loop, &s->ctx, p->commit, p->send, &time);
    if (!s->time)
        return err_no_memory(e);
    s->hello = exec_hello_create(&(struct exec_hello_parts){.ctx = &s->ctx,
                                                            .services = p->services,
                                                            .send = p->send,
                                                            .take = s->take,
                                                            .watch = s->node_watch,
                                                            .commit = p->commit,
                                                            .store_reader = p->store_reader,
                                                            .time = s->time,
                                                            .certs = s->set.certs,
                                                            .lost = assembly_running_on_lost,
                                                            .kept = assembly_running_on_kept,
                                                            .gone = assembly_running_on_gone,
                                                            .arg = s});
    return s->hello ? 0 : err_no_memory(e);
}
