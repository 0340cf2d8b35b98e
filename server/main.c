/* pbs_server: bindings, the order of creation, the loop; life.c has what comes between creation and loop, and the end.
 *
 * Everything is made bottom up; what a part must cause above itself is bound here and nowhere else. Listeners
 * of the job machine are told in this order: the counts of limits, the event log, start times, accounting and mail (which
 * still see the run), history, arrays, images of checkpoints, the end of the run, dependencies, schedulers and parked
 * requests, and last the victims of preemptions. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "accounting.h"
#include "arrays.h"
#include "checkpoint.h"
#include "clock.h"
#include "commit.h"
#include "daemon.h"
#include "depend.h"
#include "dispatch.h"
#include "eligible.h"
#include "ends.h"
#include "exec_hello.h"
#include "exec_send.h"
#include "exec_take.h"
#include "guests.h"
#include "handover.h"
#include "history.h"
#include "host_loss.h"
#include "intern.h"
#include "job_end.h"
#include "job_fsm.h"
#include "job_limits.h"
#include "job_log.h"
#include "job_run.h"
#include "join_wait.h"
#include "lease.h"
#include "life.h"
#include "log.h"
#include "loop.h"
#include "loss.h"
#include "mail.h"
#include "mailer.h"
#include "maintenance.h"
#include "method.h"
#include "move_out.h"
#include "names.h"
#include "node_lost.h"
#include "node_watch.h"
#include "notes.h"
#include "notice.h"
#include "parked.h"
#include "partial.h"
#include "plan_hold.h"
#include "preempt.h"
#include "reader.h"
#include "removal.h"
#include "req_table.h"
#include "resize.h"
#include "restore.h"
#include "route.h"
#include "run.h"
#include "schedulers.h"
#include "scripts.h"
#include "services.h"
#include "settle.h"
#include "shutdown.h"
#include "standby.h"
#include "start_time.h"
#include "status.h"
#include "submit.h"
#include "suspend.h"
#include "tally.h"
#include "tenure.h"
#include "terminate.h"
#include "victim.h"
#include "virtual_time.h"
#include "wall_step.h"
#include "watch.h"

enum { GRANT_SECONDS = 60, SCRIPT_MEMORY = 64 << 20 };

/* --- hooks: each one line, from a lower part to a higher one ------------------------------------------- */

static void on_ready(void *arg, struct job *j)
{
    runs_host_ready(((struct server *)arg)->parts.runs, j);
}

static void on_released(void *arg, struct job *j, const char *service)
{
    struct server *s = arg;

    job_end_host_over(s->job_end, j, service);
    victims_host_over(s->parts.victims, j);
}

static void on_suspended(void *arg, struct job *j)
{
    suspend_host_answered(((struct server *)arg)->parts.suspend, j);
}

static void on_resumed(void *arg, struct job *j)
{
    suspend_resumed(((struct server *)arg)->parts.suspend, j);
}

static void on_checkpointed(void *arg, struct job *j, const char *service, const exec_checkpointed_data *d)
{
    checkpoint_taken(((struct server *)arg)->parts.checkpoint, j, service, d);
}

static void on_failed(void *arg, struct job *j, const char *method, int code, const char *text)
{
    struct server *s = arg;

    if (strcmp(method, "checkpoint") == 0)
        checkpoint_failed(s->parts.checkpoint, j, code, text);
    else
        suspend_failed(s->parts.suspend, j, code, text);
}

static void on_image(void *arg, struct job *j)
{
    accounting_checkpointed(((struct server *)arg)->parts.accounting, j);
}

static void on_restarted(void *arg, struct job *j)
{
    accounting_restarted(((struct server *)arg)->parts.accounting, j);
}

static void on_no_image(void *arg, struct job *j, const struct err *why)
{
    struct server *s = arg;

    parked_settle(j, PARKED_HOLD, why);
    shutdown_not_saved(s->shutdown, j);
}

static void on_noticed(void *arg, struct job *j, const exec_notice_data *d)
{
    victims_answered(((struct server *)arg)->parts.victims, j, d);
}

static void on_files(void *arg, struct job *j, const char *service, const char *note)
{
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Post job file processing error; job %s on host %s",
              j->obj.name, service);
    mail_files(((struct server *)arg)->parts.mail, j, service, note);
}

static void on_stepped(void *arg, int64_t by_s)
{
    plan_holds_move(((struct server *)arg)->parts.plan_holds, by_s);
}

static void on_used(void *arg, struct job *j)
{
    job_limits_look(((struct server *)arg)->job_limits, j);
    checkpoint_look(((struct server *)arg)->parts.checkpoint, j);
}

static void on_attention(void *arg, const char *node, const char *note)
{
    struct server *s = arg;
    struct node *n = nodes_find(s->site.nodes, node);

    attr_list_set_text(&n->obj.attrs, NODE_ATTR_comment, note, NULL);
    node_set_state(s->site.nodes, n, NODE_OFFLINE_BY_MOM, 0, site_now_s(&s->site));
    change_touch(s->site.change, &n->obj.change, PART_HOT | PART_ATTRS);
    log_event(LOGC_NODE, LOGE_ADMIN, node, "offline at the word of its MOM: %s", note);
}

static void on_lost(void *arg, struct job *j, const char *service)
{
    struct server *s = arg;

    job_ref(j);
    job_end_host_lost(s->job_end, j, service);
    victims_host_over(s->parts.victims, j);
    job_unref(j);
}

/* Away too long, or for good: its runs are given up, and vnodes that were another's go back. */
static void on_gone(void *arg, struct service *sv)
{
    struct server *s = arg;

    node_lost_expired(s->node_lost, sv);
    handover_back(&s->site, s->parts.services, sv);
}

static bool on_quiet(void *arg)
{
    return schedulers_all_wait(((struct server *)arg)->parts.schedulers);
}

static void on_iteration(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_TIME);
}

static void on_kept(void *arg, struct job *j)
{
    struct server *s = arg;

    runs_renew(s->parts.runs, j);
    notices_renew(s->notices, j);
}

static void on_refused(void *arg, struct job *j, const char *service, unsigned proc, int code,
                       const char *text)
{
    struct server *s = arg;

    if (proc == EXEC_START)
        job_end_refused(s->job_end, j, service, code, text);
    else if (proc == EXEC_SUSPEND || proc == EXEC_RESUME)
        suspend_failed(s->parts.suspend, j, code, text);
    else if (proc == EXEC_CHECKPOINT)
        checkpoint_failed(s->parts.checkpoint, j, code, text);
}

static void on_ended(void *arg, struct job *j)
{
    struct server *s = arg;

    scripts_drop(s->scripts, j->key); /* a subjob has none of its own */
    victims_note_end(s->parts.victims, j);
    if (j->state == JOB_FINISHED)
        history_ended(s->history, j);
}

static const void *script_at_hand(void *arg, const struct job *j, size_t *n)
{
    return scripts_find(((struct server *)arg)->scripts, (struct job_key){j->key.seq, JOBID_NO_INDEX}, n);
}

static void on_log_line(void *arg, struct job_key key, int64_t time_ns, const char *text)
{
    commit_add_log(arg, key, time_ns, text);
}

static void on_limits_changed(void *arg, struct job *j)
{
    runs_altered(((struct server *)arg)->parts.runs, j);
}

/* A job that has given way: told to accounting, to its event log, and to its owner where it is gone. */
static void on_preempted(void *arg, struct job *j, const char *code, const char *by)
{
    struct server *s = arg;
    char letter = code[0] == 'Q' ? 'R' : code[0];
    double lost_s = loss_core_s(j, letter);

    if (letter == '0')
        return;
    accounting_preempted(s->parts.accounting, j, letter, by, lost_s);
    job_log_note(s->job_log, j, "preempted: %c for %s by %s, tried %s, %.1f core-seconds lost", letter,
                 j->preempt->urgent ? j->preempt->urgent : "nobody named", by, j->preempt->tried, lost_s);
    if (letter == 'D')
        mail_preempted(s->parts.mail, j);
}

static void on_preempting(void *arg, struct job *j, const char *code, const char *by)
{
    if (code[0] == 'D' && !job_is_over(j))
        accounting_deleted(((struct server *)arg)->parts.accounting, j, by);
}

static void on_moved(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    (void)from;
    (void)ev;
    tally_review(((struct server *)arg)->site.tally, j);
}

static void on_unmet(void *arg, struct job *j, const char *target)
{
    struct server *s = arg;
    char why[JOBID_TEXT_MAX + 64];

    snprintf(why, sizeof why, "Job deleted as result of dependency on job %s", target);
    accounting_aborted(s->parts.accounting, j, why);
    mail_aborted(s->parts.mail, j, why);
    removal_delete(s->parts.removal, j);
}

static void on_left(void *arg, struct job *j, const char *destination, const char *as)
{
    (void)as;
    accounting_moved_out(((struct server *)arg)->parts.accounting, j, destination);
}

static const char *alias(void *notes, const char *id)
{
    return notes_find(notes, "was", id);
}

static void on_routed(void *arg, struct job *j)
{
    struct server *s = arg;

    accounting_moved_in(s->parts.accounting, j);
    schedulers_wake_all(s->parts.schedulers, SCHED_CMD_MOVED);
}

static void on_unroutable(void *arg, struct job *j, const char *why)
{
    struct server *s = arg;

    accounting_aborted(s->parts.accounting, j, why);
    mail_aborted(s->parts.mail, j, why);
    removal_delete(s->parts.removal, j);
}

static void on_client_gone(void *arg, struct client *c)
{
    struct server *s = arg;

    watches_gone(s->parts.watches, c);
    schedulers_gone(s->parts.schedulers, c);
}

static void on_stop(void *arg)
{
    loop_stop(((struct server *)arg)->loop);
}

static void on_wanted(void *arg)
{
    struct server *s = arg;

    log_event(LOGC_SVR, LOGE_ADMIN, s->site.name, "the primary is back: this server stands by again");
    s->yields = s->site.epoch;
    loop_stop(s->loop);
}

static void on_shutdown(void *arg, int manner)
{
    shutdown_begin(((struct server *)arg)->shutdown, manner);
}

static void on_store_lost(void *arg, const struct err *why)
{
    struct server *s = arg;

    log_err(LOGC_SVR, s->site.name, why, "this server is active no more");
    s->lost = true;
    loop_stop(s->loop);
}

/* --- creation, in order ------------------------------------------------------------------------------- */

static int open_log(struct server *s, struct err *e)
{
    char daemon[300];
    struct log_options o = {.dir = s->set.logs,
                            .path = s->set.log_file,
                            .daemon = daemon,
                            .mask = s->set.log_events >= 0 ? (unsigned)s->set.log_events : LOG_MASK_SERVER,
                            .highres = conf_int(s->set.conf, CONF_PBS_LOG_HIGHRES_TIMESTAMP) != 0};

    snprintf(daemon, sizeof daemon, "Server@%s", s->set.name);
    return log_open(&o, e);
}

static int forget_what_is_unwanted(const struct server *s, struct store *writer, struct err *e)
{
    if (s->set.start != SERVER_START_COLD && s->set.start != SERVER_START_CREATE)
        return 0;
    return restore_nothing(writer, s->set.start == SERVER_START_CREATE, e);
}

static int open_store(struct server *s, struct restore_counts *counts, bool *is_new, struct err *e)
{
    struct store_where where = server_settings_store(&s->set);
    struct store *writer = store_open(&where, e), *reading;
    struct lease lease;

    if (!writer || lease_take(writer, &lease, e) < 0 || forget_what_is_unwanted(s, writer, e) < 0 ||
        restore_rows(&s->site, writer, counts, e) < 0) {
        store_close(writer);
        return -1;
    }
    *is_new = lease.is_new || s->set.start == SERVER_START_CREATE;
    s->site.store_id = intern_ref(lease.identity);
    memcpy(s->site.secret, lease.secret, sizeof s->site.secret);
    s->site.epoch = lease.epoch;
    s->parts.commit = commit_create(s->loop, s->site.change, s->site.resources, writer, lease.epoch, e);
    if (!s->parts.commit)
        return -1;
    commit_on_lost(s->parts.commit, on_store_lost, s);
    reading = store_open(&where, e);
    if (!reading)
        return -1;
    s->parts.reader = reader_create(s->loop, reading, e);
    return s->parts.reader ? 0 : -1;
}

static int no_memory(struct err *e)
{
    return err_set(e, ENOMEM, "no memory");
}

static int create_telling(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->status = status_create(&s->site, p->reader);
    if (!p->status || !(p->watches = watches_create(s->loop, &s->site, p->status)) ||
        !(p->schedulers = schedulers_create(&s->site, p->watches)))
        return no_memory(e);
    p->accounting = accounting_create(s->loop, &s->site, p->commit, s->set.home, e);
    if (!p->accounting)
        return -1;
    job_fsm_listen(p->fsm, accounting_listen, p->accounting);
    s->mailer = mailer_create(s->loop);
    p->mail =
        s->mailer ? mail_create(&s->site, s->mailer, conf_text(s->set.conf, CONF_PBS_MAIL_HOST_NAME)) : NULL;
    if (!p->mail)
        return no_memory(e);
    job_fsm_listen(p->fsm, mail_listen, p->mail);
    s->history = history_create(s->loop, &s->site, p->fsm, p->commit, p->status);
    s->ends = ends_create(s->loop, &s->site, p->fsm, p->commit);
    watches_know_ends(p->watches, s->ends);
    return s->history && s->ends ? 0 : no_memory(e);
}

static int create_running(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;
    struct exec_take_hooks take = {s,          on_ready,        on_released, on_suspended,
                                   on_resumed, on_checkpointed, on_failed,   on_noticed,
                                   on_files,   on_used,         on_attention};
    struct checkpoint_hooks images = {s, on_image, on_restarted, on_no_image};
    struct job_end_hooks end = {s, on_ended};
    struct virtual_time_hooks time = {s, on_quiet, on_iteration};
    struct resize_hooks resize = {p->accounting, accounting_phase_over, accounting_phase_begun};

    p->services = services_create(&s->site);
    p->send = exec_send_create(&s->site, p->services, p->commit);
    p->methods = methods_create();
    p->runs = runs_create(&s->site, p->fsm, p->services, p->send);
    p->suspend = suspend_create(&s->site, p->fsm, p->send, p->methods);
    p->checkpoint = checkpoint_create(&s->site, p->fsm, p->send, p->services, p->methods, &images);
    p->removal = removal_create(&s->site, p->fsm, p->arrays, p->methods);
    p->resize = resize_create(&s->site, p->send, &resize);
    s->partial = p->resize ? partial_create(p->resize, p->methods) : NULL;
    s->terminate = terminate_create(&s->site, p->send);
    s->job_limits = job_limits_create(&s->site, p->services, p->send);
    s->host_loss = host_loss_create(&s->site, p->send, p->runs, p->suspend, p->checkpoint);
    s->job_end = job_end_create(&s->site, p->fsm, p->send, p->commit, s->host_loss, &end);
    s->join_wait = join_wait_create(s->loop, &s->site, s->job_end);
    s->take = exec_take_create(&s->site, p->services, p->fsm, p->commit, &take);
    s->node_lost = node_lost_create(&s->site, s->job_end);
    s->node_watch = node_watch_create(s->loop, &s->site, p->services, on_gone, s);
    if (!p->services || !p->send || !p->methods || !p->runs || !p->suspend || !p->checkpoint || !p->removal ||
        !s->partial || !s->terminate || !s->job_limits || !s->host_loss || !s->job_end || !s->join_wait ||
        !s->take || !s->node_lost || !s->node_watch)
        return no_memory(e);
    exec_send_on_refused(p->send, on_refused, s);
    exec_send_on_script(p->send, script_at_hand, s);
    s->time = virtual_time_create(s->loop, &s->site, p->commit, p->send, &time);
    if (!s->time)
        return no_memory(e);
    s->hello = exec_hello_create(&(struct exec_hello_parts){.site = &s->site,
                                                            .services = p->services,
                                                            .send = p->send,
                                                            .take = s->take,
                                                            .watch = s->node_watch,
                                                            .commit = p->commit,
                                                            .reader = p->reader,
                                                            .time = s->time,
                                                            .lost = on_lost,
                                                            .kept = on_kept,
                                                            .gone = on_gone,
                                                            .arg = s});
    return s->hello ? 0 : no_memory(e);
}

static struct guests *create_guests(struct server *s, struct err *e)
{
    char module[4200];

    snprintf(module, sizeof module, "%s/lib/libauth_munge.so", conf_text(s->set.conf, CONF_PBS_EXEC));
    return guests_create(s->loop, module, conf_text(s->set.conf, CONF_PBS_MUNGE_SOCKET), e);
}

static int create_asking(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->scripts = scripts_create(SCRIPT_MEMORY);
    s->names = names_create(s->loop, GRANT_SECONDS * 1000, e);
    p->names = s->names;
    if (!s->scripts || !s->names)
        return s->names ? no_memory(e) : -1;
    p->notes = notes_create(s->site.clock, p->commit);
    s->site.alias = alias;
    s->site.alias_arg = p->notes;
    p->submit = submit_create(&(struct submit_parts){.site = &s->site,
                                                     .fsm = p->fsm,
                                                     .commit = p->commit,
                                                     .names = s->names,
                                                     .scripts = s->scripts,
                                                     .start_time = s->start_time,
                                                     .depends = s->depends,
                                                     .route = p->route,
                                                     .notes = p->notes,
                                                     .reader = p->reader});
    p->move_out = move_out_create(
        &(struct move_out_parts){.loop = s->loop,
                                 .site = &s->site,
                                 .fsm = p->fsm,
                                 .commit = p->commit,
                                 .names = s->names,
                                 .notes = p->notes,
                                 .reader = p->reader,
                                 .scripts = s->scripts,
                                 .certs = s->set.certs,
                                 .port = (unsigned)conf_int(s->set.conf, CONF_PBS_BATCH_SERVICE_PORT),
                                 .left = on_left,
                                 .arg = s});
    route_reach(p->route, p->move_out);
    p->alter = (struct alter_parts){.site = &s->site,
                                    .fsm = p->fsm,
                                    .start_time = s->start_time,
                                    .depends = s->depends,
                                    .eligible = p->eligible,
                                    .arrays = p->arrays,
                                    .limits_changed = on_limits_changed,
                                    .arg = s};
    s->notices = notices_create(&s->site, p->send, s->job_log);
    p->victims = victims_create(s->loop, &s->site, p->fsm, p->methods, s->notices);
    p->preempts = p->victims && s->notices ? preempts_create(&s->site, p->victims, p->commit) : NULL;
    p->plan_holds = plan_holds_create(&(struct plan_hold_parts){.loop = s->loop,
                                                                .site = &s->site,
                                                                .fsm = p->fsm,
                                                                .commit = p->commit,
                                                                .methods = p->methods,
                                                                .victims = p->victims,
                                                                .runs = p->runs,
                                                                .suspend = p->suspend,
                                                                .resize = p->resize});
    p->of_pair = s->set.role != SERVER_ALONE;
    p->is_secondary = s->set.role == SERVER_SECONDARY;
    s->shutdown = shutdown_create(p, on_stop, s);
    if (!p->notes || !p->move_out || !p->submit || !p->preempts || !p->plan_holds || !s->shutdown)
        return no_memory(e);
    victims_on_settled(p->victims, on_preempted, s);
    victims_on_begun(p->victims, on_preempting, s);
    victims_on_offer(p->victims, plan_holds_offer, p->plan_holds);
    p->shutdown = on_shutdown;
    p->shutdown_arg = s;
    s->guests = create_guests(s, e);
    if (!s->guests)
        return -1;
    s->dispatch = dispatch_create(&(struct dispatch_options){.site = &s->site,
                                                             .names = s->names,
                                                             .guests = s->guests,
                                                             .rows = req_table,
                                                             .n_rows = req_table_count,
                                                             .parts = p,
                                                             .open = shutdown_check,
                                                             .open_arg = s->shutdown,
                                                             .client_gone = on_client_gone,
                                                             .client_gone_arg = s});
    return s->dispatch ? 0 : no_memory(e);
}

/* Which part performs which action. */
static void bind_actions(struct server *s)
{
    struct job_fsm *f = s->parts.fsm;
    const struct {
        enum job_action action;
        job_action_fn *fn;
        void *arg;
    } bindings[] = {
        {ACT_ENQUEUE, act_wait, s->start_time},
        {ACT_WAIT, act_wait, s->start_time},
        {ACT_START, act_start, s->parts.runs},
        {ACT_STARTED, act_started, s->parts.runs},
        {ACT_SUSPENDED, act_suspended, s->parts.suspend},
        {ACT_RESUMED, act_resumed, s->parts.suspend},
        {ACT_FINISH, act_finish, s->job_end},
        {ACT_TERMINATE, act_terminate, s->terminate},
        {ACT_REQUEUE, act_requeue, s->job_end},
        {ACT_END, act_end, s->job_end},
        {ACT_DROP, act_drop, s->job_end},
        {ACT_ABANDON, act_abandon, s->job_end},
        {ACT_ABANDON_REQUEUE, act_abandon_requeue, s->job_end},
        {ACT_FORGET, act_forget, s->job_end},
    };

    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++)
        job_fsm_bind(f, bindings[i].action, bindings[i].fn, bindings[i].arg);
}

static int create_parts(struct server *s, bool *is_new, struct restore_counts *counts, struct err *e)
{
    struct parts *p = &s->parts;

    if (site_create(&s->site, loop_clock(s->loop), s->set.name, e) < 0 ||
        open_store(s, counts, is_new, e) < 0)
        return -1;
    p->site = &s->site;
    p->loop = s->loop;
    p->home = s->set.home;
    p->fsm = job_fsm_create();
    s->job_log = job_log_create(s->site.clock, on_log_line, p->commit);
    if (!p->fsm || !s->job_log)
        return no_memory(e);
    job_fsm_listen(p->fsm, on_moved, s);
    job_fsm_listen(p->fsm, job_log_listen, s->job_log);
    s->start_time = p->fsm ? start_time_create(s->loop, &s->site, p->fsm) : NULL;
    p->arrays = arrays_create(&s->site, p->fsm, p->commit);
    if (!s->start_time || !p->arrays)
        return no_memory(e);
    if (create_telling(s, e) < 0 || create_running(s, e) < 0)
        return -1;
    job_fsm_listen(p->fsm, arrays_listen, p->arrays);
    job_fsm_listen(p->fsm, checkpoint_listen, p->checkpoint);
    job_fsm_listen(p->fsm, join_wait_listen, s->join_wait);
    job_fsm_listen(p->fsm, resize_listen, p->resize);
    job_fsm_listen(p->fsm, job_end_listen, s->job_end);
    s->depends = depends_create(&s->site, p->fsm);
    if (!s->depends)
        return no_memory(e);
    depends_on_unmet(s->depends, on_unmet, s);
    s->eligible = p->eligible = eligible_create(&s->site, p->fsm);
    s->maintenance = maintenance_create(&s->site, p->fsm);
    if (!s->eligible || !s->maintenance)
        return no_memory(e);
    p->route = route_create(s->loop, &s->site, p->fsm);
    if (!p->route)
        return no_memory(e);
    route_bind(p->route, &(struct route_hooks){s, on_routed, on_unroutable});
    s->wall_step =
        wall_step_create(&(struct wall_step_parts){s->loop, &s->site, s->start_time, on_stepped, s}, e);
    if (!s->wall_step)
        return -1;
    job_fsm_listen(p->fsm, settle_listen, p);
    if (create_asking(s, e) < 0)
        return -1;
    bind_actions(s);
    return 0;
}

/* --- from the command line to the end of the loop ----------------------------------------------------- */

static int create_tenure(struct server *s, struct err *e)
{
    struct tenure_hooks hooks = {s, on_store_lost, s->set.role == SERVER_SECONDARY ? on_wanted : NULL};

    s->tenure = tenure_create(s->loop, s->parts.commit, s->parts.reader, s->site.epoch, &hooks);
    return s->tenure ? 0 : no_memory(e);
}

static int start(struct server *s, struct err *e)
{
    struct restore_counts counts = {0};
    bool is_new = false;

    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, s->set.name,
              "Version %s, started, initialization type = %d", CEDE_VERSION, (int)s->set.start);
    s->clock = s->set.is_virtual ? clock_create_driven(clock_wall_ns(clock_real())) : clock_create_steady();
    s->loop = loop_create(s->clock, e);
    if (!s->loop || daemon_set_limits(conf_core_bytes(s->set.conf), e) < 0 ||
        create_parts(s, &is_new, &counts, e) < 0)
        return -1;
    if (life_go_on(s, is_new, &counts, e) < 0 || life_catch_signals(s, e) < 0 || life_listen(s, e) < 0)
        return -1;
    life_announce(s);
    if (s->set.role != SERVER_ALONE && create_tenure(s, e) < 0)
        return -1;
    log_event(LOGC_SVR, LOGE_SYSTEM, s->site.name,
              "Server pid = %d ready;  using ports Server:%u MOM:%u RM:%u", getpid(), s->set.port,
              (unsigned)conf_int(s->set.conf, CONF_PBS_MOM_SERVICE_PORT),
              (unsigned)conf_int(s->set.conf, CONF_PBS_MANAGER_SERVICE_PORT));
    return 0;
}

static int lock_memory(const struct server *s, struct err *e)
{
    if (s->set.lock_memory && mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
        return err_errno(e, errno, "the server's memory cannot be locked (-l)");
    return 0;
}

static void on_ready_to_wait(void *arg)
{
    struct server *s = arg;

    s->was_ready = true;
    daemon_ready(s->daemon);
}

/* Of a pair: until it is our turn. */
static enum standby_end stand_by(struct server *s, struct err *e)
{
    const struct conf_host *pair = conf_pair(s->set.conf);

    if (s->set.role == SERVER_ALONE)
        return STANDBY_TAKE;
    if (s->set.role == SERVER_SECONDARY)
        log_event(LOGC_SVR, LOGE_SYSTEM, s->set.name, "pbs_server: coming up as Secondary, Primary is %s",
                  pair[0].host);
    return standby_wait(&s->set, &s->turn, on_ready_to_wait, s, e);
}

/* All that an activation has made is gone: the next one begins with what was said at the start. */
static void begin_anew(struct server *s)
{
    struct server fresh = {.set = s->set, .daemon = s->daemon, .turn = s->turn, .was_ready = s->was_ready};

    turn_again(&fresh.turn, s->yields);
    fresh.set.start = SERVER_START_WARM;
    fresh.set.scheduling = -1;
    *s = fresh;
}

/* Be active, once. 0 ended, 1 stand by again, -1 cannot start. */
static int be_active(struct server *s, struct err *e)
{
    bool of_pair = s->set.role != SERVER_ALONE;
    int rc = start(s, e);

    if (rc < 0)
        log_err(LOGC_SVR, s->set.name, e, "cannot start");
    if (rc < 0 && !(of_pair && s->was_ready))
        return -1;
    on_ready_to_wait(s);
    if (rc == 0 && loop_run(s->loop, e) < 0)
        log_err(LOGC_SVR, s->set.name, e, "the loop has ended");
    life_stop(s);
    return of_pair && (rc < 0 || s->lost || s->yields);
}

static int live(struct server *s, struct err *e)
{
    int rc = 1;

    turn_begin(&s->turn, s->set.role == SERVER_PRIMARY, s->set.takeover_ms);
    while (rc == 1) {
        enum standby_end end = stand_by(s, e);

        if (end != STANDBY_TAKE)
            return end == STANDBY_END ? 0 : -1;
        rc = be_active(s, e);
        if (rc == 1)
            begin_anew(s);
    }
    return rc;
}

/* From the fork to the end of the loop; the exit code. */
static int serve(struct server *s)
{
    struct err e;
    int code = 0;

    s->daemon = daemon_begin(&(struct daemon_options){.name = "pbs_server",
                                                      .lock_path = s->set.lock,
                                                      .foreground = s->set.foreground},
                             &code);
    if (!s->daemon)
        return code;
    if (open_log(s, &e) < 0 || lock_memory(s, &e) < 0) {
        log_err(LOGC_SVR, s->set.name, &e, "cannot start");
        return daemon_fail(s->daemon, &e);
    }
    if (live(s, &e) < 0)
        return daemon_fail(s->daemon, &e);
    log_event(LOGC_SVR, LOGE_SYSTEM, s->set.name, "Server shutdown completed");
    log_close();
    daemon_end(s->daemon);
    return s->lost ? 1 : 0;
}

int main(int argc, char *argv[])
{
    struct server s = {0};
    struct err e;
    int code = 0;

    if (server_settings_read(&s.set, argc, argv, &e) < 0 ||
        (!s.set.show_version && server_settings_make_dirs(&s.set, &e) < 0)) {
        fprintf(stderr, "pbs_server: %s\n", e.text);
        code = 1;
    } else if (s.set.show_version) {
        printf("pbs_version = %s\n", CEDE_VERSION);
    } else if (!server_settings_confirm(&s.set)) {
        code = 1;
    } else {
        code = serve(&s);
    }
    server_settings_free(&s.set);
    return code;
}
