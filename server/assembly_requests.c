/* The parts that requests speak to, and the requests themselves. See assembly.h. */
#include "assembly.h"

#include <string.h>

#include "accounting.h"
#include "depend_link.h"
#include "depend.h"
#include "dispatch.h"
#include "munge_login.h"
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
#include "req_table.h"
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

static void on_limits_changed(void *arg, struct job *j)
{
    runs_altered(((struct server *)arg)->parts.runs, j);
}

/* A job that has given way: told to accounting, to its event log, and to its owner where it is deleted. */
static void on_preempted(void *arg, struct job *j, enum preempt_result r, const char *by)
{
    struct server *s = arg;
    double lost_s = preempt_method_row(preempt_result_method(r))->loses_work ? j->preempt->lost_core_s : 0;
    char letter = preempt_result_letter(r), tried[PREEMPT_LETTERS_MAX];

    if (!letter)
        return;
    accounting_preempted(s->parts.accounting, j, r, by, lost_s);
    job_log_note(s->job_log, j, "preempted: %c for %s by %s, tried %s, %.1f core-seconds lost", letter,
                 j->preempt->urgent ? j->preempt->urgent : "nobody named", by,
                 preempt_methods_format(&j->preempt->tried, tried), lost_s);
    if (r == PREEMPT_DELETED)
        mail_preempted(s->parts.mail, j);
}

static void on_preempting(void *arg, struct job *j, enum preempt_result r, const char *by)
{
    if (r == PREEMPT_DELETED && !job_is_over(j))
        accounting_deleted(((struct server *)arg)->parts.accounting, j, by);
}

static void on_left(void *arg, struct job *j, const char *destination, const char *as)
{
    struct server *s = arg;

    accounting_moved_out(s->parts.accounting, j, destination);
    depends_left(s->depends, j, strchr(destination, '@') + 1, as);
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

static void on_news(void *arg, struct job_key key)
{
    struct server *s = arg;

    if (s->parts.tracks) /* at the end it goes first */
        tracks_news(s->parts.tracks, key);
}

static void on_stayed(void *arg, struct job *j)
{
    depends_stayed(((struct server *)arg)->depends, j);
}

static const char *alias(void *notes, const char *id)
{
    return notes_find(notes, "was", id);
}

static void on_client_gone(void *arg, struct client *c)
{
    struct server *s = arg;

    watches_gone(s->parts.watches, c);
    schedulers_gone(s->parts.schedulers, c);
}

static void on_sched_heard(void *arg, struct client *c)
{
    schedulers_heard(arg, c);
}

static bool on_sched_waits(void *arg, const void *owner)
{
    (void)arg;
    return client_requests(owner) > 0;
}

static void on_sched_hung(void *arg, const void *owner)
{
    (void)arg;
    dispatch_close(owner, "the scheduler hangs");
}

static void on_stop(void *arg)
{
    loop_stop(((struct server *)arg)->loop);
}

static void on_shutdown(void *arg, int manner)
{
    shutdown_begin(((struct server *)arg)->shutdown, manner);
}

static struct guests *create_guests(struct server *s, struct err *e)
{
    char module[4200];
    const struct guests_options o = {.module = module,
                                     .socket = conf_text(s->set.conf, CONF_PBS_MUNGE_SOCKET),
                                     .certs = s->set.certs,
                                     .serves_all = s->set.serves_all};

    module_path(module, sizeof module, "libauth_munge.so");
    return guests_create(s->loop, &o, e);
}

/* Dependencies, also of jobs at other servers. */
static int create_ties(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    p->tracks = tracks_create(s->loop, s->depends, p->commit);
    s->away_links = away_links_create(s->loop, s->peers, s->aways, s->depends);
    if (!p->tracks || !s->away_links)
        return err_no_memory(e);
    depends_bind(s->depends, p->notes, &(struct depends_hooks){s, on_unmet, on_news});
    return 0;
}

/* What lets jobs in, moves and alters them. */
static int create_entrance(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    s->scripts = scripts_create(SCRIPT_MEMORY);
    s->names = names_create(s->loop, GRANT_SECONDS * 1000, e);
    p->names = s->names;
    if (!s->scripts || !s->names)
        return s->names ? err_no_memory(e) : -1;
    p->notes = notes_create(s->site.clock, p->commit);
    s->site.alias = alias;
    s->site.alias_arg = p->notes;
    p->submit = submit_create(&(struct submit_parts){.site = &s->site,
                                                     .fsm = p->fsm,
                                                     .commit = p->commit,
                                                     .names = s->names,
                                                     .scripts = s->scripts,
                                                     .start_time = s->start_time,
                                                     .arriving = s->arriving,
                                                     .depends = s->depends,
                                                     .route = p->route,
                                                     .notes = p->notes,
                                                     .reader = p->reader});
    s->peers = peers_create(s->loop, s->names, s->set.certs, conf_text(s->set.conf, CONF_PBS_PEER_SERVERS),
                            (unsigned)conf_int(s->set.conf, CONF_PBS_BATCH_SERVICE_PORT));
    if (!s->peers)
        return err_no_memory(e);
    p->move_out = move_out_create(&(struct move_out_parts){.loop = s->loop,
                                                           .site = &s->site,
                                                           .fsm = p->fsm,
                                                           .commit = p->commit,
                                                           .peers = s->peers,
                                                           .notes = p->notes,
                                                           .reader = p->reader,
                                                           .scripts = s->scripts,
                                                           .left = on_left,
                                                           .stayed = on_stayed,
                                                           .arg = s});
    route_reach(p->route, p->move_out);
    if (create_ties(s, e) < 0)
        return -1;
    p->alter = (struct alter_parts){.site = &s->site,
                                    .fsm = p->fsm,
                                    .start_time = s->start_time,
                                    .depends = s->depends,
                                    .eligible = p->eligible,
                                    .arrays = p->arrays,
                                    .limits_changed = on_limits_changed,
                                    .arg = s};
    return p->notes && p->move_out && p->submit ? 0 : err_no_memory(e);
}

static int create_preemption(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

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
    if (!p->preempts || !p->plan_holds)
        return err_no_memory(e);
    victims_on_settled(p->victims, on_preempted, s);
    victims_on_begun(p->victims, on_preempting, s);
    victims_on_offer(p->victims, plan_holds_offer, p->plan_holds);
    return 0;
}

int assembly_asking(struct server *s, struct err *e)
{
    struct parts *p = &s->parts;

    if (create_entrance(s, e) < 0 || create_preemption(s, e) < 0)
        return -1;
    p->of_pair = s->set.role != SERVER_ALONE;
    p->is_secondary = s->set.role == SERVER_SECONDARY;
    s->shutdown = shutdown_create(p, on_stop, s);
    if (!s->shutdown)
        return err_no_memory(e);
    p->shutdown = on_shutdown;
    p->shutdown_arg = s;
    s->guests = create_guests(s, e);
    if (!s->guests)
        return -1;
    s->dispatch = dispatch_create(&(struct dispatch_options){.loop = s->loop,
                                                             .site = &s->site,
                                                             .names = s->names,
                                                             .guests = s->guests,
                                                             .rows = req_table,
                                                             .n_rows = req_table_count,
                                                             .parts = p,
                                                             .open = shutdown_check,
                                                             .open_arg = s->shutdown,
                                                             .sched_heard = on_sched_heard,
                                                             .sched_heard_arg = p->schedulers,
                                                             .client_gone = on_client_gone,
                                                             .client_gone_arg = s});
    if (!s->dispatch || schedulers_guard(p->schedulers, s->loop,
                                         &(struct schedulers_hooks){s, on_sched_waits, on_sched_hung}) < 0)
        return err_no_memory(e);
    return 0;
}
