#ifndef BACKFILL_H
#define BACKFILL_H
/* Jobs that could not run, and what is kept for them: a job of lower order may use what the calendar leaves. The calendar is empty
 * when a cycle begins. */
#include "cycle.h"
#include "pick.h"

struct allocation;
struct calendar;
struct class;
struct reason;

struct backfill *backfill_create(struct cluster *cl);
void backfill_destroy(struct backfill *a);
void backfill_begin(struct backfill *a,
                    int64_t now_s);        /* a cycle begins: nothing is booked, no job is stopped */
void backfill_end(struct cycle *c);        /* its last job was looked at */
void backfill_started(struct backfill *a); /* a job was told to run */
/* Return true if a job that others had to wait for has gone or changed: then they may run. */
bool backfill_has_changed(const struct backfill *a);
/* sched_preempt_enforce_resumption: return true if later jobs must not keep this one waiting. */
bool backfill_is_owed(const struct cluster *cl, const struct job *j);
/* Return true if it may not run because a job before it could not. */
bool backfill_forbids(const struct backfill *a, const struct job *j);
/* As attempt_room, beside what is kept for others. */
bool backfill_find_room(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why);
/* Take out of the trial what a job that stops others must leave alone. The caller undoes it. */
void backfill_keep_from_victims(struct cycle *c, const struct job *urgent);
/* The first of this class could not run. true: it is booked in the calendar, and out of its class until backfill_end. */
bool backfill_failed(struct cycle *c, struct class *k, const struct picker *picker, const struct preemptor *p,
                     const struct reason *why);

/* For forecast.c, between cycles: the calendar, empty then; is the job a top job with a place; the order of jobs. */
struct calendar *backfill_calendar(const struct backfill *a);
bool backfill_is_booked(const struct cycle *c, const struct job *j);
bool backfill_is_before(const struct cycle *c, const struct job *a, const struct job *b);
/* The top jobs before this one, in their order; the caller frees. */
struct job **backfill_tops_before(const struct cycle *c, const struct job *j, size_t *n);

/* As attempt_room, beside what the next cycle would keep for jobs before this one. `cycle` is a struct cycle. */
bool backfill_room(void *cycle, const struct picker *k, const struct preemptor *p, struct allocation *where,
                   struct reason *why);

#endif
