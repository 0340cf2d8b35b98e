/* pbs_comm: a daemon that has nothing to route.
 *
 * MOMs connect to the server and, for the jobs they share, to each other; no traffic passes through a router. Start
 * scripts, units and monitors of PBS expect the daemon all the same, so it starts, holds its lock, answers signals,
 * and logs that it is not needed. It opens no port. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "conf_log.h"
#include "daemon.h"
#include "home_files.h"
#include "log.h"
#include "loop.h"
#include "options.h"
#include "strbuf.h"

enum { COMM_PORT = 17001, PATH_SIZE = 4200, USAGE_MAX = 4096 };

struct comm {
    struct conf *conf;
    char priv[PATH_SIZE], logs[PATH_SIZE], lock[PATH_SIZE + 16];
    char name[300];      /* of this router, as logs write it: host:port */
    const char *routers; /* -r, or NULL */
    int64_t log_events;  /* -e; -1: not given */
    bool foreground, version;
    struct loop *loop;
};

/* ---- what it is told ---------------------------------------------------------------------------------- */

enum { OPT_FOREGROUND, OPT_EVENTS, OPT_ROUTERS, OPT_VERSION, OPT_IGNORED };

static int pbs_comm_take_option(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct comm *c = context;
    char *end;

    switch (row->id) {
    case OPT_FOREGROUND:
        c->foreground = true;
        break;
    case OPT_VERSION:
        c->version = true;
        break;
    case OPT_ROUTERS:
        c->routers = value;
        break;
    case OPT_EVENTS:
        c->log_events = strtoll(value, &end, 0);
        if (*end || end == value || c->log_events < 0)
            return err_set(e, EINVAL, "%s is not a mask of events", value);
        break;
    default:
        break;
    }
    return 0;
}

static const struct option_row rows[] = {
    {'N', NULL, OPTION_ALONE, NULL, "stay in the foreground", pbs_comm_take_option, OPT_FOREGROUND},
    {'e', NULL, OPTION_VALUE, "mask", "events to log", pbs_comm_take_option, OPT_EVENTS},
    {'r', NULL, OPTION_VALUE, "routers", "other routers; named in the log", pbs_comm_take_option,
     OPT_ROUTERS},
    {'t', NULL, OPTION_VALUE, "threads", "kept for old scripts", pbs_comm_take_option, OPT_IGNORED},
    {0, "version", OPTION_ALONE, NULL, "print the version", pbs_comm_take_option, OPT_VERSION},
};

static const struct options options = {.program = "pbs_comm",
                                       .operands = "",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof rows[0],
                                       .order = OPTIONS_ANYWHERE};

static int print_usage(const struct err *why)
{
    struct strbuf usage;

    strbuf_init(&usage, USAGE_MAX);
    options_usage(&options, &usage);
    fprintf(stderr, "pbs_comm: %s\n%s", why->text, strbuf_str(&usage));
    strbuf_fini(&usage);
    return 1;
}

/* ---- where it lives ----------------------------------------------------------------------------------- */

static int pbs_comm_find_places(struct comm *c, struct err *e)
{
    static const struct home_dir dirs[] = {{"server_priv", 0750}, {"comm_logs", 0755}};
    const char *home;
    char host[256] = "";

    c->conf = conf_load(e);
    if (!c->conf)
        return -1;
    home = conf_text(c->conf, CONF_PBS_HOME);
    if (strlen(home) > PATH_SIZE - 32)
        return err_set(e, ENAMETOOLONG, "%s: path too long", home);
    snprintf(c->priv, sizeof c->priv, "%s/server_priv", home);
    snprintf(c->logs, sizeof c->logs, "%s/comm_logs", home);
    snprintf(c->lock, sizeof c->lock, "%s/comm.lock", c->priv);
    gethostname(host, sizeof host - 1);
    snprintf(c->name, sizeof c->name, "%s:%d",
             conf_is_set(c->conf, CONF_PBS_COMM_NAME) ? conf_text(c->conf, CONF_PBS_COMM_NAME) : host,
             COMM_PORT);
    return home_files_make(home, dirs, sizeof dirs / sizeof dirs[0], e);
}

static int pbs_comm_open_log(const struct comm *c, struct err *e)
{
    char daemon[320];
    struct log_options o = {
        .dir = c->logs,
        .daemon = daemon,
        .mask = (unsigned)(c->log_events >= 0 ? c->log_events : conf_int(c->conf, CONF_PBS_COMM_LOG_EVENTS))};

    snprintf(daemon, sizeof daemon, "Comm@%.*s", (int)strcspn(c->name, ":"), c->name);
    return conf_log_open(c->conf, &o, e);
}

/* ---- its life ----------------------------------------------------------------------------------------- */

static void pbs_comm_stop_cb(void *arg)
{
    loop_stop(((struct comm *)arg)->loop);
}

static void pbs_comm_hangup_cb(void *arg)
{
    log_reopen(NULL);
    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "Main Thread", "Processed SIGHUP");
}

static void log_ready(const struct comm *c)
{
    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "Main Thread",
              "pbs_comm ready (pid=%d), Proxy Name:%s, Threads:1", (int)getpid(), c->name);
    log_event(
        LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "Main Thread",
        "no router is needed: MOMs connect to the server and to each other; this daemon carries nothing%s%s",
        c->routers ? ", also not for " : "", c->routers ? c->routers : "");
}

static int pbs_comm_serve(struct comm *c, struct daemon *d, struct err *e)
{
    struct loop_signal *term = NULL, *intr = NULL, *hup = NULL;
    int rc = -1;

    if (pbs_comm_open_log(c, e) < 0 || daemon_set_limits(conf_core_bytes(c->conf), e) < 0 ||
        !(c->loop = loop_create(NULL, e)))
        return -1;
    term = loop_signal_create(c->loop, SIGTERM, pbs_comm_stop_cb, c, e);
    intr = term ? loop_signal_create(c->loop, SIGINT, pbs_comm_stop_cb, c, e) : NULL;
    hup = intr ? loop_signal_create(c->loop, SIGHUP, pbs_comm_hangup_cb, c, e) : NULL;
    if (hup) {
        log_ready(c);
        daemon_ready(d);
        rc = loop_run(c->loop, e);
    }
    loop_signal_destroy(hup);
    loop_signal_destroy(intr);
    loop_signal_destroy(term);
    loop_destroy(c->loop);
    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, "Main Thread", "Exiting");
    log_close();
    return rc;
}

static int pbs_comm_run(struct comm *c)
{
    struct daemon_options o = {.name = "pbs_comm", .lock_path = c->lock, .foreground = c->foreground};
    struct err e = {0};
    int code = 1;
    struct daemon *d = daemon_begin(&o, &code);

    if (!d)
        return code;
    code = pbs_comm_serve(c, d, &e) < 0 ? daemon_fail(d, &e) : 0;
    daemon_end(d);
    return code;
}

int main(int argc, char *argv[])
{
    struct comm c = {.log_events = -1};
    struct err e = {0};
    int first, code;

    if (options_parse(&options, argc, argv, &first, &c, &e) == 0 && first < argc)
        err_set(&e, EINVAL, "invalid operand: %s", argv[first]);
    if (e.code)
        return print_usage(&e);
    if (c.version)
        return conf_print_version();
    if (pbs_comm_find_places(&c, &e) < 0) {
        fprintf(stderr, "pbs_comm: %s\n", e.text);
        code = 1;
    } else {
        code = pbs_comm_run(&c);
    }
    conf_destroy(c.conf);
    return code;
}
