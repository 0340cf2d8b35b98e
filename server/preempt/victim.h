#ifndef VICTIM_H
#define VICTIM_H
/* One job that is to give way: the methods left, the method under way, its deadline, and the end.
 *
 *   victim_begin  ->  method S, C, R or D starts  ->  the job's own transitions settle it  ->  ^done, once
 *                           | cannot, failed, took too long
 *                           v
 *                     the next method; none left: ^done with FAILED
 *
 *   victims_withdraw  ->  before a method, or after R or D as long as the hosts can take it back: the job runs on
 *
 * The record (preempt_record) is stored with the job, so a restarted server continues the preemption; the request that
 * asked is gone then. However the job vanishes (own end, qdel, force, node lost), ^done is called. A victim
 * listens to the job machine after the parts that give claims back (assembly_events.c). Loop thread only. */
#include "err.h"
#include "job.h"
#include "preempt_record.h"
#include "server_events.h"
#include "job_fsm.h"

struct loop;
struct stop_methods;
struct preempt_notices;
struct run_withdraw;
struct server_ctx;
struct victims;

/* Tells EVENT_JOB_PREEMPTING and EVENT_JOB_PREEMPTED of every preemption. */
struct victims *victims_create(struct loop *l, struct server_ctx *s, struct job_fsm *f,
                               struct stop_methods *m, struct preempt_notices *n, struct run_withdraw *w);
void victims_destroy(struct victims *v);

/* The way back to a requester. done: once per victims_begin that returned 0, never inside it; `r` is not OPEN. offer: would it do
 * if the job gave j->preempt->offer and kept the rest? 0, or -1 and why not; NULL: the requester takes no offers. */
typedef void victim_done_fn(void *arg, struct job *j, enum preempt_result r);
typedef int victim_offer_fn(void *arg, struct job *j, struct err *e);

struct victim_ask {
    struct preempt_record_ask record;
    victim_done_fn *done;
    victim_offer_fn *offer;
    void *arg;
};

/* Begin to preempt a job that is in a run. One that is being preempted already, or that is about to end,
 * joins what is under way. -1 PBSE_SYSTEM: no memory, `done` is not called. */
int victims_begin(struct victims *v, struct job *j, const struct victim_ask *ask, struct err *e);
/* Withdraw the request with `arg`, if no other request waits and it is not too late (true); ^done is not called any more. If no method
 * has begun the job runs on unchanged, and is not a victim. If R or D has begun, and the job got no more than SIGTERM, its hosts are told
 * that it may run on (run_withdraw.h): it is a victim without a request until they have answered or it has ended; then it has
 * given way like any. false: ^done is called at the end. */
bool victims_withdraw(struct victims *v, struct job *j, void *arg, const char *why);
/* After a restart, in two steps, since requesters that join between them learn how it ends: the record of a job makes its victim
 * again, then each victim continues. Both are silent for a job that is not being preempted. */
void victims_restore(struct victims *v, struct job *j);
void victims_carry_on(struct victims *v, struct job *j);

/* Listener of EVENT_RUN_METHOD_FAILED: the next method is tried. */
void victims_on_method_failed(void *victims, const struct server_event *ev);
/* Listener of EVENT_RUN_STAYS and ENDS: what came of a withdrawal after the method had begun. */
void victims_on_withdrawn(void *victims, const struct server_event *ev);
/* Listener of EVENT_RUN_NOTICE_REPLY: a host of the job has answered its notice. */
void victims_on_notice_reply(void *victims, const struct server_event *ev);
/* Listener of EVENT_RUN_DECLARED, PARTY and PHASE_BEGUN: perhaps no host is left that the notice has to wait for. */
void victims_on_parties(void *victims, const struct server_event *ev);

/* Listener of EVENT_RUN_RELEASED and LOST: a host of this job is over, maybe the last one of those that it gives, or that its notice waits for. */
void victims_on_host_over(void *victims, const struct server_event *ev);

/* Listener of the machine: how a method went is read from the job's state. */
void victims_listen(void *victims, struct job *j, enum job_state from, enum job_event ev);

#endif
