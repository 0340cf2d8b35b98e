#ifndef PREEMPT_NOTICE_H
#define PREEMPT_NOTICE_H
/* A job is told that it is to give way, before method C, R or D is applied, and may answer.
 *
 *   notices_give      the hosts are told; the mark says until when
 *     notices_answer  ready: now; needs time: later, within the bound; an offer is for whoever holds the room
 *   notices_close     the time is over: nothing is taken back    notices_withdraw  it need not give way after all
 *
 * The state is in the job's mark (struct preempt_notice), stored with it; the victim (victim.c) has the clock. */
#include <stdbool.h>
#include <stdint.h>

#include "stop_method.h"
#include "preempt_policy.h"

struct exec_notice_data;
struct exec_send;
struct job_log;
struct notices;

struct notices *notices_create(struct site *s, struct exec_send *x, struct job_log *l);
void notices_destroy(struct notices *n);

/* What policy grants this job, milliseconds; 0: no notice. *max_ms: how far the job may stretch it. */
int64_t notices_grace_ms(const struct preempt_ask *a, const struct job *j, int64_t *max_ms);

/* Tell the job that this method is about to be applied, if it is to be told. true: that waits until the mark's deadline. */
bool notices_give(struct notices *n, struct job *j, const struct method *m);

enum notice_effect { NOTICE_NOTHING, NOTICE_NOW, NOTICE_LATER, NOTICE_OFFER };
/* The job has answered. LATER: the deadline is another one. OFFER: d->nodes; say what came of it by notices_refuse_offer or
 * notices_withdraw. */
enum notice_effect notices_answer(struct notices *n, struct job *j, const struct exec_notice_data *d);
void notices_refuse_offer(struct notices *n, struct job *j, const char *why);

void notices_close(struct notices *n, struct job *j);
void notices_withdraw(struct notices *n, struct job *j, const char *why);

/* The preemption is over with this result: what the job was told has come true, or is taken back where
 * it runs on or was suspended instead. */
void notices_settled(struct notices *n, struct job *j, enum preempt_result r);

/* A host of the job has come back: it is told what stands. */
void notices_renew(struct notices *n, struct job *j);

/* For people: "ready", "defer", "partial", "refuse", or "none". */
const char *notices_reply_name(int reply);

#endif
