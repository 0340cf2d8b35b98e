#ifndef ACT_H
#define ACT_H
/* Decisions become calls, answers go back to the cycle. Nothing here waits.
 *
 * Orders to run and resume are all sent at once and answered in any order. A preemption is one call that
 * may be open for long, a turn is one for each job that is to be suspended; the (last) answer brings
 * further decisions, which are carried out at once.
 *
 * The conversation: scheduler.c hands over decisions (act_carry_out); act sends, and each answer goes to
 * cycle_answers.h or cycle_resv.h, whose decisions it carries out in turn. When the last order is answered,
 * `settled` is told, and the scheduler asks for the next changes. If the connection is lost no answer
 * comes: act_forget. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct act;
struct cycle;
struct decisions;
struct sched_link;

struct act_events {
    void (*settled)(void *arg);   /* no order to run or resume is open any more */
    void (*preempted)(void *arg); /* a preemption or turn has been answered: the next cycle may do more */
    uint64_t (*seen)(void *arg);  /* the number of the last change by which the cycle decides */
    void *arg;
};

/* All arguments but `events`, which is copied, are borrowed until act_destroy. Never NULL. */
struct act *act_create(struct sched_link *k, struct cycle *c, const struct act_events *events);
void act_destroy(struct act *a);

/* Carry out all of `d`, in order, log lines too; `d` is empty afterwards. Returns how many calls were sent, but those of
 * DECIDE_TOP. Without a connection nothing is sent: cycle_answers_forget ends the orders. */
size_t act_carry_out(struct act *a, struct decisions *d);

/* A line of the log about a job, a reservation or, "", the cycle itself: a decisions_say_fn. */
void act_log(unsigned event, const char *object, const char *text);

bool act_is_busy(const struct act *a); /* orders to run or resume are open */

/* A request (qrun) asks for this job to be run, and is to be answered with what came of it; `answer` is its
 * number at the server. Several may ask for one job. */
void act_promise(struct act *a, const char *job, unsigned answer);
/* Answer each request that asked for this job: code 0: it was run; else a PBSE_ code and its words. None asked: nothing. */
void act_tell(struct act *a, const char *job, int code, const char *text);

/* A request asks what would be done for this job: answer it with what was found, or with why nothing was. */
struct batch_status;
void act_explained(struct act *a, const char *job, unsigned answer, const struct batch_status *list);
void act_not_explained(struct act *a, const char *job, unsigned answer, int code, const char *text);

void act_forget(struct act *a); /* connection lost: nothing is open */

#endif
