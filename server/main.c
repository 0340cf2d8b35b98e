/* pbs_server: from the command line to the end of the loop, active or standing by.
 *
 *   main                   settings, PBS_HOME
 *   server_main_serve      the lock, the log; from here on errors are logged, and told to the process that was started
 *   server_main_live       of a pair: wait as the standby, be active, and again; alone: be active once
 *   server_main_be_active  server_main_start creates, recovers and listens; then the loop, and the end
 *
 * assembly.c creates and binds the parts; server.c has what comes between creation and loop, and the end. An activation
 * leaves nothing behind but settings, lock and failover policy (forget_activation). */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "assembly.h"
#include "clock.h"
#include "conf_log.h"
#include "daemon.h"
#include "server.h"
#include "log.h"
#include "loop.h"
#include "server_home.h"
#include "standby.h"
#include "lease_monitor.h"

static void server_main_on_wanted(void *arg)
{
    struct server *s = arg;

    log_event(LOGC_SVR, LOGE_ADMIN, s->ctx.name, "the primary is back: this server is the standby again");
    s->yields = s->ctx.epoch;
    loop_stop(s->loop);
}

static int server_main_open_log(struct server *s, struct err *e)
{
    char daemon[300];
    struct log_options o = {.dir = s->set.logs,
                            .path = s->set.log_file,
                            .daemon = daemon,
                            .mask = s->set.log_events >= 0 ? (unsigned)s->set.log_events : LOG_MASK_SERVER};

    snprintf(daemon, sizeof daemon, "Server@%s", s->set.name);
    return conf_log_open(s->set.conf, &o, e);
}

static int create_tenure(struct server *s, struct err *e)
{
    struct lease_monitor_hooks hooks = {s, server_store_lost,
                                        s->set.role == SERVER_SECONDARY ? server_main_on_wanted : NULL};

    s->lease_monitor =
        lease_monitor_create(s->loop, s->parts.commit, s->parts.store_reader, s->ctx.epoch, &hooks);
    return s->lease_monitor ? 0 : err_no_memory(e);
}

/* With which simulated time begins: what is written in seconds is then the same in every run. */
static int64_t whole_second_ns(const struct server_settings *set)
{
    return (set->begin_s ? set->begin_s : clock_wall_s(clock_real())) * 1000000000;
}

static int server_main_start(struct server *s, struct err *e)
{
    struct restore_counts counts = {0};
    bool is_new = false;

    log_event(LOGC_SVR, LOGE_FORCE | LOGE_SYSTEM, s->set.name,
              "Version %s, started, initialization type = %d", CEDE_VERSION, (int)s->set.start);
    s->clock = s->set.is_virtual ? clock_create_driven(whole_second_ns(&s->set)) : clock_create_steady();
    s->loop = loop_create(s->clock, e);
    if (!s->loop || daemon_set_limits(conf_core_bytes(s->set.conf), e) < 0 ||
        assembly_create(s, &is_new, &counts, e) < 0)
        return -1;
    if (server_recover(s, is_new, &counts, e) < 0 || server_take_signals(s, e) < 0 || server_listen(s, e) < 0)
        return -1;
    server_announce(s);
    if (s->set.role != SERVER_ALONE && create_tenure(s, e) < 0)
        return -1;
    log_event(LOGC_SVR, LOGE_SYSTEM, s->ctx.name,
              "Server pid = %d ready;  using ports Server:%u MOM:%u RM:%u", getpid(), s->set.port,
              (unsigned)conf_int(s->set.conf, CONF_PBS_MOM_SERVICE_PORT),
              (unsigned)conf_int(s->set.conf, CONF_PBS_MANAGER_SERVICE_PORT));
    return 0;
}

/* As root, for the service user too: what is allocated later counts against that user's limit. */
static int lock_memory(const struct server *s, struct err *e)
{
    const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};

    if (!s->set.lock_memory)
        return 0;
    if (s->set.serves_all)
        setrlimit(RLIMIT_MEMLOCK, &any);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
        return err_errno(e, errno, "the server's memory cannot be locked (-l)");
    return 0;
}

static void server_main_on_ready_to_wait(void *arg)
{
    struct server *s = arg;

    s->was_ready = true;
    daemon_ready(s->daemon);
}

/* One of two servers waits here until it is to become active. */
static enum standby_end stand_by(struct server *s, struct err *e)
{
    const struct conf_host *pair = conf_pair(s->set.conf);

    if (s->set.role == SERVER_ALONE)
        return STANDBY_TAKE;
    if (s->set.role == SERVER_SECONDARY)
        log_event(LOGC_SVR, LOGE_SYSTEM, s->set.name, "pbs_server: coming up as Secondary, Primary is %s",
                  pair[0].host);
    return standby_wait(&s->set, &s->failover_policy, server_main_on_ready_to_wait, s, e);
}

/* All that an activation has made is gone: the next one begins with what was said at the start. */
static void forget_activation(struct server *s)
{
    struct server fresh = {
        .set = s->set, .daemon = s->daemon, .failover_policy = s->failover_policy, .was_ready = s->was_ready};

    failover_policy_again(&fresh.failover_policy, s->yields);
    fresh.set.start = SERVER_START_WARM;
    fresh.set.scheduling = -1;
    *s = fresh;
}

/* Be active, once. 0 ended, 1 wait as standby again, -1 cannot start. */
static int server_main_be_active(struct server *s, struct err *e)
{
    bool of_pair = s->set.role != SERVER_ALONE;
    int rc = server_main_start(s, e);

    if (rc < 0)
        log_err(LOGC_SVR, s->set.name, e, "cannot start");
    if (rc < 0 && !(of_pair && s->was_ready))
        return -1;
    server_main_on_ready_to_wait(s);
    if (rc == 0 && loop_run(s->loop, e) < 0)
        log_err(LOGC_SVR, s->set.name, e, "the loop has ended");
    server_stop(s);
    return of_pair && (rc < 0 || s->lost || s->yields);
}

static int server_main_live(struct server *s, struct err *e)
{
    int rc = 1;

    failover_policy_begin(&s->failover_policy, s->set.role == SERVER_PRIMARY, s->set.takeover_ms);
    while (rc == 1) {
        enum standby_end end = stand_by(s, e);

        if (end != STANDBY_TAKE)
            return end == STANDBY_END ? 0 : -1;
        rc = server_main_be_active(s, e);
        if (rc == 1)
            forget_activation(s);
    }
    return rc;
}

/* From the fork to the end of the loop; the exit code. */
static int server_main_serve(struct server *s)
{
    struct err e;
    int code = 0;

    s->daemon = daemon_begin(&(struct daemon_options){.name = "pbs_server",
                                                      .lock_path = s->set.lock,
                                                      .foreground = s->set.foreground},
                             &code);
    if (!s->daemon)
        return code;
    if (lock_memory(s, &e) < 0 || server_home_settle(&s->set, &e) < 0 || server_main_open_log(s, &e) < 0) {
        log_err(LOGC_SVR, s->set.name, &e, "cannot start");
        return daemon_fail(s->daemon, &e);
    }
    if (server_main_live(s, &e) < 0)
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
        (!s.set.show_version && server_home_make(&s.set, &e) < 0)) {
        fprintf(stderr, "pbs_server: %s\n", e.text);
        code = 1;
    } else if (s.set.show_version) {
        code = conf_print_version();
    } else if (!server_settings_confirm(&s.set)) {
        code = 1;
    } else {
        code = server_main_serve(&s);
    }
    server_settings_free(&s.set);
    return code;
}
