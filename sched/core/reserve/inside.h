#ifndef INSIDE_H
#define INSIDE_H
/* The room of a reservation that runs, for the jobs in its queue: nothing else is free to them.
 *
 *   mark = trial_mark(t); inside_enter(x, t, r); ... match with asker.within = r ...; inside_leave(x); trial_undo(t, mark)
 *
 * In between its vnodes have free what its jobs have left of it. No I/O, no clock.
 */
#include "trial.h"

struct inside;

struct inside *inside_create(struct cluster *cl);
void inside_destroy(struct inside *x);

/* O(vnodes of the reservation and jobs on them, jobs that have been ordered). No other reservation is entered. */
void inside_enter(struct inside *x, struct trial *t, struct resv *r);
/* The trial is undone by the caller, after this. */
void inside_leave(struct inside *x);

/* A job with min_walltime ends with its reservation: how long it may run from now; 0: that does not shorten it. */
int64_t inside_left_s(const struct job *j, int64_t now_s);

#endif
