/* From the last creation to the loop, and from the loop to the end. See server.h.
 *
 * Order when a store is restored: claims first, since resources that hosts use must not be assigned twice; then each
 * state's entry action; then what depends on jobs (arrays, preemptions, earmarks), which read both. */
#include "server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "accounting.h"
#include "arrays.h"
#include "depend_remote.h"
#include "depend_link.h"
#include "submit_pieces.h"
#include "cert_watch.h"
#include "certs.h"
#include "run_checkpoint.h"
#include "clock.h"
#include "commit.h"
#include "daemon.h"
#include "depend.h"
#include "dispatch.h"
#include "eligible_time.h"
#include "exit_cache.h"
#include "exec_calls.h"
#include "exec_hello.h"
#include "exec_send.h"
#include "exec_take.h"
#include "file.h"
#include "first_start.h"
#include "munge_login.h"
#include "history.h"
#include "hook_builtin.h"
#include "hook_hosts.h"
#include "hook_server_life.h"
#include "host_loss.h"
#include "job_end.h"
#include "job_fsm.h"
#include "job_audit.h"
#include "job_limits.h"
#include "job_view.h"
#include "join_wait.h"
#include "log.h"
#include "loop.h"
#include "mail.h"
#include "mailer.h"
#include "maintenance.h"
#include "stop_method.h"
#include "move_out.h"
#include "names.h"
#include "node_lost.h"
#include "node_watch.h"
#include "store_notes.h"
#include "peer_server.h"
#include "preempt_notice.h"
#include "plan_earmark.h"
#include "preempt_jobs.h"
#include "store_reader.h"
#include "run_removal.h"
#include "req_table.h"
#include "term_resend.h"
#include "release_nodes.h"
#include "reservations.h"
#include "resv_clock.h"
#include "resourcedef.h"
#include "restore.h"
#include "route.h"
#include "rpc_server.h"
#include "run.h"
#include "schedulers.h"
#include "script_cache.h"
#include "services.h"
#include "shutdown.h"
#include "start_time.h"
#include "status.h"
#include "submit.h"
#include "run_suspend.h"
#include "limit_counts.h"
#include "lease_monitor.h"
#include "run_terminate.h"
#include "run_withdraw.h"
#include "track_request.h"
#include "node_drain.h"
#include "victim.h"
#include "virtual_time.h"
#include "clock_step.h"
#include "watch.h"
#include "server_events.h"
#include "server_ctx_life.h"

/* At its end the server waits so long for a store that does not answer: the start reads what was stored. */
enum { FLUSH_MS = 10000 };

/* --- signals ------------------------------------------------------------------------------------------- */

static void server_on_signal(void *arg)
{
    struct server *s = arg;

    log_event(LOGC_SVR, LOGE_SYSTEM, s->ctx.name, "Starting to shutdown the server, type is By Signal");
    loop_stop(s->loop);
}

static void server_on_hangup(void *arg)
{
    struct server *s = arg;
    struct err e;

    names_forget(s->names);
    if (log_reopen(&e) < 0)
        fprintf(stderr, "pbs_server: %s\n", e.text);
}

/* --- continuing where the last server stopped ---------------------------------------------------------- */

static void find_services(struct server *s)
{
    for (struct node *n = nodes_first(s->ctx.nodes); n; n = nodes_next(n)) {
        struct service *sv = n->service_name ? services_get(s->parts.services, n->service_name) : NULL;

        n->service = sv;
        n->state |= NODE_DOWN | NODE_UNKNOWN;
        if (sv)
            services_recall(sv, n);
        if (sv && !sv->lost_mono_ms)
            node_watch_down(s->node_watch, sv);
    }
}

/* A job whose script arrives has the name of its queue, and is not in it yet. */
static void tell_job(const struct job *j)
{
    if (!job_is_over(j))
        log_event(LOGC_JOB, LOGE_SYSTEM | LOGE_ADMIN | LOGE_DEBUG, j->obj.name,
                  "Requeueing job, substate: %d Requeued in queue: %s", job_view_substate(j),
                  j->queue_name ? j->queue_name : "");
}

static void tell_recovered(const struct server *s, const struct restore_counts *counts)
{
    for (const struct queue *q = queues_first(s->ctx.queues); q; q = queues_next(q))
        log_event(LOGC_QUE, LOGE_ADMIN, q->obj.name, "Recovered queue %s", q->obj.name);
    for (const struct sched_obj *x = scheds_first(s->ctx.scheds); x; x = scheds_next(x))
        log_event(LOGC_SCHED, LOGE_ADMIN, x->obj.name, "Recovered scheduler %s", x->obj.name);
    if (!counts->jobs)
        log_event(LOGC_SVR, LOGE_SYSTEM, s->ctx.name, "No jobs to open");
    log_gather(); /* one write a line is an eighth of a restart */
    for (const struct job *j = jobs_first(s->ctx.jobs); j; j = jobs_next(j))
        tell_job(j);
    log_gather_end();
    log_event(LOGC_SVR, LOGE_SYSTEM, s->ctx.name, "Recovered %zu jobs", counts->jobs);
}

/* A person looks first: see server_obj_close. */
static void stay_closed(const struct server *s)
{
    attr_list_set_number(&s->ctx.server->obj.attrs, SERVER_ATTR_scheduling, 0, NULL);
    for (struct sched_obj *x = scheds_first(s->ctx.scheds); x; x = scheds_next(x))
        attr_list_set_number(&x->obj.attrs, SCHED_ATTR_scheduling, 0, NULL);
    log_event(
        LOGC_SVR, LOGE_ERROR, s->ctx.name,
        "the server is closed: %s; only root and the server's own user are managers, others submit nothing, "
        "scheduling is off. Set what is lost (see server_priv/set_aside), then qmgr -c \"unset server closed\" "
        "and set scheduling",
        attr_list_text(&s->ctx.server->obj.attrs, SERVER_ATTR_closed));
}

/* The node of the MOM that runs on this host, as PBS's own set-up makes it. NULL: none runs here, or hosts join. */
static const char *own_node(const struct server *s, char *out, size_t size)
{
    const char *name = conf_text(s->set.conf, CONF_PBS_MOM_NODE_NAME);

    if (!conf_int(s->set.conf, CONF_PBS_START_MOM) || s->ctx.hosts_join || s->set.is_virtual)
        return NULL;
    if (name)
        return name;
    if (gethostname(out, size) < 0)
        return NULL;
    out[size - 1] = '\0';
    out[strcspn(out, ".")] = '\0';
    return out;
}

/* An earmark joins its victims before one of them can settle: else it would never learn that it waits in vain. */
static void restore_preemptions(struct server *s)
{
    for (struct job *j = jobs_first(s->ctx.jobs); j; j = jobs_next(j))
        victims_restore(s->parts.victims, j);
    plan_earmarks_restore(s->parts.plan_earmarks);
    for (struct job *j = jobs_first(s->ctx.jobs); j; j = jobs_next(j))
        victims_carry_on(s->parts.victims, j);
    node_drains_carry_on(s->parts.node_drains);
}

int server_recover(struct server *s, bool is_new, const struct restore_counts *counts, struct err *e)
{
    struct store_where where = server_settings_store(&s->set);
    struct store *from = store_open(&where, e);
    char node[256];

    if (!from || accounting_restore(s->parts.accounting, from, e) < 0 ||
        exit_cache_restore(s->exit_cache, from, &s->errors, e) < 0 ||
        store_notes_restore(s->parts.store_notes, from, &s->errors, e) < 0 ||
        hook_store_restore(s->parts.hook_server->store, from, &s->errors, e) < 0 ||
        depend_remotes_restore(s->depend_remotes, from, &s->errors, e) < 0) {
        store_close(from);
        return -1;
    }
    store_close(from);
    hook_builtin_load(s->parts.hook_server);
    hook_hosts_begin(s->parts.hook_server->hosts);
    if (first_start(&s->ctx, is_new, own_node(s, node, sizeof node), e) < 0)
        return -1;
    resourcedef_write(s->ctx.resources, s->set.home);
    find_services(s);
    maintenance_restore(s->maintenance);
    reservations_link(s->parts.reservations);
    for (struct job *j = jobs_first(s->ctx.jobs); j; j = jobs_next(j)) {
        if (j->run)
            runs_reclaim(s->parts.runs, j);
        limit_counts_review(s->ctx.limit_counts, j);
    }
    restore_enter(&s->ctx, s->parts.fsm);
    submit_pieces_restore(s->submit_pieces);
    resv_clock_enter(s->parts.reservations);
    history_restore(s->history);
    arrays_restore(s->parts.arrays);
    restore_preemptions(s);
    move_out_restore(s->parts.move_out);
    depend_links_start(s->depend_links);
    route_queue(s->parts.route, NULL);
    if (s->set.log_events < 0)
        log_set_mask(
            (unsigned)attr_list_number(&s->ctx.server->obj.attrs, SERVER_ATTR_log_events, LOG_MASK_SERVER));
    tell_recovered(s, counts);
    if (server_obj_is_closed(s->ctx.server))
        stay_closed(s);
    else if (s->set.scheduling >= 0)
        attr_list_set_number(&s->ctx.server->obj.attrs, SERVER_ATTR_scheduling, s->set.scheduling, NULL);
    return 0;
}

/* --- listening ----------------------------------------------------------------------------------------- */

static size_t conf_size(const struct server *s, enum conf_key key, size_t unit)
{
    int64_t n = conf_int(s->set.conf, key);

    return n > 0 ? (size_t)n * unit : 0;
}

/* Zero is what rpc_server.h takes for a default; it would not limit the rate. */
static struct rpc_share_limits limits_of_user(const struct server *s)
{
    return (struct rpc_share_limits){.connections = conf_size(s, CONF_PBS_USER_CONNECTIONS, 1),
                                     .calls_per_s = (unsigned)conf_size(s, CONF_PBS_USER_CALLS_PER_SECOND, 1),
                                     .memory_bytes = conf_size(s, CONF_PBS_USER_CALLS_MB, 1 << 20),
                                     .output_bytes = conf_size(s, CONF_PBS_USER_ANSWERS_MB, 1 << 20)};
}

int server_listen(struct server *s, struct err *e)
{
    struct rpc_server_options o = {.name = "server", .served = s->served, .each = limits_of_user(s)};

    if (certs_ensure(s->set.certs, "server", e) < 0)
        return -1;
    s->tls = certs_context(s->set.certs, "server", CERTS_SERVER_GUESTS, e);
    if (!s->tls)
        return -1;
    s->served[0] = (struct rpc_served){&req_program, s->dispatch};
    s->served[1] = (struct rpc_served){&exec_calls_program, s->hello};
    o.tls = s->tls;
    o.guests = true;
    s->rpc = rpc_server_create(s->loop, &o, e);
    if (!s->rpc)
        return -1;
    /* With two servers on shared disks it may belong to the other one, which is no longer active, dead or not. */
    if (s->set.role != SERVER_ALONE)
        unlink(s->set.socket);
    /* Every user may connect to a server of root; only its own user to a private one. */
    if (rpc_server_listen_unix(s->rpc, s->set.socket, s->set.serves_all ? 0666 : 0600, e) < 0)
        return -1;
    s->cert_watch = cert_watch_create(s->loop, s->tls, s->rpc, s->set.certs, e);
    if (s->cert_watch && s->set.is_local)
        return 0;
    return !s->cert_watch || rpc_server_listen_tcp(s->rpc, NULL, s->set.port, e) < 0 ? -1 : 0;
}

void server_announce(struct server *s)
{
    struct err e;

    if (s->set.role == SERVER_PRIMARY)
        unlink(s->set.active_note);
    if (s->set.role != SERVER_SECONDARY)
        return;
    log_event(LOGC_SVR, LOGE_ADMIN, s->ctx.name, "Failover Secondary Server at %s has gone active",
              s->set.role_host);
    if (file_write_quick(AT_FDCWD, s->set.active_note, s->set.role_host, strlen(s->set.role_host), 0644, &e) <
        0)
        log_err(LOGC_SVR, s->ctx.name, &e, "%s", s->set.active_note);
}

int server_take_signals(struct server *s, struct err *e)
{
    s->signals[0] = loop_signal_create(s->loop, SIGTERM, server_on_signal, s, e);
    s->signals[1] = loop_signal_create(s->loop, SIGINT, server_on_signal, s, e);
    s->signals[2] = loop_signal_create(s->loop, SIGQUIT, server_on_signal, s, e);
    s->signals[3] = loop_signal_create(s->loop, SIGHUP, server_on_hangup, s, e);
    return s->signals[3] ? 0 : -1;
}

/* --- the end, in reverse -------------------------------------------------------------------------------- */

void server_store_lost(void *arg, const struct err *why)
{
    struct server *s = arg;

    log_err(LOGC_SVR, s->ctx.name, why, "this server is not active any more");
    s->lost = true;
    loop_stop(s->loop);
}

/* Each of these in the opposite order of its making, see assembly_requests, assembly_running and assembly_create. */
static void end_requests(struct server *s)
{
    struct parts *p = &s->parts;

    cert_watch_destroy(s->cert_watch);
    rpc_server_destroy(s->rpc);
    SSL_CTX_free(s->tls);
    munge_login_destroy(s->munge_login);
    dispatch_destroy(s->dispatch);
    server_events_silence(s->ctx.events); /* no part that listens is destroyed yet */
    shutdown_destroy(s->shutdown);
    reservations_destroy(p->reservations);
    plan_earmarks_destroy(p->plan_earmarks);
    preempt_jobs_destroy(p->preempt_jobs);
    node_drains_destroy(p->node_drains);
    victims_destroy(p->victims);
    preempt_notices_destroy(s->preempt_notices);
    submit_destroy(p->submit);
    move_out_stop(p->move_out);
    track_request_destroy(p->track_request);
    depend_links_destroy(s->depend_links);
    names_destroy(s->names);
    script_cache_destroy(s->script_cache);
}

static void end_running(struct server *s)
{
    struct parts *p = &s->parts;

    exec_hello_destroy(s->hello);
    virtual_time_destroy(s->time);
    node_watch_destroy(s->node_watch);
    node_lost_destroy(s->node_lost);
    exec_take_destroy(s->take);
    term_resend_destroy(s->term_resend);
    join_wait_destroy(s->join_wait);
    job_end_destroy(s->job_end);
    host_loss_destroy(s->host_loss);
    job_limits_destroy(s->job_limits);
    run_withdraw_destroy(s->run_withdraw);
    run_terminate_destroy(s->run_terminate);
    release_nodes_destroy(p->release_nodes);
    run_removal_destroy(p->run_removal);
    run_checkpoint_destroy(p->run_checkpoint);
    run_suspend_destroy(p->run_suspend);
    runs_destroy(p->runs);
    stop_methods_destroy(p->stop_methods);
    exec_send_destroy(p->send);
}

static void end_publishing(struct server *s)
{
    struct parts *p = &s->parts;

    exit_cache_destroy(s->exit_cache);
    hook_server_destroy(p->hook_server);
    history_destroy(s->history);
    accounting_destroy(p->accounting);
    mail_destroy(p->mail);
    mailer_destroy(s->mailer);
    schedulers_destroy(p->schedulers);
    watches_destroy(p->watches);
    status_destroy(p->status);
    route_destroy(p->route);
    maintenance_destroy(s->maintenance);
    eligible_time_destroy(s->eligible_time);
    depends_destroy(s->depends);
    depend_remotes_destroy(s->depend_remotes);
    arrays_destroy(p->arrays);
    clock_step_destroy(s->clock_step);
    submit_pieces_destroy(s->submit_pieces);
    start_time_destroy(s->start_time);
    job_fsm_destroy(p->fsm);
    job_audit_destroy(s->job_audit);
}

void server_stop(struct server *s)
{
    struct parts *p = &s->parts;
    struct err e;

    for (size_t i = 0; i < sizeof s->signals / sizeof s->signals[0]; i++)
        loop_signal_destroy(s->signals[i]);
    if (p->store_reader)
        store_reader_stop(p->store_reader);
    names_stop(s->names);
    if (p->commit && !s->lost && commit_flush(p->commit, FLUSH_MS, &e) < 0)
        log_err(LOGC_SVR, s->ctx.name, &e, "the last changes");
    if (s->set.role == SERVER_SECONDARY)
        unlink(s->set.active_note);
    end_requests(s);
    end_running(s);
    end_publishing(s);
    store_reader_destroy(p->store_reader);
    move_out_destroy(p->move_out);
    peer_servers_destroy(s->peer_servers);
    store_notes_destroy(p->store_notes);
    lease_monitor_destroy(s->lease_monitor);
    commit_destroy(p->commit);
    services_destroy(p->services);
    if (s->ctx.change)
        server_ctx_destroy(&s->ctx);
    loop_destroy(s->loop);
    clock_destroy(s->clock);
}
