#ifndef HOOK_GATE_H
#define HOOK_GATE_H
/* Hooks before a request is served: queuejob, modifyjob, movejob, runjob, resvsub, modifyresv.
 *
 * A request for which hooks run is parked; then its arguments are changed as they said and `pass` is called, which looks everything up
 * and checks it again, or it is refused with their words. Loop thread only. */
#include <stdbool.h>

#include "hook_server.h"

struct request;

/* Run the hooks of the request's own event; those of the event preempt come before them (hook_plan_gate). True: it is parked, and `pass`
 * is called or it is answered. False: no hook runs, and nothing was done. */
bool hook_gate(struct hook_server *s, struct request *r, void (*pass)(void *arg, struct request *r),
               void *pass_arg);

#endif
