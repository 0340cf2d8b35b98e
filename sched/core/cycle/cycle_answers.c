/* What came of decisions: orders taken or refused, plans, victims, turns. See cycle_answers.h.
 *
 * Invariant: after an answer the job is under no order of which the answer has come, or its order is marked
 * as taken and ends with the job's next change (cluster_order_taken). A job that was made for the order (a
 * subjob) does not outlive a refusal.
 *
 * What is left out: repeating a request. A refused job comes again by the next cycle, which looks at the
 * world as it is then. */
#include "cycle_answers.h"

#include <stdio.h>
#include <string.h>

#include "classes.h"
#include "intern.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "preempt_plan.h"
#include "cluster_index.h"
#include "cluster_order.h"
#include "cluster_array.h"
#include "cycle_state.h"
#include "cycle_decide.h"

/* A job that the server refused is tried again after so long: the reason is often a state of a vnode that
 * the next change will show, and a refusal costs a request. A choice: below a second the same refusal would
 * repeat, and a minute would be seen by users. */
enum { RETRY_REFUSED_S = 5 };

/* The order had no effect. Return the job that waits again: its array, if the job was made for the order. */
static struct job *cycle_answers_give_back(struct cycle *c, struct job *j)
{
    struct job *array = cluster_array(c->cl, j);

    if (!j->is_provisional) {
        cluster_order_drop(c->cl, j);
        return j;
    }
    cluster_array_unspawn(c->cl, j);
    return array;
}

/* The server's words become the comment of the job that it refuses. */
static void cycle_answers_say(struct cycle *c, const struct job *j, const struct reason *why,
                              struct decisions *d)
{
    char text[REASON_TEXT_MAX];
    const char *comment = cycle_decide_comment(c, j, reason_comment(why, text));

    if (comment && cluster_policy(c->cl)->update_comments)
        decisions_add(d, DECIDE_COMMENT, j->id, comment);
}

/* The server knows more than the mirror: none of the class is tried again before something changes, and all of it say why. */
static void cycle_answers_wait(struct class *k, const struct reason *why, const struct cycle *c)
{
    char text[REASON_TEXT_MAX];

    if (!k)
        return;
    k->why = *why;
    classes_say(k, reason_comment(why, text));
    cycle_decide_failed(c, k);
}

static void cycle_answers_error(struct reason *why, int code, const char *text)
{
    char number[16];

    snprintf(number, sizeof number, "%d", code);
    reason_set(why, REASON_PBS_ERROR, text, number);
}

/* Ways out, in order: the job has gone; it was taken; it awaits room elsewhere, so only the attempt is
 * over; the server saw less room; it refused the job itself. */
void cycle_answer_order(struct cycle *c, const char *id, int code, const char *text, struct decisions *d)
{
    struct job *j = cluster_job(c->cl, id);
    struct reason why;

    if (code == 0)
        decisions_log(d, LOGE_SCHED, id, "Job run");
    else
        decisions_log(d, LOGE_SCHED, id, "Failed to run: %s (%d)", text, code);
    if (!j)
        return;
    if (code == 0) {
        cluster_order_taken(j);
        return;
    }
    if (j->sched_state ==
        SCHED_STATE_AWAITING_ROOM) { /* it was to go elsewhere, and awaits others as before, or runs by now */
        cluster_order_drop(c->cl, j);
        return;
    }
    j = cycle_answers_give_back(c, j);
    if (!j)
        return;
    cycle_answers_error(&why, code, text);
    cycle_answers_say(c, j, &why, d);
    if (code == PBSE_RESCUNAV) {
        cycle_answers_wait(j->class, &why, c);
        return;
    }
    /* The order counts as accepted, so that the next change of the job ends it; otherwise retry_refused does. */
    cluster_order(c->cl, j, ORDER_REFUSED, NULL);
    cluster_order_taken(j);
    c->n_refused++;
    c->refused_s = c->now_s + RETRY_REFUSED_S;
}

/* A provisional job that is still under another order (ORDER_NONE is false) is kept: that order's answer is
 * yet to come. */
void cycle_answer_plan(struct cycle *c, const char *urgent, int code, const char *text, struct decisions *d)
{
    struct job *j = cluster_job(c->cl, urgent);
    struct reason why;

    c->d = d;
    if (code == 0) {
        plans_taken(c->plans, urgent);
        plans_watch(c->plans, d);
        return;
    }
    decisions_log(d, LOGE_SCHED, urgent, "Failed to run: %s (%d)", text, code);
    plans_refused(c->plans, urgent);
    if (j && j->is_provisional && j->order == ORDER_NONE && !j->urged)
        j = cycle_answers_give_back(c, j);
    if (!j)
        return;
    cycle_answers_error(&why, code, text);
    cycle_answers_wait(j->class, &why, c);
    if (j->urged)
        cycle_decide_refuse(c, j, text);
    else
        cycle_answers_say(c, j, &why, d);
}

/* The words are PBS's. A victim that ended by itself (PREEMPT_ENDED) has no method, and no line. */
static void log_reply(struct decisions *d, const struct cycle_reply *r)
{
    const struct preempt_method_row *row = preempt_method_row(preempt_result_method(r->result));

    if (r->result == PREEMPT_FAILED)
        decisions_log(d, LOGE_SCHED, r->job, "Job failed to be preempted");
    else if (row->in_order)
        decisions_log(d, LOGE_SCHED, r->job, "Job preempted by %s", row->noun);
}

static void plan_is_over(struct cycle *c, struct job *j)
{
    if (j->is_provisional && !j->urged)
        j = cycle_answers_give_back(c, j);
    if (j)
        cycle_decide_failed(c, j->class);
    if (j && j->urged)
        cycle_decide_refuse(c, j, "Maximum number of preemption tries exceeded - cannot run job");
}

/* All jobs that were to give way to this job have answered. PLAN_READY: their room is what was planned, and
 * the job takes it. PLAN_AGAIN and PLAN_LOST need nothing: the job waits in its class, and the next cycle
 * decides. */
static void all_answered(struct cycle *c, const char *urgent, const struct cycle_reply replies[], size_t n)
{
    struct job *j = cluster_job(c->cl, urgent);

    for (size_t i = 0; i < n; i++)
        plans_result(c->plans, urgent, replies[i].job, replies[i].result != PREEMPT_FAILED);
    switch (plans_end(c->plans, urgent, c->now_s)) {
    case PLAN_READY:
        cycle_decide_run(c, j, &j->claim);
        break;
    case PLAN_OVER:
        decisions_log(c->d, LOGE_SCHED, urgent,
                      "Maximum number of preemption tries exceeded - cannot run job");
        plan_is_over(c, j);
        break;
    case PLAN_AGAIN:
    case PLAN_LOST:
        if (j && j->is_provisional && j->order == ORDER_NONE && !j->urged)
            cycle_answers_give_back(c, j);
        break;
    }
}

void cycle_answer_preempt(struct cycle *c, const char *urgent, const struct cycle_reply replies[], size_t n,
                          struct decisions *d)
{
    c->d = d;
    for (size_t i = 0; i < n; i++)
        log_reply(d, &replies[i]);
    all_answered(c, urgent, replies, n);
}

void cycle_answer_turn(struct cycle *c, const char *next, const struct cycle_reply replies[], size_t n,
                       struct decisions *d)
{
    c->d = d;
    for (size_t i = 0; i < n; i++)
        decisions_log(d, LOGE_SCHED, replies[i].job,
                      replies[i].result == PREEMPT_SUSPENDED
                          ? "Turn is over: suspended for job %s"
                          : "Turn is over: could not be suspended for job %s",
                      next);
    all_answered(c, next, replies, n);
}

/* `next` is taken first: an unspawned subjob is gone, and its array (later in the table or earlier) only
 * gets an index back. */
void cycle_answers_forget(struct cycle *c)
{
    for (struct job *j = cluster_next_job(c->cl, NULL), *next; j; j = next) {
        next = cluster_next_job(c->cl, j);
        cycle_decide_withdraw(c, j);
        if (j->is_provisional)
            cluster_array_unspawn(c->cl, j);
        else
            cluster_order_drop(c->cl, j);
    }
    while (c->n_urged > 0)
        intern_unref(c->urged[--c->n_urged]);
    plans_clear(c->plans);
}
