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

struct in_use {
    const struct home *home;
    struct loop_timer *timer;
    in_use_fn *fn;
    void *arg;
    bool loaded, said;
    struct in_use_person person;
};

void in_use_person_look(struct in_use_person *p, double now_s, double last_s, double idle_s, double inuse_s)
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

static void look_for_person(struct in_use *u)
{
    const struct config *c = u->home->config;
    double last = (double)idledir_newest(u->home->spool);

    for (size_t i = 0; i < c->kbd.devices.n; i++) {
        double one = newest(c->kbd.devices.w[i]);

        last = one > last ? one : last;
    }
    in_use_person_look(&u->person, (double)time(NULL), last, (double)c->kbd.idle_s, (double)c->kbd.inuse_s);
}

/* ---- together */
bool in_use_is(const struct in_use *u)
{
    return u->loaded || u->person.works;
}

bool in_use_stops_jobs(const struct in_use *u)
{
    return u->person.works || (u->loaded && u->home->config->max_load_suspends);
}

static void say(struct in_use *u)
{
    if (in_use_is(u) != u->said)
        log_event(LOGC_NODE, LOGE_SYSTEM, u->home->node, "load %.2f%s: %s", hardware_load_percent() / 100.0,
                  u->person.works ? ", somebody works here" : "", in_use_is(u) ? "busy" : "no longer busy");
    u->said = in_use_is(u);
}

void in_use_look(struct in_use *u)
{
    const struct config *c = u->home->config;
    bool was = in_use_is(u), stood = in_use_stops_jobs(u);
    double load = hardware_load_percent() / 100.0;

    u->loaded = c->max_load > 0 && load >= (u->loaded ? c->ideal_load : c->max_load);
    if (c->kbd.on)
        look_for_person(u);
    else
        u->person = (struct in_use_person){0};
    say(u);
    if (was != in_use_is(u) || stood || in_use_stops_jobs(u))
        u->fn(u->arg);
}

static void set_timer(struct in_use *u)
{
    const struct config *c = u->home->config;

    if (c->kbd.on)
        loop_timer_set(u->timer, c->kbd.poll_s * MS_PER_S);
    else if (c->max_load_suspends || in_use_stops_jobs(u))
        loop_timer_set(u->timer, LOAD_POLL_S * MS_PER_S);
}

static void on_time(void *arg)
{
    struct in_use *u = arg;

    in_use_look(u);
    set_timer(u);
}

void in_use_configured(struct in_use *u)
{
    if (u->home->config->kbd.on)
        idledir_make(u->home->spool);
    loop_timer_set(u->timer, 0);
}

struct in_use *in_use_create(struct loop *l, const struct home *h, in_use_fn *fn, void *arg, struct err *e)
{
    struct in_use *u = calloc(1, sizeof *u);

    if (u)
        *u = (struct in_use){
            .home = h, .timer = loop_timer_create(l, LOOP_REAL, on_time, u), .fn = fn, .arg = arg};
    if (!u || !u->timer) {
        free(u);
        err_set(e, PBSE_SYSTEM, "no memory to see whether this host is in use");
        return NULL;
    }
    in_use_configured(u);
    return u;
}

void in_use_destroy(struct in_use *u)
{
    if (!u)
        return;
    loop_timer_destroy(u->timer);
    free(u);
}
