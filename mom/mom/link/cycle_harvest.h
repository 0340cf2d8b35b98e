#ifndef CYCLE_HARVEST_H
#define CYCLE_HARVEST_H
/* Is this host wanted by somebody else? Either its load is too high ($max_load, until it is below $ideal_load), or a person works at
 * it ($kbd_idle): a host like that gets no jobs, and where the site says so those that are here stand still meanwhile. */
#include <stdbool.h>

#include "err.h"

struct home;
struct cycle_harvest;
struct loop;

/* ^ after each look that has found something new, and while jobs are to stand still */
typedef void cycle_harvest_fn(void *arg);
struct cycle_harvest *cycle_harvest_create(struct loop *l, const struct home *h, cycle_harvest_fn *fn,
                                           void *arg, struct err *e);
void cycle_harvest_destroy(struct cycle_harvest *u);
void cycle_harvest_configured(struct cycle_harvest *u); /* the configuration is another one */

void cycle_harvest_sample(struct cycle_harvest *u); /* now; fn may be called */
bool cycle_harvest_is_busy(const struct cycle_harvest *u);
bool cycle_harvest_stops_jobs(const struct cycle_harvest *u);

/* The rules of $kbd_idle, pure. Seconds of one clock. */
struct cycle_harvest_user {
    bool
        known; /* has been looked for before; the first time somebody works here unless nothing has happened for idle_s */
    bool works;
    double since_s; /* 0, or when the activity began that goes on */
};
/* last_s: when a device was touched last. works becomes true when that has gone on for inuse_s, false after idle_s without. */
void cycle_harvest_note_input(struct cycle_harvest_user *p, double now_s, double last_s, double idle_s,
                              double inuse_s);

#endif
