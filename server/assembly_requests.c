/* The parts that requests use, and the requests themselves. See assembly.h. */
#include "assembly.h"

#include <stdlib.h>
#include <string.h>

#include "accounting.h"
#include "depend_link.h"
#include "depend.h"
#include "dispatch.h"
#include "drain.h"
#include "exec_send.h"
#include "munge_login.h"
#include "hook_event.h"
#include "hook_gate.h"
#include "hook_news.h"
#include "job_audit.h"
#include "job_run.h"
#include "loop.h"
#include "mail.h"
#include "module_path.h"
#include "move_out.h"
#include "names.h"
#include "store_notes.h"
#include "preempt_notice.h"
#include "peer_server.h"
#include "plan_earmark.h"
#include "preempt_jobs.h"
#include "log.h"
#include "req_table.h"
#include "reservations.h"
#include "route.h"
#include "run.h"
#include "schedulers.h"
#include "script_cache.h"
#include "shutdown.h"
#include "run_removal.h"
#include "submit.h"
#include "track_request.h"
#include "victim.h"
#include "watch.h"

enum { GRANT_SECONDS = 60, SCRIPT_MEMORY = 64 << 20 };

static void assembly_requests_on_limits_changed(void *arg, struct job *j)
{
    runs_altered(((struct server *)arg)->parts.runs, j);
}

/* Report a preempted job to accounting, to its event log, and to its owner where it is deleted. */
static void assembly_requests_on_preempted(void *arg, struct job *j, enum preempt_result r, const char *by)
{
    struct server *s = arg;
    double lost_s = preempt_method_row(preempt_result_method(r))->loses_work ? j->preempt->lost_core_s : 0;
    char letter = preempt_result_letter(r), tried[PREEMPT_LETTERS_MAX];

    if (!letter)
        return;
    accounting_preempted(s->parts.accounting, j, r, by, lost_s);
    job_audit_note(s->job_audit, j, "preempted: %c for %s by %s, tried %s, %.1f core-seconds lost", letter,
                   j->preempt->urgent      ? j->preempt->urgent
                   : j->preempt->scheduler ? "a job that was not named"
                                           : "maintenance of its host",
                   by, preempt_methods_format(&j->preempt->tried, tried), lost_s);
    if (r == PREEMPT_DELETED)
        mail_preempted(s->parts.mail, j);
}

static void assembly_requests_on_preempting(void *arg, struct job *j, enum preempt_result r, const char *by)
{
    if (r == PREEMPT_DELETED && !job_is_over(j))
        accounting_deleted(((struct server *)arg)->parts.accounting, j, by);
}

static void assembly_requests_on_left(void *arg, struct job *j, const char *destination, const char *as)
{
    struct server *s = arg;

    accounting_moved_out(s->parts.accounting, j, destination);
    depends_left(s->depends, j, strchr(destination, '@') + 1, as);
}

static void assembly_requests_on_unmet(void *arg, struct job *j, const char *target)
{
    struct server *s = arg;
    char why[JOBID_TEXT_MAX + 64];

    snprintf(why, sizeof why, "Job deleted as result of dependency on job %s", target);
    accounting_aborted(s->parts.accounting, j, why);
    mail_aborted(s->parts.mail, j, why);
    run_removal_delete(s->parts.run_removal, j);
}

static void assembly_requests_on_news(void *arg, struct job_key key)
{
    struct server *s = arg;

    if (s->parts.track_request) /* at the end it goes first */
        track_request_news(s->parts.track_request, key);
}

static void assembly_requests_on_stayed(void *arg, struct job *j)
{
    depends_stayed(((struct server *)arg)->depends, j);
}

static const char *assembly_requests_alias(void *notes, const char *id)
{
    return store_notes_find(notes, "was", id);
}

static void assembly_requests_on_client_gone(void *arg, struct client *c)
{
    struct server *s = arg;

    watches_gone(s->parts.watches, c);
    schedulers_gone(s->parts.schedulers, c);
}

static void assembly_requests_on_sched_heard(void *arg, struct client *c)
{
    schedulers_heard(arg, c);
}

static bool assembly_requests_on_sched_waits(const void *owner)
{
    return client_requests(owner) > 0;
}

static void assembly_requests_on_sched_hung(const void *owner)
{
    dispatch_close(owner, "the scheduler hangs");
}

static void assembly_requests_on_stop(void *arg)
{
    loop_stop(((struct server *)arg)->loop);
}

static void assembly_requests_on_shutdown(void *arg, int manner)
{
    shutdown_begin(((struct server *)arg)->shutdown, manner);
}

static struct munge_login *create_guests(struct server *s, struct err *e)
{
    char module[4200];
    const struct munge_login_options o = {.module = module,
                                          .socket = conf_text(s->set.conf, CONF_PBS_MUNGE_SOCKET),
                                          .certs = s->set.certs,
                                          .serves_all = s->set.serves_all};

    module_path(module, sizeof module, "libauth_munge.so");
    return munge_login_create(s->loop, &o, e);
}

/* Dependencies, also of jobs at other servers. */
static int create_ties(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->track_request = track_request_create(s->loop, s->depends, p->commit);
    s->depend_links = depend_links_create(s->loop, s->peer_servers, s->depend_remotes, s->depends);
    if (!p->track_request || !s->depend_links)
        return err_no_memory(e);
    depends_bind(s->depends, p->store_notes,
                 &(struct depends_hooks){s, assembly_requests_on_unmet, assembly_requests_on_news});
    return 0;
}

/* What lets jobs in, moves and alters them. */
static int create_entrance(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->script_cache = script_cache_create(SCRIPT_MEMORY);
    s->names = names_create(s->loop, GRANT_SECONDS * 1000, e);
    p->names = s->names;
    if (!s->script_cache || !s->names)
        return s->names ? err_no_memory(e) : -1;
    p->store_notes = store_notes_create(s->ctx.clock, p->commit);
    exec_send_on_script(p->send, script_cache_of_job, s->script_cache);
    s->ctx.alias = assembly_requests_alias;
    s->ctx.alias_arg = p->store_notes;
    p->submit = submit_create(&(struct submit_parts){.ctx = &s->ctx,
                                                     .fsm = p->fsm,
                                                     .commit = p->commit,
                                                     .names = s->names,
                                                     .script_cache = s->script_cache,
                                                     .start_time = s->start_time,
                                                     .submit_pieces = s->submit_pieces,
                                                     .depends = s->depends,
                                                     .route = p->route,
                                                     .store_notes = p->store_notes,
                                                     .store_reader = p->store_reader});
    s->peer_servers =
        peer_servers_create(s->loop, s->names, s->set.certs, conf_text(s->set.conf, CONF_PBS_PEER_SERVERS),
                            (unsigned)conf_int(s->set.conf, CONF_PBS_BATCH_SERVICE_PORT));
    if (!s->peer_servers)
        return err_no_memory(e);
    p->move_out = move_out_create(&(struct move_out_parts){.loop = s->loop,
                                                           .ctx = &s->ctx,
                                                           .fsm = p->fsm,
                                                           .commit = p->commit,
                                                           .peer_servers = s->peer_servers,
                                                           .store_notes = p->store_notes,
                                                           .store_reader = p->store_reader,
                                                           .script_cache = s->script_cache,
                                                           .left = assembly_requests_on_left,
                                                           .stayed = assembly_requests_on_stayed,
                                                           .arg = s});
    route_reach(p->route, p->move_out);
    if (create_ties(s, e) < 0)
        return -1;
    p->alter = (struct alter_parts){.ctx = &s->ctx,
                                    .fsm = p->fsm,
                                    .start_time = s->start_time,
                                    .depends = s->depends,
                                    .eligible_time = p->eligible_time,
                                    .arrays = p->arrays,
                                    .limits_changed = assembly_requests_on_limits_changed,
                                    .arg = s};
    return p->store_notes && p->move_out && p->submit ? 0 : err_no_memory(e);
}

static int create_preemption(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->preempt_notices = preempt_notices_create(&s->ctx, p->send, s->job_audit);
    p->victims = victims_create(
        s->loop, &s->ctx, p->fsm, p->stop_methods, s->preempt_notices,
        &(struct victims_hooks){s, assembly_requests_on_preempting, assembly_requests_on_preempted});
    p->preempt_jobs =
        p->victims && s->preempt_notices ? preempt_jobs_create(&s->ctx, p->victims, p->commit) : NULL;
    p->plan_earmarks = plan_earmarks_create(&(struct plan_earmark_parts){.loop = s->loop,
                                                                         .ctx = &s->ctx,
                                                                         .fsm = p->fsm,
                                                                         .commit = p->commit,
                                                                         .stop_methods = p->stop_methods,
                                                                         .victims = p->victims,
                                                                         .runs = p->runs,
                                                                         .run_suspend = p->run_suspend,
                                                                         .release_nodes = p->release_nodes});
    if (!p->preempt_jobs || !p->plan_earmarks)
        return err_no_memory(e);
    return 0;
}

static void assembly_requests_on_resv_news(void *arg, const struct resv *r, enum resv_news what)
{
    static const uint32_t events[] = {[RESV_NEWS_CONFIRMED] = HOOK_EVENT_resv_confirm,
                                      [RESV_NEWS_BEGUN] = HOOK_EVENT_resv_begin,
                                      [RESV_NEWS_OVER] = HOOK_EVENT_resv_end};

    hook_news_resv(((struct server *)arg)->parts.hook_server, r, events[what]);
}

static void assembly_requests_on_resv_record(void *arg, const struct resv *r, char letter, const char *text)
{
    accounting_resv(((struct server *)arg)->parts.accounting, r, letter, text);
}

static void assembly_requests_on_resv_mail(void *arg, const struct resv *r, char point, const char *text)
{
    mail_resv(((struct server *)arg)->parts.mail, r, point, text);
}

static void assembly_requests_on_resv_submitted(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_NEW);
}

static void assembly_requests_on_resv_started(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_RESV_STARTED);
}

static void assembly_requests_on_resv_ended(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_TERM);
}

static void assembly_requests_on_resv_reconfirm(void *arg)
{
    schedulers_wake_all(((struct server *)arg)->parts.schedulers, SCHED_CMD_RECONFIRM);
}

static void assembly_requests_on_resv_job(void *arg, struct job *j, const char *why)
{
    struct server *s = arg;
    char who[PBS_MAXSERVERNAME + 16];

    snprintf(who, sizeof who, "pbs_server@%s", s->ctx.name);
    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "%s", why);
    accounting_deleted(s->parts.accounting, j, who);
    run_removal_delete(s->parts.run_removal, j);
}

/* The vnodes of a reservation; the caller frees. Without memory the process ends: its hosts would be taken for drained. */
static struct node **assembly_requests_resv_nodes(const struct resv *r)
{
    struct node **nodes = malloc((r->n_shares ? r->n_shares : 1) * sizeof(*nodes));

    if (!nodes)
        abort();
    for (size_t i = 0; i < r->n_shares; i++)
        nodes[i] = r->shares[i].node;
    return nodes;
}

static void assembly_requests_on_resv_drain(void *arg, const struct resv *r,
                                            const struct preempt_methods *methods, int64_t free_by_s)
{
    struct server *s = arg;
    struct node **nodes = assembly_requests_resv_nodes(r);
    const struct drain_ask ask = {.nodes = nodes,
                                  .n = r->n_shares,
                                  .methods = *methods,
                                  .by = r->obj.name,
                                  .free_by_s = free_by_s,
                                  .spare = r->queue};
    size_t asked = drain_begin(&s->ctx, s->parts.victims, &ask);

    log_event(LOGC_RESV, LOGE_RESV | LOGE_ADMIN, r->obj.name,
              "draining its vnodes: %zu of %zu jobs are to leave", asked,
              drain_count(nodes, r->n_shares, r->queue));
    free(nodes);
}

static void assembly_requests_on_resv_undrain(void *arg, const struct resv *r)
{
    struct node **nodes = assembly_requests_resv_nodes(r);

    drain_withdraw(((struct server *)arg)->parts.victims, nodes, r->n_shares, r->obj.name,
                   "its vnodes are not drained any more");
    free(nodes);
}

static bool assembly_requests_resv_is_scheduled(void *arg)
{
    return schedulers_any_schedules(((struct server *)arg)->parts.schedulers);
}

static void assembly_requests_on_resv_reclaim(void *arg, struct job *j)
{
    runs_reclaim(((struct server *)arg)->parts.runs, j);
}

static int create_reservations(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->reservations = reservations_create(
        &(struct resv_parts){.loop = s->loop,
                             .ctx = &s->ctx,
                             .fsm = p->fsm,
                             .commit = p->commit,
                             .names = s->names,
                             .hooks = {.arg = s,
                                       .news = assembly_requests_on_resv_news,
                                       .record = assembly_requests_on_resv_record,
                                       .mail = assembly_requests_on_resv_mail,
                                       .submitted = assembly_requests_on_resv_submitted,
                                       .started = assembly_requests_on_resv_started,
                                       .ended = assembly_requests_on_resv_ended,
                                       .reconfirm = assembly_requests_on_resv_reconfirm,
                                       .is_scheduled = assembly_requests_resv_is_scheduled,
                                       .reclaim = assembly_requests_on_resv_reclaim,
                                       .drain = assembly_requests_on_resv_drain,
                                       .undrain = assembly_requests_on_resv_undrain,
                                       .delete_job = assembly_requests_on_resv_job}},
        e);
    return p->reservations ? 0 : -1;
}

int assembly_asking(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    if (create_entrance(s, e) < 0 || create_preemption(s, e) < 0 || create_reservations(s, e) < 0)
        return -1;
    p->of_pair = s->set.role != SERVER_ALONE;
    p->is_secondary = s->set.role == SERVER_SECONDARY;
    s->shutdown = shutdown_create(p, assembly_requests_on_stop, s);
    if (!s->shutdown)
        return err_no_memory(e);
    p->shutdown = assembly_requests_on_shutdown;
    p->shutdown_arg = s;
    s->munge_login = create_guests(s, e);
    if (!s->munge_login)
        return -1;
    s->dispatch = dispatch_create(&(struct dispatch_options){.loop = s->loop,
                                                             .ctx = &s->ctx,
                                                             .names = s->names,
                                                             .munge_login = s->munge_login,
                                                             .rows = req_table,
                                                             .n_rows = req_table_count,
                                                             .parts = p,
                                                             .open = shutdown_check,
                                                             .open_arg = s->shutdown,
                                                             .sched_heard = assembly_requests_on_sched_heard,
                                                             .sched_heard_arg = p->schedulers,
                                                             .client_gone = assembly_requests_on_client_gone,
                                                             .client_gone_arg = s,
                                                             .gate = hook_gate,
                                                             .gate_arg = p->hook_server,
                                                             .gates = p->hook_server->active});
    if (!s->dispatch || schedulers_guard(p->schedulers, s->loop,
                                         &(struct schedulers_hooks){assembly_requests_on_sched_waits,
                                                                    assembly_requests_on_sched_hung}) < 0)
        return err_no_memory(e);
    return 0;
}
