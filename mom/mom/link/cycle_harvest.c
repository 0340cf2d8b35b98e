/* A terminal's time of last use is kept by the kernel to eight seconds only: activity goes on as long as the last one is not
 * older than that and a little more. */
#include "cycle_harvest.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "mom_config.h"
#include "hardware.h"
#include "mom_home.h"
#include "idledir.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"

enum { MS_PER_S = 1000, LOAD_POLL_S = 5, GOES_ON_S = 10 };

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
    if (now_s - last_s > GOES_ON_S)
        p->since_s = 0;
    else if (p->since_s == 0)
        p->since_s = last_s;
    if ((p->since_s != 0 && now_s - p->since_s >= inuse_s) || (!p->known && now_s - last_s < idle_s))
        p->works = true;
    else if (now_s - last_s >= idle_s)
        p->works = false;
    p->known = true;
}

/* ---- devices: seconds since 1970 */
static double newest(const char *pattern)
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
    double last = (double)idledir_newest(u->home->spool);

    for (size_t i = 0; i < c->kbd.devices.n; i++) {
        double one = newest(c->kbd.devices.w[i]);

        last = one > last ? one : last;
    }
    cycle_harvest_note_input(&u->person, (double)time(NULL), last, (double)c->kbd.idle_s,
                             (double)c->kbd.inuse_s);
}

/* ---- together */
bool cycle_harvest_is_busy(const struct cycle_harvest *u)
{
    return u->loaded || u->person.works;
}

bool cycle_harvest_stops_jobs(const struct cycle_harvest *u)
{
    return u->person.works || (u->loaded && u->home->config->max_load_suspends);
}

static void say(struct cycle_harvest *u)
{
    if (cycle_harvest_is_busy(u) != u->said)
        log_event(LOGC_NODE, LOGE_SYSTEM, u->home->node, "load %.2f%s: %s", hardware_load_percent() / 100.0,
                  u->person.works ? ", somebody works here" : "",
                  cycle_harvest_is_busy(u) ? "busy" : "no longer busy");
    u->said = cycle_harvest_is_busy(u);
}

void cycle_harvest_sample(struct cycle_harvest *u)
{
    const struct config *c = u->home->config;
    bool was = cycle_harvest_is_busy(u), stood = cycle_harvest_stops_jobs(u);
    double load = hardware_load_percent() / 100.0;

    u->loaded = c->max_load > 0 && load >= (u->loaded ? c->ideal_load : c->max_load);
    if (c->kbd.on)
        look_for_person(u);
    else
        u->person = (struct cycle_harvest_user){0};
    say(u);
    if (was != cycle_harvest_is_busy(u) || stood || cycle_harvest_stops_jobs(u))
        u->fn(u->arg);
}

static void set_timer(struct cycle_harvest *u)
{
    const struct config *c = u->home->config;

    if (c->kbd.on)
        loop_timer_set(u->timer, c->kbd.poll_s * MS_PER_S);
    else if (c->max_load_suspends || cycle_harvest_stops_jobs(u))
        loop_timer_set(u->timer, LOAD_POLL_S * MS_PER_S);
}

static void on_time(void *arg)
{
    struct cycle_harvest *u = arg;

    cycle_harvest_sample(u);
    set_timer(u);
}

void cycle_harvest_configured(struct cycle_harvest *u)
{
    if (u->home->config->kbd.on)
        idledir_make(u->home->spool);
    loop_timer_set(u->timer, 0);
}

struct cycle_harvest *cycle_harvest_create(struct loop *l, const struct home *h, cycle_harvest_fn *fn,
                                           void *arg, struct err *e)
{
    struct cycle_harvest *u = calloc(1, sizeof *u);

    if (u)
        *u = (struct cycle_harvest){
            .home = h, .timer = loop_timer_create(l, LOOP_REAL, on_time, u), .fn = fn, .arg = arg};
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
