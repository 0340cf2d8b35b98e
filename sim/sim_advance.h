#ifndef SIM_ADVANCE_H
#define SIM_ADVANCE_H
/* Drives the time of a site (pbs_server --virtual): from event to event, as fast as server and scheduler work.
 *
 * The clocks of simulator and server always agree. A step leads to what comes first: an event here, or a timer of the
 * server; no step is made while an event is not acknowledged. Without jobs time does not advance. */
#include "err.h"

struct clock;
struct execsim;
struct loop;
struct sim_advance;

/* `clock` is that of the loop, driven. NULL: no memory. */
struct sim_advance *sim_advance_create(struct loop *l, struct clock *c, struct execsim *s, struct err *e);
void sim_advance_destroy(struct sim_advance *p);

#endif
