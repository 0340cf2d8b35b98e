#ifndef SETTLE_PARKED_H
#define SETTLE_PARKED_H
/* Listener of the job machine: answers requests that are parked on the job, and gives schedulers a reason to
 * act. */
#include "job_fsm.h"
#include "parts.h"
#include "server_events.h"

/* Listener of EVENT_RUN_NOT_SUSPENDED, NOT_RESUMED and NOT_CHECKPOINTED: answers what waits for it. */
void settle_parked_on_failed(void *parts, const struct server_event *ev);

/* job_listener_fn with the parts as argument; bound after claims are given back. */
void settle_parked_listen(void *parts, struct job *j, enum job_state from, enum job_event ev);

#endif
