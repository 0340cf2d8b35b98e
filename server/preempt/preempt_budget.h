#ifndef PREEMPT_BUDGET_H
#define PREEMPT_BUDGET_H
/* preempt_budget: how much of others' work the preemptions for one queue's jobs may destroy in an hour.
 *
 * Work is core-seconds since the victim's start, without the time in which it was suspended; S and C lose none. The
 * queue's preempt_ledger stores what has been spent, so it survives a restart; the earmarks have what is agreed and not
 * done yet (notices). */
#include "preempt_policy.h"

struct queue;

/* Another method has failed: may this one be tried that would lose so much? What the first method costs was agreed
 * with the plan, what a later one does was not. false: PBSE_BADSTATE and why. True where the request names no
 * urgent job. */
bool preempt_budget_covers_next(const struct server_ctx *s, const struct job *j, double loss, struct err *e);

/* The methods that may be tried on this job, without those that would destroy more than the urgent job's queue may.
 * -1 and none: it is protected, PBSE_BADSTATE with the reason. */
int preempt_budget_methods(const struct preempt_ask *a, const struct job *j, struct preempt_methods *out,
                           struct err *e);

/* A method begins for a job of this queue. Written down where any budget is set. */
void preempt_budget_charge(struct server_ctx *s, struct queue *urgent, double loss);
/* What was charged at `charged_s` was not destroyed after all. Nothing where the queue is gone. */
void preempt_budget_refund(struct server_ctx *s, const char *queue, int64_t charged_s, double loss);

#endif
