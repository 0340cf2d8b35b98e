#ifndef SIM_ADVANCE_H
#define SIM_ADVANCE_H
/* Drives the time of a site (pbs_server --virtual): from event to event, as fast as server and scheduler work.
 *
 * The clocks of simulator and server always agree. A step leads to what comes first: an event here, or a timer of the
 * server; no step is made while an event is not acknowledged. Without jobs, here or to come, time does not advance. */
#include "err.h"

struct clock;
struct execsim;
struct loop;
struct sim_advance;
struct sim_feed;

/* `clock` is that of the loop, driven; `feed` (borrowed) submits jobs, or NULL. When the workload is over the loop is
 * stopped. NULL: no memory. */
struct sim_advance *sim_advance_create(struct loop *l, struct clock *c, struct execsim *s, struct sim_feed *f,
                                       struct err *e);
void sim_advance_destroy(struct sim_advance *p);

#endif
