/* The parts that requests use, and the requests themselves. See assembly.h. */
#include "assembly.h"

#include <string.h>

#include "accounting.h"
#include "depend_link.h"
#include "depend.h"
#include "admit.h"
#include "dispatch.h"
#include "node_drain.h"
#include "exec_send.h"
#include "munge_login.h"
#include "hook_event.h"
#include "hook_plan.h"
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
#include "resv_clock.h"
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

static struct munge_login *create_munge_login(struct server *s, struct err *e)
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
static int create_dependencies(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->track_request = track_request_create(s->loop, s->depends, p->commit);
    s->depend_links = depend_links_create(s->loop, s->peer_servers, s->depend_remotes, s->depends);
    if (!p->track_request || !s->depend_links)
        return err_no_memory(e);
    depends_bind(s->depends, p->store_notes);
    return 0;
}

/* What lets jobs in, moves and alters them. */
static int create_submission(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->script_cache = script_cache_create(SCRIPT_MEMORY);
    s->names = names_create(s->loop, GRANT_SECONDS * 1000, e);
    p->names = s->names;
    if (!s->script_cache || !s->names)
        return s->names ? err_no_memory(e) : -1;
    p->store_notes = store_notes_create(s->ctx.clock, p->commit);
    exec_send_on_script(p->send, script_cache_of_job, s->script_cache);
    s->ctx.alias = store_notes_find_alias; /* a question: notes are above the tables of objects */
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
                                                           .script_cache = s->script_cache});
    route_reach(p->route, p->move_out);
    if (create_dependencies(s, e) < 0)
        return -1;
    p->alter = (struct alter_parts){.ctx = &s->ctx,
                                    .fsm = p->fsm,
                                    .start_time = s->start_time,
                                    .depends = s->depends,
                                    .eligible_time = p->eligible_time,
                                    .arrays = p->arrays};
    return p->store_notes && p->move_out && p->submit ? 0 : err_no_memory(e);
}

static int create_preemption(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->preempt_notices = preempt_notices_create(&s->ctx, p->send, s->job_audit);
    p->preempt_notices = s->preempt_notices;
    p->victims =
        victims_create(s->loop, &s->ctx, p->fsm, p->stop_methods, s->preempt_notices, s->run_withdraw);
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
    p->node_drains = node_drains_create(s->loop, &s->ctx, p->victims, e);
    return p->node_drains ? 0 : -1;
}

static int create_reservations(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->reservations = reservations_create(&(struct resv_parts){.loop = s->loop,
                                                               .ctx = &s->ctx,
                                                               .fsm = p->fsm,
                                                               .commit = p->commit,
                                                               .names = s->names,
                                                               .runs = p->runs,
                                                               .victims = p->victims,
                                                               .is_scheduled = schedulers_any_schedules,
                                                               .others = schedulers_any_other,
                                                               .schedulers = p->schedulers},
                                          e);
    return p->reservations ? resv_clock_bind(p->reservations, e) : -1;
}

int assembly_requests(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    if (create_submission(s, e) < 0 || create_preemption(s, e) < 0 || create_reservations(s, e) < 0)
        return -1;
    p->of_pair = s->set.role != SERVER_ALONE;
    p->is_secondary = s->set.role == SERVER_SECONDARY;
    s->shutdown = p->shutdown = shutdown_create(p);
    if (!s->shutdown)
        return err_no_memory(e);
    s->munge_login = create_munge_login(s, e);
    if (!s->munge_login)
        return -1;
    s->dispatch = dispatch_create(&(struct dispatch_options){.loop = s->loop,
                                                             .ctx = &s->ctx,
                                                             .names = s->names,
                                                             .munge_login = s->munge_login,
                                                             .rows = req_table,
                                                             .n_rows = req_table_count,
                                                             .parts = p,
                                                             .serves = admit_check_client,
                                                             .open = shutdown_check,
                                                             .open_arg = s->shutdown,
                                                             .gate = hook_plan_gate,
                                                             .gate_arg = p->hook_server,
                                                             .gates = p->hook_server->active});
    p->dispatch = s->dispatch;
    if (!s->dispatch || schedulers_guard(p->schedulers, s->loop, client_is_waiting) < 0)
        return err_no_memory(e);
    return 0;
}
