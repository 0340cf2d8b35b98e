/* A probe: the shepherd's program, asked for its version. See fitness.h.
 *
 *   fitness_look           starts a probe; a run that could not begin asks for it, and afterwards the timer
 *   fitness_probe_end_cb   the probe has ended: with status 0 within its time the host is fit
 *   fitness_again_cb       the probe takes too long: the host is unfit at once, before the probe has ended
 *
 * At most one probe exists. While the host is unfit the timer asks again; a fit host is not probed. The listener hears of changes
 * only. Nothing is remembered over a restart: a MOM begins as fit, and the first run that cannot begin asks. */
#include "fitness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "mom_home.h"
#include "log.h"
#include "loop.h"
#include "spawn.h"

/* A process every few seconds costs nothing, and a host is back soon after its fault is mended. A program that says its version takes
 * milliseconds: one that takes longer than PROBE_MS waits for something that jobs would wait for too (a disk or file server that
 * hangs). */
enum { AGAIN_MS = 5000, PROBE_MS = 20000, MS_PER_S = 1000 };

struct fitness {
    struct loop *loop;
    const struct home *home;
    struct spawn *probe;
    struct loop_timer *again; /* without a probe: when the next one starts; with one: its time limit */
    fitness_fn *fn;
    void *arg;
    bool bad, late; /* late: the probe has passed its limit */
    char why[ERR_TEXT_MAX];
};

static void become(struct fitness *f, bool bad)
{
    bool changed = bad != f->bad;

    f->bad = bad;
    if (bad)
        loop_timer_set(f->again, AGAIN_MS);
    if (!changed)
        return;
    if (bad)
        log_event(LOGC_NODE, LOGE_ERROR, f->home->node, "%s; it takes no jobs until it can", f->why);
    else
        log_event(LOGC_NODE, LOGE_SYSTEM, f->home->node, "this host can start processes again");
    f->fn(f->arg);
}

/* A probe that waits for a disk may survive SIGKILL: no second probe starts before the first has ended. */
static void fitness_give_up(struct fitness *f)
{
    f->late = true;
    spawn_signal_group(f->probe, SIGKILL);
    snprintf(f->why, sizeof f->why,
             "this host cannot start processes: %s --version has not ended within %d seconds",
             f->home->shepherd, PROBE_MS / MS_PER_S);
    become(f, true);
}

static void fitness_again_cb(void *arg)
{
    struct fitness *f = arg;

    if (f->probe)
        fitness_give_up(f);
    else
        fitness_look(f);
}

static void fitness_probe_end_cb(void *arg, int status)
{
    struct fitness *f = arg;

    loop_timer_cancel(f->again);
    spawn_destroy(f->probe);
    f->probe = NULL;
    if (status && !f->late)
        snprintf(f->why, sizeof f->why, "this host cannot start processes: %s ends with wait status %d",
                 f->home->shepherd, status);
    become(f, status != 0 || f->late);
}

void fitness_look(struct fitness *f)
{
    char version[] = "--version";
    char *argv[] = {(char *)(uintptr_t)f->home->shepherd, version, NULL};
    const struct spawn_options o = spawn_own(argv, NULL, 0);
    struct err e;

    if (f->probe)
        return;
    f->probe = spawn_start(f->loop, &o, fitness_probe_end_cb, f, &e);
    if (f->probe) {
        f->late = false;
        loop_timer_set(f->again, PROBE_MS);
        return;
    }
    snprintf(f->why, sizeof f->why, "this host cannot start processes: %.400s", e.text);
    become(f, true);
}

bool fitness_is_bad(const struct fitness *f)
{
    return f->bad;
}

const char *fitness_why(const struct fitness *f)
{
    return f->why;
}

struct fitness *fitness_create(struct loop *l, const struct home *h, fitness_fn *fn, void *arg)
{
    struct fitness *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    *f = (struct fitness){.loop = l, .home = h, .fn = fn, .arg = arg};
    f->again = loop_timer_create(l, LOOP_REAL, fitness_again_cb, f);
    if (f->again)
        return f;
    free(f);
    return NULL;
}

void fitness_destroy(struct fitness *f)
{
    if (!f)
        return;
    spawn_destroy(f->probe);
    loop_timer_destroy(f->again);
    free(f);
}
