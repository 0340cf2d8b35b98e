#ifndef PARKED_H
#define PARKED_H
/* Requests that wait for something to happen to a job: a run to start, a suspension, a requeue.
 *
 * A parked request sits on its job. Whoever makes the thing happen says parked_settle(); whatever ends the
 * job settles everything that is left. A client that goes away takes its parked requests with it. Loop
 * thread only. */
#include "job.h"
#include "request.h"

struct loop;

enum parked_for { PARKED_RUN, PARKED_SUSPEND, PARKED_RESUME, PARKED_REQUEUE, PARKED_HOLD, PARKED_COUNT };

/* Park `r` on `j`, for as long as its kind may take (a table in parked.c): then it fails with PBSE_INTERNAL, a text that names the
 * limit, and what it waits for goes on. -1: no memory (PBSE_SYSTEM), nothing parked. */
int parked_add(struct job *j, struct request *r, enum parked_for what, struct loop *l, struct err *e);
/* The same, for `most_s` seconds at most; then it is answered with `late`. */
int parked_add_for(struct job *j, struct request *r, enum parked_for what, struct loop *l, int64_t most_s,
                   const struct err *late, struct err *e);
/* Answer all that wait for `what` on this job: well when why is NULL, else with that error. */
void parked_settle(struct job *j, enum parked_for what, const struct err *why);
void parked_settle_all(struct job *j, const struct err *why);

#endif
