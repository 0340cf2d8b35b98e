#ifndef CYCLE_DECIDE_H
#define CYCLE_DECIDE_H
/* What is decided about one job. The other files of the cycle call this one; it calls none of them. */
#include "cycle.h"

struct allocation;
struct class;

/* Run it, or let it go on: the decision, and the order that takes the room. An array runs by its next subjob. */
void cycle_decide_run(struct cycle *c, struct job *j, const struct allocation *where);

/* Add to the decision `x` about a job the walltime that it will be given, where that differs from the one it has. */
void cycle_decide_length(struct cycle *c, struct decision *x, const struct job *j);

/* A job that a request asks for cannot run: the request is refused, and the job waits like others again. */
void cycle_decide_refuse(struct cycle *c, struct job *j, const char *text);

/* Do not try this class again before something changes. NULL is ignored. */
void cycle_decide_failed(const struct cycle *c, struct class *k);

/* A request asks that this job be run at once, before all others, stopping what it must. Return false if there is no such job, or
 * it cannot be run. The next cycle_run decides: RUN, PREEMPT or REFUSE. */
bool cycle_decide_urge(struct cycle *c, const char *job);

/* No request asks for this job any more. */
void cycle_decide_withdraw(struct cycle *c, struct job *j);

bool cycle_decide_may_run(const struct job *j); /* it waits, or is suspended by a scheduler */

#endif
