#ifndef RESV_DRAIN_H
#define RESV_DRAIN_H
/* Maintenance reservations drain their hosts before they begin: jobs that would still be there are given notice and leave by the letters
 * of `drain`. What is done to them is in preempt/drain.h; here is when. */
#include "reservations.h"

/* Complete what was submitted: drain and drain_time, of the server where nothing was said. -1: PBSE_BADATVAL it is not a maintenance reservation. */
int resv_drain_take(const struct reservations *all, struct attr_list *l, bool maintenance, struct err *e);
/* Begin when it is time, or take it back where the start was put off; `next`: no later than when it is to be looked at again. */
void resv_drain_look(struct reservations *all, struct resv *r, int64_t now, int64_t *next);
/* A job has been started on its vnodes, by a scheduler that had not seen the reservation yet or by hand; or one that stayed there can be
 * saved now. It leaves as the others do. */
void resv_drain_job(struct reservations *all, struct job *j);
/* It is over, or not wanted: jobs that have only had their notice run on. */
void resv_drain_stop(struct reservations *all, struct resv *r);

#endif
