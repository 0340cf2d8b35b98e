#ifndef CYCLE_PREEMPT_H
#define CYCLE_PREEMPT_H
/* The room of running jobs: for a job that finds none free, by turns of time slices or by preemption; and
 * the explanation of it.
 *
 * Within cycle_run, after backfill_find_room has failed. What is decided is in `c->d` and in the cluster at
 * once. Between cycles only cycle_preempt_explain, which changes nothing. */
#include "cycle.h"
#include "pick.h"

struct class;
struct explanation;
struct reason;

/* The asking job as pick.h and candidates.h want it: this job of the class `k`, at the cycle's time.
 * Borrows both. */
struct preemptor cycle_preemptor(struct cycle *c, const struct class *k, const struct job *j);
/* The first job of this class finds no room that is free. true: others are to make room, by turns or by
 * preemption; it is decided. `why` is the obstacle on entry, and what is said of the job on return. For an
 * array it is its next subjob, which is made, and unmade again where this is false. */
bool cycle_preempt_for_class(struct cycle *c, struct class *k, struct reason *why);

/* The same for this job, before others are considered; it is in a class. Tries free room first, and is
 * false where there is some, with "": then it is the reservation's to use. Else `text`, of so many bytes, says
 * why no job gives way. For ASAP reservations (cycle_resv.c). */
bool cycle_preempt_for(struct cycle *c, struct job *j, char *text, size_t size);
/* Why no job would give way to this one, between cycles; "": others would, or do, or there is room. */
void cycle_preempt_why_not(struct cycle *c, const struct job *j, int64_t now_s, char *text, size_t size);

/* Run jobs that await room where other room has come free meanwhile, if their level is at least `highest`,
 * that of the first waiting job (0: none waits). O(jobs that await room). */
void cycle_preempt_elsewhere(struct cycle *c, int highest);

/* The parts that a cycle picks with. */
struct picker cycle_preempt_picker(const struct cycle *c);

/* Explain a job with a queue (explain.h), between cycles, as the next cycle would decide about it. *out is the caller's,
 * until explain_fini(). */
void cycle_preempt_explain(struct cycle *c, const struct job *j, int64_t now_s, struct explanation *out);

#endif
