#ifndef VIRTUAL_TIME_H
#define VIRTUAL_TIME_H
/* Stepped time: a server whose clock is driven (pbs_server --virtual) and the simulator that drives it.
 *
 * The simulator calls ADVANCE(to): the clock is set, timers that are due run, and the answer waits until the server is
 * quiet: every batch durable, no order to a service unanswered, no timer due, nothing left for the loop, and each
 * scheduler, of which there must be one, waits in NEXT with everything seen. The answer says what the time is and when
 * the server's next timer is due; so
 * the simulator knows how far it may go. Between two steps nothing moves, however long a scheduler thinks. */
#include <stdbool.h>

#include "err.h"

struct commit;
struct exec_send;
struct loop;
struct rpc_request;
struct server_ctx;
struct virtual_time;

/* Does every scheduler wait, and is there one? The parts that know are above. */
typedef bool virtual_time_quiet_fn(const void *arg);

/* Tells EVENT_SCHED_TIME. */
struct virtual_time *virtual_time_create(struct loop *l, struct server_ctx *s, struct commit *c,
                                         struct exec_send *x, virtual_time_quiet_fn *schedulers_wait,
                                         const void *arg);
void virtual_time_destroy(struct virtual_time *v); /* an answer that is owed is not given */

/* ADVANCE of a service that may (EXEC_CAN_VIRTUAL): answered later. One at a time; a second one is refused. */
void virtual_time_advance(struct virtual_time *v, struct rpc_request *r);

#endif
