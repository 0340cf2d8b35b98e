#ifndef CYCLE_HARVEST_H
#define CYCLE_HARVEST_H
/* Is this host wanted by somebody else? Either its load is too high ($max_load, until it is below $ideal_load), or a person works at
 * it ($kbd_idle): a host like that gets no jobs, and where the site says so those that are here stand still meanwhile. */
#include <stdbool.h>

#include "err.h"

struct home;
struct in_use;
struct loop;

/* ^ after each look that has found something new, and while jobs are to stand still */
typedef void in_use_fn(void *arg);
struct in_use *in_use_create(struct loop *l, const struct home *h, in_use_fn *fn, void *arg, struct err *e);
void in_use_destroy(struct in_use *u);
void in_use_configured(struct in_use *u); /* the configuration is another one */

void in_use_look(struct in_use *u); /* now; fn may be called */
bool in_use_is(const struct in_use *u);
bool in_use_stops_jobs(const struct in_use *u);

/* The rules of $kbd_idle, pure. Seconds of one clock. */
struct in_use_person {
    bool
        known; /* has been looked for before; the first time somebody works here unless nothing has happened for idle_s */
    bool works;
    double since_s; /* 0, or when the activity began that goes on */
};
/* last_s: when a device was touched last. works becomes true when that has gone on for inuse_s, false after idle_s without. */
void in_use_person_look(struct in_use_person *p, double now_s, double last_s, double idle_s, double inuse_s);

#endif
