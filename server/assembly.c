/* The order of creation. See assembly.h.
 *
 * Parts are created bottom up. What happens is told to them by the tables of assembly_events.c. The few questions that a part asks
 * of a higher one are function pointers, given to it where it is created. */
#include "assembly.h"

#include <errno.h>

#include "accounting.h"
#include "arrays.h"
#include "submit_pieces.h"
#include "commit.h"
#include "daemon.h"
#include "depend_remote.h"
#include "depend.h"
#include "eligible_time.h"
#include "exit_cache.h"
#include "history.h"
#include "hook_news.h"
#include "hook_server_life.h"
#include "intern.h"
#include "job_fsm.h"
#include "job_audit.h"
#include "lease.h"
#include "loop.h"
#include "mail.h"
#include "mailer.h"
#include "maintenance.h"
#include "plan_earmark.h"
#include "store_reader.h"
#include "run_removal.h"
#include "reservations.h"
#include "restore.h"
#include "route.h"
#include "schedulers.h"
#include "start_time.h"
#include "status.h"
#include "clock_step.h"
#include "watch.h"
#include "server_ctx_life.h"

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

    s->aside = (struct set_aside){.home = s->set.home};
    s->errors = (struct restore_errors){set_aside_row, &s->aside};
    if (!writer || lease_take(writer, &lease, e) < 0 || forget_what_is_unwanted(s, writer, e) < 0 ||
        restore_rows(&s->ctx, writer, &s->errors, counts, e) < 0) {
        store_close(writer);
        return -1;
    }
    *is_new = lease.is_new || s->set.start == SERVER_START_CREATE;
    s->ctx.store_id = intern_ref(lease.identity);
    memcpy(s->ctx.secret, lease.secret, sizeof s->ctx.secret);
    s->ctx.epoch = lease.epoch;
    s->parts.commit = commit_create(s->loop, s->ctx.change, s->ctx.resources, writer, lease.epoch, e);
    if (!s->parts.commit)
        return -1;
    commit_on_lost(s->parts.commit, server_store_lost, s);
    if (where.is_fleeting)
        commit_keep_nothing(s->parts.commit);
    reading = store_open(&where, e);
    if (!reading)
        return -1;
    s->parts.store_reader = store_reader_create(s->loop, reading, e);
    return s->parts.store_reader ? 0 : -1;
}

static int create_publishing(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->ctx.home = s->set.home;
    p->status = status_create(&s->ctx, p->store_reader);
    if (!p->status || !(p->watches = watches_create(s->loop, &s->ctx, p->status)) ||
        !(p->schedulers = schedulers_create(&s->ctx, p->watches)))
        return err_no_memory(e);
    p->hook_server = hook_server_create(&(struct hook_server_options){.loop = s->loop,
                                                                      .ctx = &s->ctx,
                                                                      .commit = p->commit,
                                                                      .conf = s->set.conf,
                                                                      .schedulers = p->schedulers,
                                                                      .alter = &p->alter},
                                        e);
    if (!p->hook_server)
        return -1;
    p->accounting = accounting_create(s->loop, &s->ctx, p->commit, s->set.home, e);
    if (!p->accounting)
        return -1;
    s->mailer = mailer_create(s->loop);
    p->mail =
        s->mailer ? mail_create(&s->ctx, s->mailer, conf_text(s->set.conf, CONF_PBS_MAIL_HOST_NAME)) : NULL;
    if (!p->mail)
        return err_no_memory(e);
    s->history = history_create(s->loop, &s->ctx, p->fsm, p->commit, p->status);
    s->exit_cache = exit_cache_create(s->loop, &s->ctx, p->commit);
    watches_know_ends(p->watches, s->exit_cache);
    return s->history && s->exit_cache ? 0 : err_no_memory(e);
}

/* What every part needs: the objects, out of the store, and facts of the settings. */
static int open_context(struct server *s, struct restore_counts *counts, bool *is_new, struct err *e)
{
    struct parts *p = &s->parts;
    gid_t gid;

    if (server_ctx_create(&s->ctx, loop_clock(s->loop), s->set.name, e) < 0 ||
        open_store(s, counts, is_new, e) < 0)
        return -1;
    if (daemon_account(conf_text(s->set.conf, CONF_PBS_DAEMON_SERVICE_USER), &s->ctx.daemon_uid, &gid, e) < 0)
        return -1;
    s->ctx.serves_all = s->set.serves_all;
    s->ctx.pbs_version = conf_text(s->set.conf, CONF_PBS_VERSION);
    s->ctx.hosts_join = conf_int(s->set.conf, CONF_PBS_HOSTS_JOIN);
    p->ctx = &s->ctx;
    p->loop = s->loop;
    p->home = s->set.home;
    return 0;
}

/* The machine of a job's states, and what posts to it as time passes or pieces arrive. */
static int create_machine(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->fsm = job_fsm_create();
    s->job_audit = job_audit_create(s->ctx.clock, commit_add_log, p->commit);
    if (!p->fsm || !s->job_audit)
        return err_no_memory(e);
    s->start_time = start_time_create(s->loop, &s->ctx, p->fsm);
    p->arrays = arrays_create(&s->ctx, p->fsm, p->commit);
    s->submit_pieces = submit_pieces_create(s->loop, &s->ctx, p->fsm);
    return s->start_time && s->submit_pieces && p->arrays ? 0 : err_no_memory(e);
}

/* What jobs wait for: other jobs, time, another queue. */
static int create_waiting(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->depend_remotes = depend_remotes_create(p->commit, s->ctx.events);
    s->depends = s->depend_remotes ? depends_create(&s->ctx, p->fsm, s->depend_remotes) : NULL;
    if (!s->depends)
        return err_no_memory(e);
    s->eligible_time = p->eligible_time = eligible_time_create(&s->ctx);
    s->maintenance = maintenance_create(&s->ctx);
    p->route = route_create(s->loop, &s->ctx);
    return s->eligible_time && s->maintenance && p->route ? 0 : err_no_memory(e);
}

/* Each needs parts of those before it. Listeners come last: nothing may happen before all who are told of it are there. */
int assembly_create(struct server *s, bool *is_new, struct restore_counts *counts, struct err *e)
{
    if (open_context(s, counts, is_new, e) < 0 || /* the lease, then the objects */
        create_machine(s, e) < 0 ||               /* events of jobs */
        create_publishing(s, e) < 0 ||            /* status, accounting, mail, hooks, history */
        assembly_running(s, e) < 0 ||             /* services, runs, preemption, reservations */
        create_waiting(s, e) < 0)                 /* dependencies, routes */
        return -1;
    s->clock_step = clock_step_create(s, e);
    if (!s->clock_step || assembly_requests(s, e) < 0)
        return -1;
    assembly_events(s);
    return 0;
}
