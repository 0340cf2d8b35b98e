#ifndef HOOK_PLAN_H
#define HOOK_PLAN_H
/* The event preempt: hooks that look at a plan (PreemptRun) before the server examines it.
 *
 * They may refuse it, leave victims out, put them in another order, and say by which methods each gives way. What they make of it is
 * examined like any plan. A hook that fails, or names a job that is not a victim, has no say; and the plan waits for all of them at most
 * for the longest of their alarms and LATE_MS, then it continues without them. Loop thread only. */
#include <stdbool.h>

#include "hook_server.h"

struct request;

/* The gate of all requests, for dispatch_options: the event preempt, then the event of the request itself (hook_gate). True: it is
 * parked, and `pass` is called or it is answered. arg is the struct hook_server. */
bool hook_plan_gate(void *arg, struct request *r, void (*pass)(void *arg, struct request *r), void *pass_arg);

#endif
