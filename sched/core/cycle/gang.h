#ifndef GANG_H
#define GANG_H
/* Time slices: jobs of queues with gang take turns on the same vnodes by suspension.
 *
 * A waiting job of such a queue that finds no room looks at running ones of such queues: those of queues of
 * lower Priority are in its shadow and give way at once, those of equal Priority when their turn is over
 * (gang_timeslice of their queue, else of the scheduler). They are suspended, keep their memory, and wait
 * for their next turn; so of k jobs that want one cpu each gets 1/k of it. The job that has waited longest
 * is next (job_order.c). Jobs of other queues are neither stopped nor started by this, and a turn is not a
 * preemption: it costs no job a protection, a method or a count.
 *
 * Where a job has to wait until several turns are over, it is promised those: they run on until the last is
 * over and are given to no other job, and what else it needs is kept from other jobs of gang queues. So
 * large jobs come to their turn beside small ones.
 *
 * In a cycle: gang_review first; then, for each job that is looked at, gang_keep_promises around the search
 * for free room, and gang_take_turn if that fails; gang_begin_turn when a job is ordered to run or resume.
 *
 * The core's rules: no I/O, no clock. One struct gang belongs to a cycle and keeps nothing from one to the
 * next but the jobs' own fields turn_s and since_s; a scheduler that is started again takes all turns as
 * begun now. */
#include "pick.h"

struct gang;

struct gang *gang_create(struct cluster *cl);
void gang_destroy(struct gang *g);

/* A cycle begins: notes which turns have begun, and which jobs were suspended, since the last one. Promises are made again.
 * O(running jobs), where any queue has gang; else O(queues). */
void gang_review(struct gang *g, int64_t now_s);

/* The job is about to run or go on: its turn begins. */
void gang_begin_turn(struct job *j, int64_t now_s);

/* A job has been seen to be suspended: if it is the first time, it waits since now. */
void gang_note_wait(struct job *j, int64_t now_s);

/* Take out of the trial what is promised to jobs that come before those of this queue. The caller undoes it. */
void gang_keep_promises(struct gang *g, struct trial *t, const struct queue *q);

/* The job p->job finds no room. true: it is its turn as soon as `victims` (empty before) are suspended, and `where` is
 * its place. false: it cannot be helped by turns now; `why` is another reason where it only has to wait for its turn, or
 * is in a shadow, and p->later is told when to ask again. The trial is as before. */
bool gang_take_turn(struct gang *g, const struct picker *k, const struct preemptor *p,
                    struct candidates *victims, struct allocation *where, struct reason *why);

#endif
