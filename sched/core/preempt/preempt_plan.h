#ifndef PREEMPT_PLAN_H
#define PREEMPT_PLAN_H
/* Preemptions that are under way: the urgent job, its victims, and the room that is kept for it.
 *
 *   plans_begin       the victims are about to be stopped; the urgent job waits, no second plan for it; what of its room
 *                     is free already is kept from others
 *   plans_refresh     before each cycle: the same again, as victims have gone
 *   plans_result      one victim's answer (S C Q D, or 000)
 *   plans_end         all answers are in: has the room come, must there be another round, is it given up
 *
 * or, where the server takes whole plans:
 *
 *   plans_taken       it holds the room, stops the victims and runs the job; plans_watch logs what is seen of it
 *   plans_refused     no job was touched
 *
 * A plan knows jobs by id: any of them may go at any time. It also remembers who has failed to give way for
 * whom for a while, and how often it was tried, until the urgent job runs or goes.
 */
#include "candidates.h"
#include "decisions.h"
#include "sched_cluster.h"

/* PLAN_ROUNDS_MAX: so often others are looked for when victims have failed. PLAN_FORGET_S: so long a victim that has failed once is not
 * chosen again; PLAN_DOUBLINGS: each further failure doubles that, up to 17 hours. Choices: a method that failed once mostly fails
 * again, and each attempt stops other victims of the same plan in vain: a dozen in the first day, one or two on each later one. */
enum { PLAN_ROUNDS_MAX = 5, PLAN_FORGET_S = 30, PLAN_DOUBLINGS = 11 };

struct plans;

enum plan_outcome {
    PLAN_READY, /* all victims have stopped: the urgent job can run where it was planned */
    PLAN_AGAIN, /* some have not: look for others */
    PLAN_OVER,  /* too many rounds */
    PLAN_LOST   /* there is no plan, or its job is gone or no longer to be run */
};

struct plans *plans_create(struct cluster *cl);
void plans_destroy(struct plans *p);
void plans_clear(struct plans *p); /* forget all: connection lost */

/* The victims are under ORDER_STOP and the job under ORDER_AWAITS from now on. `where` (copied) is the
 * job's place when the victims are gone. A second call for the same job is its next round. */
void plans_begin(struct plans *p, struct job *urgent, const struct candidates *victims,
                 const struct allocation *where);
/* Before each cycle. O(plans × victims). */
void plans_refresh(struct plans *p);

/* One victim's answer. Unknown plans and victims are ignored: they have gone. */
void plans_result(struct plans *p, const char *urgent, const char *victim, bool stopped);
/* All answers are in; a victim without one has failed. PLAN_READY: the job is still under ORDER_AWAITS, and
 * job->claim is its place. */
enum plan_outcome plans_end(struct plans *p, const char *urgent, int64_t now_s);

/* When a victim for which no method was left may be chosen again, by its own record; 0: now. */
int64_t plans_victim_again_s(const struct job *victim);
/* Has this one failed to give way to this job, less than PLAN_FORGET_S ago? */
bool plans_has_failed(const struct plans *p, const char *urgent, const char *victim, int64_t now_s);
void plans_forget(struct plans *p, const char *urgent); /* it runs, or is gone */

/* The server has taken the whole plan over: it stops the victims and runs the job. What becomes of them is logged
 * by plans_watch as the stream shows it. */
void plans_taken(struct plans *p, const char *urgent);
/* The server refused it: no job was touched. */
void plans_refused(struct plans *p, const char *urgent);
void plans_watch(struct plans *p, struct decisions *log);

#endif
