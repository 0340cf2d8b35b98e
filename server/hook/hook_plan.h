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

/* True: the request waits; then it passes to the hooks of its own event (hook_gate_serve) and to `pass`, or it is refused. */
bool hook_plan_gate(struct hook_server *s, struct request *r, void (*pass)(void *arg, struct request *r),
                    void *pass_arg);

#endif
