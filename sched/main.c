/* pbs_sched: command line, files, and the parts in order.
 *
 * The policy lives here, since it is read before anything else and outlives the scheduler. A sched_config
 * that cannot be read stops the start, but later (SIGHUP, or when the server asks) it is said and the old
 * one stays in force.
 *
 * The order of a start: pbs.conf, places, the account, the lock (daemon_begin), the log, files, the loop
 * and the scheduler. Everything up to the lock is told on stderr, the rest in the log as well. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "conf.h"
#include "conf_log.h"
#include "daemon.h"
#include "file.h"
#include "check.h"
#include "files.h"
#include "home_files.h"
#include "log.h"
#include "loop.h"
#include "options.h"
#include "places.h"
#include "policy.h"
#include "prime_calendar.h"
#include "scheduler.h"
#include "settings.h"
#include "strbuf.h"
#include "units.h"

struct settings_of_main {
    const char *name, *priv, *config, *log_file;
    bool foreground, version, print_config, check;
};

struct sched_main_program {
    struct settings_of_main o;
    struct conf *conf;
    char lock[PATH_MAX], config[PATH_MAX];
    struct places places;
    struct policy policy;
    struct settings *settings; /* sched_config as read last */
    struct loop *loop;
    struct scheduler *scheduler;
    struct loop_signal *hup, *term, *intr;
};

enum option_id {
    OPT_NAME,
    OPT_HOME,
    OPT_CONFIG,
    OPT_LOG,
    OPT_FOREGROUND,
    OPT_VERSION,
    OPT_PRINT,
    OPT_CHECK,
    OPT_IGNORED
};

static int sched_main_take_option(void *context, const struct option_row *row, const char *value,
                                  struct err *e)
{
    struct settings_of_main *o = context;

    switch ((enum option_id)row->id) {
    case OPT_NAME:
        o->name = value;
        break;
    case OPT_HOME:
        o->priv = value;
        break;
    case OPT_CONFIG:
        o->config = value;
        break;
    case OPT_LOG:
        o->log_file = value;
        break;
    case OPT_FOREGROUND:
        o->foreground = true;
        break;
    case OPT_VERSION:
        o->version = true;
        break;
    case OPT_PRINT:
        o->print_config = true;
        break;
    case OPT_CHECK:
        o->check = true;
        break;
    case OPT_IGNORED:
        break;
    }
    return 0;
}

/* PBS's words. A good value does nothing: the scheduler needs one thread. */
static int sched_main_take_threads(void *context, const struct option_row *row, const char *value,
                                   struct err *e)
{
    int64_t n;

    return units_parse_int(value, 1, INT32_MAX, &n, NULL) == 0
               ? 0
               : err_set(e, EINVAL, "%s: bad num threads value", value);
}

static const struct option_row rows[] = {
    {'I', NULL, OPTION_VALUE, "sched_name", "the sched object to serve (default)", sched_main_take_option,
     OPT_NAME},
    {'d', NULL, OPTION_VALUE, "home", "directory of its files (PBS_HOME/sched_priv)", sched_main_take_option,
     OPT_HOME},
    {'L', NULL, OPTION_VALUE, "logfile", "one log file instead of daily ones", sched_main_take_option,
     OPT_LOG},
    {'N', NULL, OPTION_ALONE, NULL, "stay in the foreground", sched_main_take_option, OPT_FOREGROUND},
    {'c', NULL, OPTION_VALUE, "configfile", "instead of sched_config among its files", sched_main_take_option,
     OPT_CONFIG},
    {'l', NULL, OPTION_ALONE, NULL, "kept for old scripts", sched_main_take_option, OPT_IGNORED},
    {'n', NULL, OPTION_ALONE, NULL, "kept for old scripts", sched_main_take_option, OPT_IGNORED},
    {'p', NULL, OPTION_VALUE, "outfile", "kept for old scripts", sched_main_take_option, OPT_IGNORED},
    {'t', NULL, OPTION_VALUE, "threads", "kept for old scripts: it needs one thread", sched_main_take_threads,
     OPT_IGNORED},
    {0, "print-config", OPTION_ALONE, NULL, "print sched_config with every option at its default",
     sched_main_take_option, OPT_PRINT},
    {0, "check", OPTION_ALONE, NULL, "say what is wrong with its files, and end", sched_main_take_option,
     OPT_CHECK},
    {0, "version", OPTION_ALONE, NULL, "print the version", sched_main_take_option, OPT_VERSION},
};

static const struct options options = {.program = "pbs_sched",
                                       .operands = "",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof *rows,
                                       .order = OPTIONS_ANYWHERE};

static int find_config(struct sched_main_program *p, struct err *e)
{
    int n = p->o.config ? snprintf(p->config, sizeof p->config, "%s", p->o.config)
                        : snprintf(p->config, sizeof p->config, "%s/sched_config", p->places.priv);

    return (size_t)n < sizeof p->config ? 0 : err_set(e, ENAMETOOLONG, "%s: path too long", p->places.priv);
}

/* What it writes to is PBS_DAEMON_SERVICE_USER's, and so is this process. */
static int become_user(struct sched_main_program *p, const char *priv, const char *logs, struct err *e)
{
    const char *user = conf_text(p->conf, CONF_PBS_DAEMON_SERVICE_USER);
    uid_t uid;
    gid_t gid;

    if (daemon_account(user, &uid, &gid, e) < 0 || file_hand_over(AT_FDCWD, priv, uid, gid, e) < 0 ||
        file_hand_over(AT_FDCWD, logs, uid, gid, e) < 0)
        return -1;
    return daemon_become(user, e);
}

/* PBS_HOME/sched_priv and sched_logs, with _NAME behind them for others than the default one. */
static int name_places(struct sched_main_program *p, struct err *e)
{
    const char *home = conf_text(p->conf, CONF_PBS_HOME);
    bool is_default = strcmp(p->o.name, "default") == 0;
    const char *dash = is_default ? "" : "_", *name = is_default ? "" : p->o.name;
    char priv[PATH_MAX], logs[PATH_MAX];

    if (strchr(p->o.name, '/'))
        return err_set(e, EINVAL, "%s: no scheduler has such a name", p->o.name);
    if (p->o.priv)
        snprintf(priv, sizeof priv, "%s", p->o.priv);
    else
        snprintf(priv, sizeof priv, "%s/sched_priv%s%s", home, dash, name);
    snprintf(logs, sizeof logs, "%s/sched_logs%s%s", home, dash, name);
    places_init(&p->places, priv, logs);
    if (find_config(p, e) < 0 ||
        (size_t)snprintf(p->lock, sizeof p->lock, "%s/sched.lock", priv) >= sizeof p->lock)
        return err_set(e, ENAMETOOLONG, "%s: path too long", priv);
    return 0;
}

static int sched_main_find_places(struct sched_main_program *p, struct err *e)
{
    const char *priv = p->places.priv, *logs = p->places.logs;

    if (name_places(p, e) < 0 || home_files_make(conf_text(p->conf, CONF_PBS_HOME), NULL, 0, e) < 0 ||
        file_make_dirs(priv, 0750, e) < 0 || file_make_dirs(logs, 0755, e) < 0)
        return -1;
    return become_user(p, priv, logs, e);
}

static int sched_main_open_log(struct sched_main_program *p, struct err *e)
{
    struct log_options o = {
        .dir = p->places.logs, .path = p->o.log_file, .daemon = "pbs_sched", .mask = p->policy.log_mask};

    return conf_log_open(p->conf, &o, e);
}

static void sched_main_hours_turn(void *arg)
{
    struct sched_main_program *p = arg;

    files_apply_config(p->settings, &p->policy);
}

/* Read the files that a scheduler starts with, or reads again while it runs. -1: sched_config is wrong, and nothing of it is
 * taken. */
static int take_files(struct sched_main_program *p, struct err *e)
{
    int64_t now_s = clock_wall_s(clock_real());
    struct settings *v = files_load_config(p->config, &files_log, e);

    files_read_times(p->places.priv, now_s, &p->policy);
    if (!v)
        return -1;
    settings_destroy(p->settings);
    p->settings = v;
    p->policy.is_prime = prime_calendar_is_prime(p->policy.times, now_s);
    files_apply_config(v, &p->policy);
    return 0;
}

static void sched_main_read_files(void *arg)
{
    struct sched_main_program *p = arg;
    struct err e;

    log_event(LOGC_SCHED, LOGE_ADMIN, "reconfigure", "Scheduler is reconfiguring");
    if (take_files(p, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "sched_config", "%s", e.text);
    if (p->scheduler)
        scheduler_reconfigured(p->scheduler, p->places.priv);
    log_event(LOGC_SCHED, LOGE_ADMIN, "reconfigure", "Scheduler is reconfigured");
}

/* The old file is closed with a line that says where the next one is. */
static int change_logs(struct sched_main_program *p)
{
    struct err e;

    log_event(LOGC_SCHED, LOGE_ADMIN, "places", "scheduler log directory is changed to %s", p->places.logs);
    log_close();
    return sched_main_open_log(p, &e);
}

static void change_priv(struct sched_main_program *p)
{
    struct err e;

    log_event(LOGC_SCHED, LOGE_ADMIN, "places", "scheduler priv directory has changed to %s", p->places.priv);
    if (find_config(p, &e) < 0 ||
        files_put_pristine(conf_text(p->conf, CONF_PBS_EXEC), p->places.priv, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "places", "%s", e.text);
    sched_main_read_files(p);
}

/* Before each registration: the sched object may name other directories. */
static int sched_main_enter(void *arg, int c, struct err *e)
{
    struct sched_main_program *p = arg;
    int changed = places_ask(&p->places, c, p->o.name, e);

    if (changed < 0)
        return -1;
    if (changed & PLACES_OTHER_LOGS)
        change_logs(p);
    if (changed & PLACES_OTHER_PRIV)
        change_priv(p);
    return 0;
}

static bool sched_main_places_still_hold(void *arg, const char *priv, const char *logs)
{
    const struct sched_main_program *p = arg;

    return places_hold(&p->places, priv, logs);
}

static void sched_main_hung_up(void *arg)
{
    log_reopen(NULL);
    sched_main_read_files(arg);
}

static void sched_main_quit(void *arg)
{
    struct sched_main_program *p = arg;

    loop_stop(p->loop);
}

static int sched_main_create_parts(struct sched_main_program *p, struct err *e)
{
    const struct scheduler_events on = {.enter = sched_main_enter,
                                        .places_hold = sched_main_places_still_hold,
                                        .hours_turn = sched_main_hours_turn,
                                        .configure = sched_main_read_files,
                                        .quit = sched_main_quit,
                                        .arg = p};

    p->loop = loop_create(NULL, e);
    if (!p->loop)
        return -1;
    p->hup = loop_signal_create(p->loop, SIGHUP, sched_main_hung_up, p, e);
    p->term = p->hup ? loop_signal_create(p->loop, SIGTERM, sched_main_quit, p, e) : NULL;
    p->intr = p->term ? loop_signal_create(p->loop, SIGINT, sched_main_quit, p, e) : NULL;
    if (!p->intr)
        return -1;
    p->scheduler = scheduler_create(p->loop, p->o.name, &p->policy, &on, e);
    if (!p->scheduler)
        return -1;
    scheduler_reconfigured(p->scheduler, p->places.priv);
    return 0;
}

/* In the reverse order; what was not created is NULL. */
static void destroy_parts(struct sched_main_program *p)
{
    scheduler_destroy(p->scheduler);
    if (p->intr)
        loop_signal_destroy(p->intr);
    if (p->term)
        loop_signal_destroy(p->term);
    if (p->hup)
        loop_signal_destroy(p->hup);
    if (p->loop)
        loop_destroy(p->loop);
    policy_fini(&p->policy);
    settings_destroy(p->settings);
}

static int sched_main_start(struct sched_main_program *p, struct err *e)
{
    if (sched_main_open_log(p, e) < 0 || daemon_set_limits(conf_core_bytes(p->conf), e) < 0)
        return -1;
    if (files_put_pristine(conf_text(p->conf, CONF_PBS_EXEC), p->places.priv, e) < 0 || take_files(p, e) < 0)
        return -1;
    log_event(LOGC_SVR, LOGE_ADMIN, "pbs_sched", "%s startup pid %ld", CEDE_VERSION, (long)getpid());
    return sched_main_create_parts(p, e);
}

static int sched_main_run(struct sched_main_program *p)
{
    struct daemon_options o = {
        .name = "pbs_sched", .lock_path = p->lock, .lock_mode = 0644, .foreground = p->o.foreground};
    struct err e;
    int rc = 0;
    struct daemon *d = daemon_begin(&o, &rc);

    if (!d)
        return rc;
    policy_init(&p->policy);
    if (sched_main_start(p, &e) < 0) {
        log_err(LOGC_SVR, "pbs_sched", &e, "cannot start");
        rc = daemon_fail(d, &e);
    } else {
        daemon_ready(d);
        rc = loop_run(p->loop, &e) < 0 ? 1 : 0;
    }
    destroy_parts(p);
    log_event(LOGC_SVR, LOGE_ADMIN, "pbs_sched", "normal finish pid %ld", (long)getpid());
    log_close();
    daemon_end(d);
    return rc;
}

/* Nothing is made, and no running daemon is disturbed. */
static int check_only(struct sched_main_program *p, struct err *e)
{
    if (name_places(p, e) < 0)
        return -1;
    return check_files(p->config, p->places.priv, stderr) ? 1 : 0;
}

static int print_config(void)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    files_add_presets(&text);
    fputs(strbuf_str(&text), stdout);
    strbuf_fini(&text);
    return ferror(stdout) ? 1 : 0;
}

int main(int argc, char *argv[])
{
    struct sched_main_program p = {.o = {.name = "default"}};
    struct err e;
    int first;

    if (options_parse(&options, argc, argv, &first, &p.o, &e) < 0) {
        fprintf(stderr, "pbs_sched: %s\n", e.text);
        return 1;
    }
    if (p.o.version)
        return conf_print_version();
    if (p.o.print_config)
        return print_config();
    p.conf = conf_load(&e);
    int rc = !p.conf ? -1 : p.o.check ? check_only(&p, &e) : sched_main_find_places(&p, &e);
    if (rc < 0)
        fprintf(stderr, "pbs_sched: %s\n", e.text);
    else if (!p.o.check)
        rc = sched_main_run(&p);
    conf_destroy(p.conf);
    if (rc < 0)
        return 1;
    return rc;
}
