/* pbs_mom: runs jobs on this host at the word of pbs_server. Tables of bindings, the order of creation, the
 * loop.
 *
 * The order of mom_steps is not free: the generation is durable before a server can hear of it; runs are
 * recovered before sisters and server may ask about them; the service comes last, since its HELLO says all
 * that is here. mom_end() goes back the same way, and lets go of shepherds without ending them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <openssl/ssl.h>

#include "act_start.h"
#include "actions.h"
#include "cgroup_limits.h"
#include "cert_renew.h"
#include "ckpt_adapters.h"
#include "certs.h"
#include "command_line.h"
#include "ckpt.h"
#include "conf.h"
#include "conf_log.h"
#include "mom_config.h"
#include "daemon.h"
#include "dyn_values.h"
#include "exec_service.h"
#include "image_in.h"
#include "image_out.h"
#include "fitness.h"
#include "cycle_harvest.h"
#include "host_data.h"
#include "host_hooks_life.h"
#include "host_periodic.h"
#include "host_sync.h"
#include "join_file.h"
#include "server_lease.h"
#include "log.h"
#include "loop.h"
#include "names.h"
#include "notice_order.h"
#include "mom.h"
#include "prepare.h"
#include "recover.h"
#include "mom_run.h"
#include "run_rules.h"
#include "server_link.h"
#include "mom_orders.h"
#include "peer_relay.h"
#include "shepherds.h"
#include "site_action.h"
#include "sisters.h"
#include "task_hooks.h"
#include "rundir_pool.h"
#include "site_steps.h"
#include "restrict_user.h"
#include "strbuf.h"
#include "usage.h"
#include "vnodes.h"

/* NAMES_KEEP_MS: a changed account counts after a minute, and a burst of starts of one user asks the directory once. */
enum { NAMES_KEEP_MS = 60000, EXIT_USAGE = 1, USAGE_MAX = 8192, LINE_MAX_BYTES = 200 };

/* ---- bindings */
static void mom_on_started(void *arg, struct run *r)
{
    mom_post(arg, r, RUN_EV_STARTED);
}

static void mom_on_ended(void *arg, struct run *r)
{
    mom_post(arg, r, RUN_EV_ENDED);
}

static void mom_on_lost(void *arg, struct run *r)
{
    mom_post(arg, r, RUN_EV_SHEPHERD_LOST);
}

static void mom_on_prepared(void *arg, struct run *r)
{
    mom_post(arg, r, RUN_EV_PREPARED);
}

static void mom_on_failed(void *arg, struct run *r)
{
    mom_post(arg, r, RUN_EV_FAILED);
}

static void mom_image_over(void *arg, struct run *r, const struct err *why)
{
    struct mom *m = arg;

    prepare_image_over(m->prepare, r, why);
}

static void mom_on_image(void *arg, struct run *r)
{
    struct err e = {0};

    if (image_in_begin(arg, r, mom_image_over, &e) < 0)
        mom_image_over(arg, r, &e);
}

static void mom_on_image_asked(void *arg, struct rpc_request *q)
{
    struct mom *m = arg;

    image_out_serve(m->image_out, q);
}

static void mom_on_resources(void *arg)
{
    server_link_say_resources(arg);
}

static void mom_on_adapters(void *arg)
{
    server_link_say_checkpoint(arg);
}

static void mom_on_use(void *arg)
{
    server_link_say_busy(arg);
    cycle_harvest_apply_all(arg);
}

static void mom_on_fitness(void *arg)
{
    server_link_say_busy(arg);
}

static void mom_begin_waiting(void *arg, struct run *r)
{
    if (!r->hook_waits)
        return;
    r->hook_waits = false;
    mom_post(arg, r, RUN_EV_PREPARED);
}

/* Hook files are here, or do not come: runs that have waited for them begin. */
static void mom_on_hooks(struct mom *m)
{
    runs_each(m->runs, mom_begin_waiting, m);
}

static void say_confinement(const struct mom *m)
{
    char text[LINE_MAX_BYTES];

    cgroup_limits_describe(&m->home, text, sizeof text);
    log_event(LOGC_NODE, LOGE_SYSTEM, m->home.node, "jobs are confined by %s", text);
    cgroup_limits_warn(&m->home, text, sizeof text);
    if (text[0])
        log_event(LOGC_NODE, LOGE_SYSTEM, m->home.node, "%s", text);
}

/* Without either, output of jobs from other hosts stays here: said before the first of them has lost any. */
static void say_delivery(const struct mom *m)
{
    const char *scp = conf_text(m->home.conf, CONF_PBS_SCP);

    if (m->home.config->n_usecp)
        return;
    if (!scp)
        log_event(
            LOGC_NODE, LOGE_SYSTEM, m->home.node,
            "output of jobs from other hosts will be kept in %s: PBS_SCP of pbs.conf names no program, and mom_priv/config "
            "has no $usecp line for shared directories (\"$usecp *:/home /home\")",
            m->home.undelivered);
    else if (access(scp, X_OK) < 0)
        log_event(
            LOGC_NODE, LOGE_SYSTEM, m->home.node,
            "output of jobs from other hosts will be kept in %s: PBS_SCP of pbs.conf names %s, which cannot be run: %s",
            m->home.undelivered, scp, strerror(errno));
}

static void took_config(struct mom *m)
{
    struct err e = {0};

    if (dyn_values_begin(m->dynamic, &e) < 0)
        log_err(LOGC_SVR, "config", &e, "scripts of dynamic resources are not run");
    ckpt_adapters_begin(m->ckpt_adapters);
    say_confinement(m);
    say_delivery(m);
    cycle_harvest_configured(m->cycle_harvest);
    restrict_user_configured(m->restrict_user);
    exec_service_again(m->service);
    host_data_forget(m->hooks);
    host_periodic_startup(m->hooks->periodic);
}

static void mom_on_hup(void *arg)
{
    struct mom *m = arg;
    struct err e = {0};

    if (home_load_config(&m->home, &e) < 0)
        log_err(LOGC_SVR, "config", &e, "the old configuration stays");
    else
        took_config(m);
    log_set_mask(m->home.config->log_mask);
    log_reopen(&e);
    names_forget(m->names);
    exec_service_hurry(m->service);
}

static void mom_said_bye(void *arg)
{
    struct mom *m = arg;

    loop_stop(m->loop);
}

/* Jobs run on under their shepherds: -p is how this MOM always is. */
static void mom_on_stop(void *arg)
{
    struct mom *m = arg;

    exec_service_bye(m->service, "shutting down", true, mom_said_bye, m);
}

static void bind_machine(struct mom *m)
{
    m->machine = (struct run_machine){
        .rows = run_rules, .n_rows = run_rules_n, .ctx = m, .changed = actions_changed, .odd = actions_odd};
    for (int i = 0; i < RUN_ACTION_COUNT; i++)
        m->machine.act[i] = actions[i];
    m->outbox = (struct journal_outbox){.wake = server_link_wake, .arg = m};
}

static int mom_create_parts(struct mom *m, struct err *e)
{
    const struct prepare_hooks prepare = {mom_on_image, mom_orders_fetch_script, mom_on_prepared,
                                          mom_on_failed, m};
    const struct shepherds_hooks shepherds = {
        mom_on_started,     mom_on_ended,    mom_on_lost,   peer_relay_out,
        notice_order_reply, task_hooks_take, ckpt_declared, m};

    m->names = names_create(m->loop, NAMES_KEEP_MS, e);
    m->runs = runs_create();
    m->rundir_pool = rundir_pool_create(m->home.jobs);
    if (!m->names || !m->runs || !m->rundir_pool)
        return -1;
    bind_machine(m);
    m->prepare = prepare_create(&m->home, m->runs, m->names, m->rundir_pool, &prepare);
    m->shepherds = shepherds_create(m->loop, &m->home, &shepherds);
    m->site_steps = site_steps_create(m->loop, &m->home, actions_step_done, m);
    m->hooks = host_hooks_create(m, e);
    if (!m->hooks)
        return -1;
    host_sync_on_over(m, mom_on_hooks);
    return m->prepare && m->shepherds && m->site_steps ? 0 : err_set(e, 12, "no memory");
}

static int mom_watch_signals(struct mom *m, struct err *e)
{
    struct loop *l = m->loop;

    m->hup = loop_signal_create(l, SIGHUP, mom_on_hup, m, e);
    m->intr = loop_signal_create(l, SIGINT, mom_on_stop, m, e);
    m->term = loop_signal_create(l, SIGTERM, mom_on_stop, m, e);
    return m->hup && m->intr && m->term ? 0 : -1;
}

/* Who owns it may take the names of output files and remove them; and the MOM leaves its mode alone then. */
static void check_spool_owner(const struct home *h)
{
    struct stat st;

    if (stat(h->spool, &st) == 0 && st.st_uid != geteuid())
        log_event(LOGC_SVR, LOGE_ERROR, "pbs_mom",
                  "%s belongs to user %u (not %u), who can replace the output of jobs; pbs_probe -f mends it",
                  h->spool, (unsigned)st.st_uid, (unsigned)geteuid());
}

static int mom_open_log(const struct mom *m, struct err *e)
{
    struct log_options o = {
        .dir = m->home.logs, .path = m->log_path, .daemon = "pbs_mom", .mask = m->home.config->log_mask};

    if (conf_log_open(m->home.conf, &o, e) < 0)
        return -1;
    log_event(LOGC_SVR, LOGE_SYSTEM, "pbs_mom", "Using %s.", m->home.checkpoint_from);
    check_spool_owner(&m->home);
    return 0;
}

static int mom_listen_to_sisters(struct mom *m, struct err *e)
{
    const struct sisters_parts p = {.loop = m->loop,
                                    .home = &m->home,
                                    .runs = m->runs,
                                    .tls_out = m->tls,
                                    .tls_in = m->tls_in,
                                    .deliver = peer_relay_in,
                                    .image = mom_on_image_asked,
                                    .arg = m};

    m->image_out = image_out_create(m->loop, &m->home, e);
    m->sisters = m->image_out ? sisters_create(&p, e) : NULL;
    return m->sisters ? 0 : -1;
}

/* -r: those of an earlier MOM are not wanted any more. */
static void mom_end_run(void *arg, struct run *r)
{
    if (r->slot.state >= RUN_ENDING)
        return;
    r->grace_s = 0;
    r->stop_reason = EXEC_END_LOST;
    snprintf(r->stop_text, sizeof r->stop_text, "job killed: pbs_mom was started with -r");
    mom_post(arg, r, RUN_EV_TERMINATE);
}

/* A host that waits for a server in order to join is up, as one is whose server is away. */
static void mom_on_join_waits(void *daemon)
{
    daemon_ready(daemon);
}

static int mom_open_limits(struct mom *m, struct err *e)
{
    return home_raise_limits(&m->home, e);
}

static int mom_open_tls(struct mom *m, struct err *e)
{
    if (certs_ensure(m->home.certs, m->home.service, e) < 0)
        return -1;
    m->tls = certs_context(m->home.certs, m->home.service, CERTS_CLIENT, e);
    m->tls_in = certs_context(m->home.certs, m->home.service, CERTS_SERVER, e);
    return m->tls && m->tls_in ? 0 : -1;
}

static int mom_open_epoch(struct mom *m, struct err *e)
{
    struct strbuf path;
    int rc;

    strbuf_init(&path, USAGE_MAX);
    strbuf_addf(&path, "%s/service", m->home.priv);
    rc = server_epoch_open(&m->server_epoch, path.s, e);
    strbuf_fini(&path);
    return rc;
}

static int mom_open_loop(struct mom *m, struct err *e)
{
    m->loop = loop_create(NULL, e);
    return m->loop ? 0 : -1;
}

static int mom_open_fitness(struct mom *m, struct err *e)
{
    m->fitness = fitness_create(m->loop, &m->home, mom_on_fitness, m);
    return m->fitness ? 0 : err_no_memory(e);
}

static int mom_open_lease(struct mom *m, struct err *e)
{
    m->server_lease = server_lease_create(m, e);
    return m->server_lease ? 0 : -1;
}

static int mom_end_recovered(struct mom *m, struct err *e)
{
    if (m->end_jobs)
        runs_each(m->runs, mom_end_run, m);
    return 0;
}

static int mom_open_harvest(struct mom *m, struct err *e)
{
    m->cycle_harvest = cycle_harvest_create(m->loop, &m->home, mom_on_use, m, e);
    return m->cycle_harvest ? 0 : -1;
}

static int mom_open_restrict_user(struct mom *m, struct err *e)
{
    m->restrict_user = restrict_user_create(m, e);
    return m->restrict_user ? 0 : -1;
}

static int mom_open_dynamic(struct mom *m, struct err *e)
{
    m->dynamic = dyn_values_create(m->loop, &m->home, mom_on_resources, m);
    return m->dynamic ? dyn_values_begin(m->dynamic, e) : -1;
}

static int mom_open_adapters(struct mom *m, struct err *e)
{
    m->ckpt_adapters = ckpt_adapters_create(m->loop, &m->home, mom_on_adapters, m, e);
    if (!m->ckpt_adapters)
        return -1;
    ckpt_adapters_begin(m->ckpt_adapters);
    return 0;
}

static int mom_open_renewal(struct mom *m, struct err *e)
{
    m->certs = cert_renew_create(m, m->tls, m->tls_in, e);
    return m->certs ? 0 : -1;
}

static int mom_open_service(struct mom *m, struct err *e)
{
    m->service = server_link_create(m, m->tls, e);
    return m->service ? 0 : -1;
}

typedef int mom_step(struct mom *m, struct err *e);

/* What a MOM begins with, in this order; the reasons are at the top of the file. */
static mom_step *const mom_steps[] = {
    mom_open_tls,           /* its certificate is there by now: join_file_use has asked for it */
    mom_open_epoch,         /* durable before a server can hear of it */
    mom_open_loop,          /* all that follows hangs on it */
    mom_create_parts,       /* runs, shepherds, steps of the site, hooks */
    mom_watch_signals,      /* SIGHUP, SIGINT, SIGTERM */
    mom_open_fitness,       /* asked when a run ends before anything of it began: before there are runs */
    recover_runs,           /* before sisters and server may ask about runs */
    mom_listen_to_sisters,  /* they may be waiting since the last end */
    mom_open_lease,         /* from now on there is no server, for the runs that were recovered */
    mom_end_recovered,      /* -r */
    mom_open_harvest,       /* it may suspend runs that were recovered */
    mom_open_restrict_user, /* it spares owners of runs that were recovered */
    mom_open_dynamic,       /* amounts that scripts print */
    mom_open_adapters,      /* scripts of checkpoints */
    mom_open_renewal,       /* of the certificate, in both contexts of TLS */
    mom_open_service,       /* last: its HELLO says all that is here */
};

static int mom_begin(struct mom *m, struct daemon *d, struct err *e)
{
    if (mom_open_log(m, e) < 0 || mom_open_limits(m, e) < 0 ||
        join_file_use(&m->home, mom_on_join_waits, d, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof mom_steps / sizeof *mom_steps; i++)
        if (mom_steps[i](m, e) < 0)
            return -1;
    host_periodic_startup(m->hooks->periodic);
    return 0;
}

static void mom_leave_run(void *arg, struct run *r)
{
    struct mom *m = arg;

    act_start_stop(r);
    site_action_stop(r);
    shepherds_leave(r);
    usage_end(r);
    journal_close(&m->outbox, r);
}

static void mom_end(struct mom *m)
{

    exec_service_destroy(m->service);
    m->service = NULL;
    cert_renew_destroy(m->certs);
    m->certs = NULL;
    ckpt_adapters_destroy(m->ckpt_adapters);
    m->ckpt_adapters = NULL;
    dyn_values_destroy(m->dynamic);
    m->dynamic = NULL;
    restrict_user_destroy(m->restrict_user);
    m->restrict_user = NULL;
    cycle_harvest_destroy(m->cycle_harvest);
    m->cycle_harvest = NULL;
    fitness_destroy(m->fitness);
    m->fitness = NULL;
    server_lease_destroy(m->server_lease);
    m->server_lease = NULL;
    sisters_destroy(m->sisters);
    m->sisters = NULL;
    image_out_destroy(m->image_out);
    m->image_out = NULL;
    if (m->runs)
        runs_each(m->runs, mom_leave_run, m);
    host_hooks_destroy(m->hooks); /* before the runs: what is under way looks for its own */
    m->hooks = NULL;
    runs_destroy(m->runs);
    site_steps_destroy(m->site_steps);
    shepherds_destroy(m->shepherds);
    prepare_destroy(m->prepare);
    rundir_pool_destroy(m->rundir_pool);
    names_destroy(m->names);
    loop_signal_destroy(m->hup);
    loop_signal_destroy(m->intr);
    loop_signal_destroy(m->term);
    if (m->loop)
        loop_destroy(m->loop);
    server_epoch_close(&m->server_epoch);
    SSL_CTX_free(m->tls);
    SSL_CTX_free(m->tls_in);
    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "pbs_mom", "Is down");
    log_close();
}

static int mom_serve(struct mom *m, struct daemon *d)
{
    struct err e = {0};
    int rc;

    if (mom_begin(m, d, &e) < 0) {
        log_err(LOGC_SVR, "pbs_mom", &e, "cannot start");
        rc = daemon_fail(d, &e);
    } else {
        log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "pbs_mom", "Mom pid = %d ready, using server %s:%u",
                  (int)getpid(), conf_server_host(m->conf), conf_server_port(m->conf));
        say_confinement(m);
        say_delivery(m);
        daemon_ready(d);
        rc = loop_run(m->loop, &e) < 0 ? 1 : 0;
    }
    mom_end(m);
    return rc;
}

static int mom_main_run(struct mom *m, const struct command_line *c)
{
    struct err e = {0};
    struct daemon *d;
    int rc = 1;

    if (c->has_nice && setpriority(PRIO_PROCESS, 0, c->nice) < 0) {
        fprintf(stderr, "pbs_mom: nice value %d: %s\n", c->nice, strerror(errno));
        return 1;
    }
    m->conf = conf_load(&e);
    if (!m->conf || home_open(&m->home, m->conf, &c->home, &e) < 0) {
        fprintf(stderr, "pbs_mom: %s\n", e.text);
        return 1;
    }
    d = daemon_begin(
        &(struct daemon_options){
            .name = "pbs_mom", .lock_path = m->home.lock, .lock_mode = 0644, .foreground = c->foreground},
        &rc);
    if (d) {
        rc = mom_serve(m, d);
        daemon_end(d);
    }
    return rc;
}

static int check_only(const struct command_line *c)
{
    struct err e;
    struct conf *conf = conf_load(&e);
    int rc = conf ? home_check(conf, &c->home, &e) : -1;

    if (rc < 0)
        fprintf(stderr, "pbs_mom: %s\n", e.text);
    conf_destroy(conf);
    return rc < 0 ? 1 : 0;
}

static int mom_vnodes_insert(const char *dir, char *const operands[], struct err *e)
{
    return vnodes_insert(dir, operands[0], operands[1], e);
}

static int mom_vnodes_remove(const char *dir, char *const operands[], struct err *e)
{
    return vnodes_remove(dir, operands[0], e);
}

static int mom_vnodes_show(const char *dir, char *const operands[], struct err *e)
{
    return vnodes_show(dir, operands[0], e);
}

static int mom_vnodes_list(const char *dir, char *const operands[], struct err *e)
{
    return vnodes_list(dir, e);
}

/* What -s can be told to do, and with how many operands. */
static const struct mom_vnodes_row {
    const char *verb;
    int n;
    int (*run)(const char *dir, char *const operands[], struct err *e);
} mom_vnodes_rows[] = {
    {"insert", 2, mom_vnodes_insert},
    {"remove", 1, mom_vnodes_remove},
    {"show", 1, mom_vnodes_show},
    {"list", 0, mom_vnodes_list},
};

static int mom_vnodes_do(const char *dir, const struct command_line *c, struct err *e)
{
    for (size_t i = 0; i < sizeof mom_vnodes_rows / sizeof mom_vnodes_rows[0]; i++)
        if (strcmp(c->verb, mom_vnodes_rows[i].verb) == 0 && c->n == mom_vnodes_rows[i].n)
            return mom_vnodes_rows[i].run(dir, c->operands, e);
    return err_set(e, EINVAL, "usage: pbs_mom -s insert NAME FILE | remove NAME | show NAME | list");
}

/* Without the MOM: its files may be the very ones that keep it from starting. */
static int edit_vnodes(const struct command_line *c)
{
    struct err e = {0};
    struct conf *conf = conf_load(&e);
    char *dir = conf ? home_vnode_dir(conf) : NULL;
    int rc = -1;

    if (!dir)
        err_set(&e, e.code ? e.code : ENOMEM, "%s", e.code ? e.text : "no memory");
    else
        rc = mom_vnodes_do(dir, c, &e);
    if (rc < 0)
        fprintf(stderr, "pbs_mom: %s\n", e.text);
    free(dir);
    conf_destroy(conf);
    return rc < 0 ? 1 : 0;
}

int main(int argc, char *argv[])
{
    struct command_line c = {0};
    struct mom mom = {0};
    int rc;

    if (command_line_parse(argc, argv, &c) < 0)
        return EXIT_USAGE;
    if (c.version)
        return conf_print_version();
    if (c.verb)
        return edit_vnodes(&c);
    if (c.check)
        return check_only(&c);
    mom.log_path = c.log;
    mom.end_jobs = c.end_jobs;
    rc = mom_main_run(&mom, &c);
    home_close(&mom.home);
    conf_destroy(mom.conf);
    return rc;
}
