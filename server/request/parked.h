#ifndef PARKED_H
#define PARKED_H
/* Requests that wait for an event of a job: a run to start, a suspension, a requeue.
 *
 * PARKED_START is different: the request waits for the job's first process and is handled then, as if it had come at that time.
 *
 * A parked request is in a list of its job. The code that performs the event calls parked_settle(); the end of
 * the job settles all that are left. When a client disconnects, its parked requests are dropped. Loop thread
 * only. */
#include "job.h"
#include "request.h"

struct loop;

enum parked_for {
    PARKED_START,
    PARKED_RUN,
    PARKED_SUSPEND,
    PARKED_RESUME,
    PARKED_REQUEUE,
    PARKED_HOLD,
    PARKED_COUNT
};

/* Park `r` on `j`, for as long as its kind may take (a table in parked.c): then it fails with PBSE_INTERNAL and
 * a text that names the limit, and the operation continues. -1: no memory (PBSE_SYSTEM), nothing parked. */
int parked_add(struct job *j, struct request *r, enum parked_for what, struct loop *l, struct err *e);
/* The same, for `most_s` seconds at most; then it is answered with `late`. */
int parked_add_for(struct job *j, struct request *r, enum parked_for what, struct loop *l, int64_t most_s,
                   const struct err *late, struct err *e);
/* Wait for the start, for two minutes at most (then PBSE_BADSTATE); `again` is called when the job has started. */
typedef void parked_again_fn(void *arg, struct request *r);
int parked_add_start(struct job *j, struct request *r, struct loop *l, parked_again_fn *again, void *arg,
                     struct err *e);
/* Answer all that wait for `what` on this job: with success if why is NULL, else with that error. */
void parked_settle(struct job *j, enum parked_for what, const struct err *why);
void parked_settle_all(struct job *j, const struct err *why);

#endif
