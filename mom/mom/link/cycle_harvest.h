#ifndef CYCLE_HARVEST_H
#define CYCLE_HARVEST_H
/* Cycle harvesting: a host that is used by others gets no jobs. It is busy while its load is too high ($max_load, until it is
 * below $ideal_load), or while a user works at it ($kbd_idle). Where the site says so its jobs are suspended meanwhile: the
 * server still sees them running; its orders are obeyed, and a job that it has suspended stays suspended. A job on several
 * hosts is ended instead and so returns to its queue, where the site says so ($action multinodebusy SECONDS requeue). */
#include <stdbool.h>

#include "err.h"

struct home;
struct cycle_harvest;
struct loop;
struct mom;

/* ^ Called after each sample that has found a change, and while jobs must be suspended. */
typedef void cycle_harvest_fn(void *arg);
struct cycle_harvest *cycle_harvest_create(struct loop *l, const struct home *h, cycle_harvest_fn *fn,
                                           void *arg, struct err *e);
void cycle_harvest_destroy(struct cycle_harvest *u);
void cycle_harvest_configured(struct cycle_harvest *u); /* the configuration has changed */

void cycle_harvest_sample(struct cycle_harvest *u); /* now; fn may be called */
bool cycle_harvest_is_busy(const struct cycle_harvest *u);

/* The rules of $kbd_idle, pure. Seconds of one clock. */
struct cycle_harvest_user {
    bool
        known; /* sampled before; at the first sample a user works here unless there was no input for idle_s */
    bool works;
    double since_s; /* 0, or when the present activity began */
};
/* last_s: the time of the last input. works becomes true after inuse_s of activity, false after idle_s without input. */
void cycle_harvest_note_input(struct cycle_harvest_user *p, double now_s, double last_s, double idle_s,
                              double inuse_s);

/* Suspend, resume or requeue the jobs of this host by its present state. */
void cycle_harvest_apply_all(struct mom *m);

#endif
