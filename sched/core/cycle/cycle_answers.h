#ifndef CYCLE_ANSWERS_H
#define CYCLE_ANSWERS_H
/* What came of decisions: orders taken or refused, plans, victims, turns.
 *
 * Called between cycles by act.c, when the server has answered a request: in any order, late, and for jobs
 * that have gone meanwhile or have changed since. The stream of changes and the answers race; either may be
 * first. Each function appends what follows at once to `d`, which the caller carries out: an order to run,
 * a comment, lines of the log. */
#include "cycle.h"
#include "preempt_method.h"

/* The order to run or resume this job was taken (code 0), or refused.
 *
 * code   a PBSE_ code; PBSE_RESCUNAV: the server sees less room than the mirror does, so the class waits
 * for news; any other
 *        one is the job's own, which is tried again after RETRY_REFUSED_S
 * text   the server's words; borrowed, not NULL where code is not 0 */
void cycle_answer_order(struct cycle *c, const char *job, int code, const char *text, struct decisions *d);

/* The server has taken the plan to run this job over (code 0): it stops the victims and starts the job
 * itself, which the stream shows (cycle_watch). Or it has refused it as a whole; then no job was touched,
 * and the class waits for news. */
void cycle_answer_plan(struct cycle *c, const char *urgent, int code, const char *text, struct decisions *d);

struct cycle_reply { /* one victim's answer */
    const char *job;
    enum preempt_result result;
};
/* The preemption for `urgent` is over, where the scheduler itself asked for it (PreemptJobs): `replies` are
 * in the order in which the victims were named; a victim without one has failed. n 0: the call failed.
 * Appends the order to run it, or, where some have failed, nothing: the next cycle looks for others, up to
 * PLAN_ROUNDS_MAX times. */
void cycle_answer_preempt(struct cycle *c, const char *urgent, const struct cycle_reply replies[], size_t n,
                          struct decisions *d);

/* The jobs that were to be suspended for this job's turn have answered: SUSPENDED, or FAILED where one
 * could not be; n 0: the call failed. Appends the order to run or resume it. */
void cycle_answer_turn(struct cycle *c, const char *next, const struct cycle_reply replies[], size_t n,
                       struct decisions *d);

/* The connection is lost: no answer will come, and no order is open any more. Rooms are given back, jobs
 * wait again, plans and requests are forgotten. What the server did of it the next reading of the stream
 * shows. */
void cycle_answers_forget(struct cycle *c);

#endif
