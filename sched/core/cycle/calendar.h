#ifndef CALENDAR_H
#define CALENDAR_H
/* Jobs that cannot run now and are promised a time and a place, so that those behind them do not delay them.
 *
 *   calendar_begin          a cycle begins: nothing is booked
 *   calendar_book           this job finds no room: the first time at which it will, from the ends of those that run and
 *                           from what is booked already
 *   calendar_keep           a job that is considered after it and would still run then gets only what is left beside it
 *   calendar_allows         the same of run limits and of amounts that are bounded at queue and server
 *   calendar_started        a job was told to run
 *
 * At each moment in which a booked job begins, what it and the others booked then need, less what ends until then, is what
 * a job that starts now and is still there must leave alone. So a job that keeps to its walltime does not delay a booked one, and
 * a job that would not delay one is not kept waiting.
 *
 * Belongs to one cycle. No I/O, no clock.
 */
#include "pick.h"

struct calendar;

struct booking {
    const struct job *job;
    int64_t from_s, to_s;
    struct allocation where;
    struct allocation load; /* calendar.c: what others must leave alone at from_s */
    bool is_load_right;     /* the same */
};

struct calendar *calendar_create(struct cluster *cl);
void calendar_destroy(struct calendar *c);
void calendar_begin(struct calendar *c, int64_t now_s);
void calendar_started(struct calendar *c);

/* p->job, which finds no room now, or which a limit forbids to run now, is booked; of an array its next subjob, which may
 * begin when enough of those that run have ended for max_run_subjobs. NULL: it would find none though all that run had ended. The booking is the
 * calendar's, until the next call. The trial is as before.
 * O(jobs that run × log of that), and a look for each time between the first that would do without other bookings and
 * the one that does. */
const struct booking *calendar_book(struct calendar *c, const struct picker *k, const struct preemptor *p);

/* The same for the next of several in a row: the trial shows vnodes as they will be until calendar_rest, and nothing but this
 * function looks at them before. */
const struct booking *calendar_book_next(struct calendar *c, const struct picker *k,
                                         const struct preemptor *p);
void calendar_rest(struct calendar *c); /* the trial is as before the first of them; nothing if it is */

/* All bookings, in the order in which they were made; until the next call. */
const struct booking *calendar_bookings(const struct calendar *c, size_t *n);

/* What a job that begins now must leave alone is taken out of the trial; the caller undoes it, before the
 * next call. The amounts are borrowed from the calendar until then. */
enum calendar_ends {
    CALENDAR_ENDS, /* those that run end by their walltimes */
    CALENDAR_NO_ENDS /* no job ends: for a job that would stop some of them, so that their ends do not count twice */
};
/* Return true if there is a booked job that it could delay; calendar_may_delay says that without more. */
bool calendar_may_delay(const struct calendar *c, const struct job *j);
bool calendar_keep(struct calendar *c, struct trial *t, const struct job *j, enum calendar_ends ends);

/* When the last of those booked begins that begin before `before_s`; 0: none does. */
int64_t calendar_last_before_s(const struct calendar *c, int64_t before_s);

/* May it run beside the booked jobs, as far as limits are concerned? false: `why` says so. */
bool calendar_allows(struct calendar *c, const struct job *j, struct reason *why);

#endif
