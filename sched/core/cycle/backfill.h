#ifndef BACKFILL_H
#define BACKFILL_H
/* Jobs that could not run, and what is kept for them: a job of lower order may use what the calendar
 * leaves.
 *
 * One struct backfill belongs to a cycle. The conversation in one cycle:
 *
 *   backfill_has_changed    may jobs run that others kept from running?
 *   backfill_begin          nothing is booked, no queue is shut
 *   backfill_forbids, backfill_find_room    for each job that is looked at
 *   backfill_started        it runs
 *   backfill_failed         or it does not: it may be booked, or stop the jobs behind it
 *   backfill_rest           bookings in a row are over: vnodes are looked at again as they are now
 *   backfill_end            booked jobs go back to their classes
 *
 * Between cycles forecast.c and explain ask the last functions below; the calendar is empty then and is
 * left empty. */
#include "cycle.h"
#include "pick.h"

struct allocation;
struct calendar;
struct class;
struct reason;

/* `cl` is borrowed until backfill_destroy, which ignores NULL. */
struct backfill *backfill_create(struct cluster *cl);
void backfill_destroy(struct backfill *a);
void backfill_begin(struct backfill *a,
                    int64_t now_s); /* a cycle begins: nothing is booked, no job is stopped */
/* The last job was looked at. Booked jobs are in their classes again; jobs that were top jobs and are not
 * any more are told so (DECIDE_TOP with at_s 0). */
void backfill_end(struct cycle *c);
void backfill_started(struct backfill *a); /* a job was told to run */
/* Return true if a job that others had to wait for has gone or changed: then they may run. O(top jobs of
 * the last cycle). */
bool backfill_has_changed(const struct backfill *a);
/* sched_preempt_enforce_resumption: return true if later jobs must not keep this one waiting. */
bool backfill_is_owed(const struct cluster *cl, const struct job *j);
/* Return true if the job may not run because a job before it could not: of its queue or, where the server's
 * depth is 0, of any queue. Never of a job that a request asks for. */
bool backfill_forbids(const struct backfill *a, const struct job *j);
/* As attempt_room, beside what is kept for others: bookings, and promises of time slices. `why` is
 * REASON_CONFLICT where there would be room without these. The trial is as before; job->short_s may have
 * been set (shrink_to_fit.h). */
bool backfill_find_room(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why);
/* Take out of the trial what a job that stops others must leave alone. The caller undoes it. */
void backfill_keep_from_victims(struct cycle *c, const struct job *urgent);
/* The first job of this class could not run, for the reason `why`. true: it is booked in the calendar, and
 * out of its class until backfill_end. false: it is not; a queue may be shut now. Appends to c->d: the
 * booking (DECIDE_TOP) if it differs from what the server was told last, and lines of the log. Costs a
 * search of calendar_book_next, after which the trial shows vnodes as they will be until backfill_rest. */
bool backfill_failed(struct cycle *c, struct class *k, const struct picker *picker, const struct preemptor *p,
                     const struct reason *why);

/* Called before vnodes are looked at for anything but the next booking; costs nothing if there was none. */
void backfill_rest(struct backfill *a);

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
