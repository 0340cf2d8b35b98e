#ifndef PREEMPT_NOTICE_H
#define PREEMPT_NOTICE_H
/* Notices: a job is notified before method C, R or D is applied to it, and may answer.
 *
 *   preempt_notices_give      the hosts notify it; the preempt record has the deadline
 *     preempt_notices_answer  ready, as all hosts that take part: now; needs time: later, within the bound; an offer goes to plan_earmark.c
 *   preempt_notices_close     the time is over: nothing is taken back    preempt_notices_withdraw  it is not preempted
 * after all
 *
 * The state is in the job's preempt record (struct preempt_notice), stored with it; victim.c has the timer. */
#include <stdbool.h>
#include <stdint.h>

#include "stop_method.h"
#include "preempt_policy.h"
#include "server_events.h"

struct exec_notice_data;
struct exec_send;
struct job_audit;
struct preempt_notices;

struct preempt_notices *preempt_notices_create(struct server_ctx *s, struct exec_send *x,
                                               struct job_audit *l);
void preempt_notices_destroy(struct preempt_notices *n);

/* What policy grants this job, milliseconds; 0: no notice. *max_ms: how far the job may stretch it. */
int64_t preempt_notices_grace_ms(const struct preempt_ask *a, const struct job *j, int64_t *max_ms);

/* Tell the job that this method is about to be applied, if policy grants a notice. true: the method waits until the
 * deadline of the preempt record. */
bool preempt_notices_give(struct preempt_notices *n, struct job *j, const struct stop_method *m);

enum preempt_notice_effect {
    PREEMPT_NOTICE_NOTHING,
    PREEMPT_NOTICE_NOW,
    PREEMPT_NOTICE_LATER,
    PREEMPT_NOTICE_OFFER
};
/* A host of the job, by its service, has answered. NOW: all that take part are ready. LATER: the deadline is another one. OFFER:
 * d->nodes; say what came of it by preempt_notices_refuse_offer or preempt_notices_withdraw. */
enum preempt_notice_effect preempt_notices_answer(struct preempt_notices *n, struct job *j,
                                                  const char *service, const struct exec_notice_data *d);
/* Other hosts of its run take part than before. true: those that do are all ready now. */
bool preempt_notices_review(struct preempt_notices *n, struct job *j);
void preempt_notices_refuse_offer(struct preempt_notices *n, struct job *j, const char *service,
                                  const char *why);

void preempt_notices_close(struct preempt_notices *n, struct job *j);
void preempt_notices_withdraw(struct preempt_notices *n, struct job *j, const char *why);

/* The same after the method has begun: the job got SIGTERM, and may run on. Comment and log say so whether it had a notice or not. */
void preempt_notices_withdraw_end(struct preempt_notices *n, struct job *j, const char *why);

/* The preemption is over with this result: the notice is fulfilled, or withdrawn where
 * it runs on or was suspended instead. */
void preempt_notices_settled(struct preempt_notices *n, struct job *j, enum preempt_result r);

/* Since the server started: notices given, taken back, and the answers that came in time, by enum exec_notice_answer. */
enum { PREEMPT_NOTICE_ANSWERS = 8 };
struct preempt_notice_counts {
    uint64_t given, withdrawn, answers[PREEMPT_NOTICE_ANSWERS];
};
const struct preempt_notice_counts *preempt_notices_counts(const struct preempt_notices *n);
const char *
preempt_notices_answer_name(int answer); /* "ready", "defer" ...; "none": there is no such answer */

/* Listener of EVENT_RUN_KEPT: a host of the job has come back; send it the notice that is in force. */
void preempt_notices_on_kept(void *notices, const struct server_event *ev);

#endif
