/* What makes this host busy, and what busy means for its jobs. The first half samples load and input and knows no job; it calls
 * back, and the second half (cycle_harvest_apply_all) suspends and resumes. server_link.c tells the server the state of the host.
 *
 * A terminal's time of last use is kept by the kernel to eight seconds only: input counts as continuous while the last one is not
 * older than that and a little more.
 *
 * The state of the host is applied to all runs after every sample: a job that was started, resumed, or recovered by a new
 * MOM in the meantime is treated like the others, and the shepherd accepts a repeated order.
 *
 * SPOOL/idledir has a file of each user whose pbs_idled watches a display; its time of access is that of the last input. Every
 * user may write there, as in the spool itself: the directory counts only if it is ours, and links in it are not followed. */
#include "cycle_harvest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "hardware.h"
#include "log.h"
#include "loop.h"
#include "mom.h"
#include "mom_config.h"
#include "mom_home.h"
#include "mom_run.h"
#include "pbs_error.h"
#include "shepherds.h"

enum {
    MS_PER_S = 1000,
    LOAD_POLL_S = 5,  /* the load is an average of a minute */
    INPUT_GAP_S = 10, /* two inputs within this time count as one activity: see above */
    IDLEDIR_MODE = 01777
};

struct cycle_harvest {
    const struct home *home;
    struct loop_timer *timer;
    cycle_harvest_fn *fn;
    void *arg;
    bool loaded, said;
    struct cycle_harvest_user person;
};

void cycle_harvest_note_input(struct cycle_harvest_user *p, double now_s, double last_s, double idle_s,
                              double inuse_s)
{
    if (now_s - last_s > INPUT_GAP_S)
        p->since_s = 0;
    else if (p->since_s == 0)
        p->since_s = last_s;
    if ((p->since_s != 0 && now_s - p->since_s >= inuse_s) || (!p->known && now_s - last_s < idle_s))
        p->works = true;
    else if (now_s - last_s >= idle_s)
        p->works = false;
    p->known = true;
}

/* ---- idledir */
static void idledir_path(const char *spool, char out[static PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/idledir", spool);
}

/* Any user may create the directory before us: one of another user is refused. */
static int open_ours(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid())
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EPERM;
    }
    return -1;
}

static void make_idledir(const char *spool)
{
    char path[PATH_MAX];
    int fd = -1, rc = -1;

    idledir_path(spool, path);
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        fd = open_ours(path);
    if (fd >= 0)
        rc = fchmod(fd, IDLEDIR_MODE);
    if (rc < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "idledir", "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static time_t newest_in_idledir(const char *spool)
{
    char path[PATH_MAX];
    const struct dirent *e;
    time_t last = 0;
    DIR *d;
    int fd;

    idledir_path(spool, path);
    fd = open_ours(path);
    d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    while (d && (e = readdir(d))) {
        struct stat st;

        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_atim.tv_sec > last)
            last = st.st_atim.tv_sec;
    }
    if (d)
        closedir(d);
    return last;
}

/* ---- devices: seconds since 1970 */
static double newest_device(const char *pattern)
{
    glob_t found;
    double last = 0;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat st;

        if (stat(found.gl_pathv[i], &st) == 0 && (double)st.st_atim.tv_sec > last)
            last = (double)st.st_atim.tv_sec;
    }
    globfree(&found);
    return last;
}

static void look_for_person(struct cycle_harvest *u)
{
    const struct config *c = u->home->config;
    double last = (double)newest_in_idledir(u->home->spool);

    for (size_t i = 0; i < c->kbd.devices.n; i++) {
        double one = newest_device(c->kbd.devices.w[i]);

        last = one > last ? one : last;
    }
    cycle_harvest_note_input(&u->person, (double)time(NULL), last, (double)c->kbd.idle_s,
                             (double)c->kbd.inuse_s);
}

/* ---- the state of the host */
bool cycle_harvest_is_busy(const struct cycle_harvest *u)
{
    return u->loaded || u->person.works;
}

static bool cycle_harvest_stops_jobs(const struct cycle_harvest *u)
{
    return u->person.works || (u->loaded && u->home->config->max_load_suspends);
}

static void cycle_harvest_say(struct cycle_harvest *u)
{
    if (cycle_harvest_is_busy(u) != u->said)
        log_event(LOGC_NODE, LOGE_SYSTEM, u->home->node, "load %.2f%s: %s", hardware_load_percent() / 100.0,
                  u->person.works ? ", a user works here" : "",
                  cycle_harvest_is_busy(u) ? "busy" : "no longer busy");
    u->said = cycle_harvest_is_busy(u);
}

void cycle_harvest_sample(struct cycle_harvest *u)
{
    const struct config *c = u->home->config;
    bool was = cycle_harvest_is_busy(u), stopped = cycle_harvest_stops_jobs(u);
    double load = hardware_load_percent() / 100.0;

    u->loaded = c->max_load > 0 && load >= (u->loaded ? c->ideal_load : c->max_load);
    if (c->kbd.on)
        look_for_person(u);
    else
        u->person = (struct cycle_harvest_user){0};
    cycle_harvest_say(u);
    if (was != cycle_harvest_is_busy(u) || stopped || cycle_harvest_stops_jobs(u))
        u->fn(u->arg);
}

static void cycle_harvest_set_timer(struct cycle_harvest *u)
{
    const struct config *c = u->home->config;

    if (c->kbd.on)
        loop_timer_set(u->timer, c->kbd.poll_s * MS_PER_S);
    else if (c->max_load_suspends || cycle_harvest_stops_jobs(u))
        loop_timer_set(u->timer, LOAD_POLL_S * MS_PER_S);
}

static void cycle_harvest_on_timer(void *arg)
{
    struct cycle_harvest *u = arg;

    cycle_harvest_sample(u);
    cycle_harvest_set_timer(u);
}

void cycle_harvest_configured(struct cycle_harvest *u)
{
    if (u->home->config->kbd.on)
        make_idledir(u->home->spool);
    loop_timer_set(u->timer, 0);
}

struct cycle_harvest *cycle_harvest_create(struct loop *l, const struct home *h, cycle_harvest_fn *fn,
                                           void *arg, struct err *e)
{
    struct cycle_harvest *u = calloc(1, sizeof *u);

    if (u)
        *u = (struct cycle_harvest){.home = h,
                                    .timer = loop_timer_create(l, LOOP_REAL, cycle_harvest_on_timer, u),
                                    .fn = fn,
                                    .arg = arg};
    if (!u || !u->timer) {
        free(u);
        err_set(e, PBSE_SYSTEM, "no memory to see whether this host is in use");
        return NULL;
    }
    cycle_harvest_configured(u);
    return u;
}

void cycle_harvest_destroy(struct cycle_harvest *u)
{
    if (!u)
        return;
    loop_timer_destroy(u->timer);
    free(u);
}

/* ---- the jobs */
/* $action multinodebusy: a job on several hosts has waited long enough. */
static bool must_requeue(const struct mom *m, const struct run *r)
{
    const struct config *c = m->home.config;

    return c->multinode_requeue && r->start.hosts.hosts_len > 1 &&
           clock_real_mono_ms() - r->harvested_since_ms >= c->multinode_wait_s * MS_PER_S;
}

static void requeue(struct mom *m, struct run *r)
{
    r->grace_s = config_grace_s(m->home.config, r->start.kill_delay_s);
    r->stop_reason = EXEC_END_LOST;
    snprintf(r->stop_text, sizeof r->stop_text, "job requeued: its host %s is in use", m->home.node);
    log_event(LOGC_JOB, LOGE_JOB, r->id,
              "ended to be requeued: host %s has been in use for %lld s ($action multinodebusy)",
              m->home.node, (long long)m->home.config->multinode_wait_s);
    r->harvested = false;
    mom_post(m, r, RUN_EV_TERMINATE);
}

static void cycle_harvest_suspend(struct mom *m, struct run *r)
{
    if (!r->harvested) {
        r->harvested_since_ms = clock_real_mono_ms();
        log_event(LOGC_JOB, LOGE_JOB, r->id, "suspended, the host is in use");
    }
    r->harvested = true;
    if (must_requeue(m, r))
        requeue(m, r);
    else
        shepherds_suspend(r, NULL, NULL);
}

static void cycle_harvest_resume(struct run *r)
{
    log_event(LOGC_JOB, LOGE_JOB, r->id, "resumed, the host is not in use any more");
    r->harvested = false;
    shepherds_resume(r, NULL, NULL);
}

static void cycle_harvest_apply(void *arg, struct run *r)
{
    struct mom *m = arg;

    /* The run stays RUN_RUNNING while it is harvested: only the shepherd knows of this suspension, not the machine. */
    if (r->slot.state != RUN_RUNNING)
        r->harvested = false; /* the server suspended it, or it is ending */
    else if (cycle_harvest_stops_jobs(m->cycle_harvest) &&
             r->stop_reason == EXEC_END_ITSELF) /* no end was ordered */
        cycle_harvest_suspend(m, r);
    else if (r->harvested)
        cycle_harvest_resume(r);
}

void cycle_harvest_apply_all(struct mom *m)
{
    runs_each(m->runs, cycle_harvest_apply, m);
}
