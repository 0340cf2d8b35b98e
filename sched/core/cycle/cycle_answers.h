#ifndef CYCLE_ANSWERS_H
#define CYCLE_ANSWERS_H
/* What came of decisions: orders taken or refused, plans, victims, turns. Between cycles, in any
 * order; the job may have gone meanwhile. */
#include "cycle.h"
#include "preempt_method.h"

/* The order to run or resume this job was taken, or refused (PBSE_ code, text): then it has a reason. */
void cycle_answer_order(struct cycle *c, const char *job, int code, const char *text, struct decisions *d);

/* The server has taken the plan to run this job over (code 0), or refused it; then no job was touched. */
void cycle_answer_plan(struct cycle *c, const char *urgent, int code, const char *text, struct decisions *d);

struct cycle_reply { /* one victim's answer */
    const char *job;
    enum preempt_result result;
};
/* The preemption for `urgent` is over; n 0: the call failed. Appends: the order to run it, and log lines. */
void cycle_answer_preempt(struct cycle *c, const char *urgent, const struct cycle_reply replies[], size_t n,
                          struct decisions *d);

/* Those who were to be suspended for this job's turn have answered: SUSPENDED, or FAILED where one could not be; n 0:
 * the call failed. Appends: the order to run it, or to let it go on. */
void cycle_answer_turn(struct cycle *c, const char *next, const struct cycle_reply replies[], size_t n,
                       struct decisions *d);

/* Connection lost: no order is open any more. */
void cycle_answers_forget(struct cycle *c);

#endif
