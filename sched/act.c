/* Every call carries the job's id, not the job: when the answer comes it may have gone, or the cluster may
 * have been read again. The list of calls exists only for the day when the connection is lost, since then
 * no answer comes and they must be freed here.
 *
 * n_orders counts what is answered soon: orders to run and resume, whole plans, and reservations. The old
 * preemption call, which may be open for minutes, is not counted, or news would wait for it. Texts of
 * errors are copied before anything else is sent: they belong to the connection.
 *
 * A call that cannot be sent takes the connection down at the end of the turn (sched_link_await), so its
 * caller need not undo anything. */
#include "act.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cycle.h"
#include "sched_link.h"
#include "log.h"
#include "mem.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "pbs_ifl.h"
#include "policy.h"
#include "sched_cluster.h"
#include "cycle_answers.h"
#include "cycle_resv.h"

struct act_promise {
    char *job;
    unsigned answer;
    struct act_promise *next;
};

struct turn { /* jobs that are suspended for one job; freed with the last of their calls */
    char *next;
    struct cycle_reply *replies;
    size_t n, n_open;
};

struct call { /* one order or preemption under way */
    struct act *act;
    char *job;
    struct turn *turn; /* NULL: it belongs to none */
    bool found;        /* a reservation's vnodes were */
    struct call *next, **prev;
};

struct act {
    struct sched_link *link;
    struct cycle *cycle;
    struct act_events events;
    size_t n_orders;
    struct act_promise *promises;
    struct call *calls;
    bool no_plans; /* the server does not know pbs_preempt_run */
};

struct act *act_create(struct sched_link *k, struct cycle *c, const struct act_events *events)
{
    struct act *a = mem_new(1, sizeof *a);

    a->link = k;
    a->cycle = c;
    a->events = *events;
    return a;
}

/* In the list at the front, with a back link, so that it leaves in O(1). */
static struct call *call_open(struct act *a, const char *job)
{
    struct call *x = mem_new(1, sizeof *x);

    x->act = a;
    x->job = mem_text(job);
    x->next = a->calls;
    x->prev = &a->calls;
    if (x->next)
        x->next->prev = &x->next;
    a->calls = x;
    return x;
}

/* One call of the turn is over; with the last one the turn is. */
static void turn_leave(struct turn *t)
{
    if (!t || --t->n_open > 0)
        return;
    for (size_t i = 0; i < t->n; i++)
        free((char *)(uintptr_t)t->replies[i].job);
    free(t->replies);
    free(t->next);
    free(t);
}

static void call_close(struct call *x)
{
    turn_leave(x->turn);
    *x->prev = x->next;
    if (x->next)
        x->next->prev = x->prev;
    free(x->job);
    free(x);
}

void act_forget(struct act *a)
{
    while (a->calls)
        call_close(a->calls);
    while (a->promises) {
        struct act_promise *next = a->promises->next;
        free(a->promises->job);
        free(a->promises);
        a->promises = next;
    }
    a->n_orders = 0;
    a->no_plans = false;
}

void act_destroy(struct act *a)
{
    if (!a)
        return;
    act_forget(a);
    free(a);
}

bool act_is_busy(const struct act *a)
{
    return a->n_orders > 0;
}

/* --- who waits for the outcome ----------------------------------------------------------------------- */

/* For calls whose answer says nothing that matters: the ticket must be received all the same. */
static void act_receive(void *arg, int c, int ticket)
{
    pbs_recv(c, ticket);
}

void act_promise(struct act *a, const char *job, unsigned answer)
{
    struct act_promise *p = mem_new(1, sizeof *p);

    p->job = mem_text(job);
    p->answer = answer;
    p->next = a->promises;
    a->promises = p;
}

/* All promises of this job. The list is short: requests that wait now. */
void act_tell(struct act *a, const char *job, int code, const char *text)
{
    int c = sched_link_connection(a->link);

    for (struct act_promise **p = &a->promises; *p;) {
        struct act_promise *x = *p;
        if (strcmp(x->job, job) != 0) {
            p = &x->next;
            continue;
        }
        *p = x->next;
        if (c >= 0)
            sched_link_await(a->link, pbs_sched_reply_send(c, x->answer, job, code, text), act_receive, NULL);
        free(x->job);
        free(x);
    }
}

void act_explained(struct act *a, const char *job, unsigned answer, const struct batch_status *list)
{
    int c = sched_link_connection(a->link);

    if (c >= 0)
        sched_link_await(a->link, pbs_explain_reply_send(c, answer, job, list), act_receive, NULL);
}

void act_not_explained(struct act *a, const char *job, unsigned answer, int code, const char *text)
{
    int c = sched_link_connection(a->link);

    if (c >= 0)
        sched_link_await(a->link, pbs_sched_reply_send(c, answer, job, code, text), act_receive, NULL);
}

/* --- orders ------------------------------------------------------------------------------------------ */

enum { ANSWER_MAX = 512 };

/* The answer's number; its text is copied, since the next call on the connection takes it away. */
static int take_answer(int c, int ticket, char text[static ANSWER_MAX])
{
    int code = pbs_recv(c, ticket);
    const char *said = code ? pbs_geterrmsg(c) : NULL;

    snprintf(text, ANSWER_MAX, "%s", said ? said : "");
    return code;
}

/* An order is answered, and the cycle has decided what follows: do that. */
static void act_order_is_over(struct call *x, struct decisions *d)
{
    struct act *a = x->act;

    call_close(x);
    act_carry_out(a, d);
    if (--a->n_orders == 0)
        a->events.settled(a->events.arg);
}

/* The request that asked for the job, if any, hears the same words as the log. */
static void act_ordered(void *arg, int c, int ticket)
{
    struct call *x = arg;
    struct act *a = x->act;
    struct decisions d = {0};
    char text[ANSWER_MAX];
    int code = take_answer(c, ticket, text);

    cycle_answer_order(a->cycle, x->job, code, text, &d);
    act_tell(a, x->job, code, text);
    act_order_is_over(x, &d);
}

/* A job that takes what time there is has its walltime before it runs: the server does one call after the other. */
static int send_walltime(struct act *a, int c, const struct decision *x)
{
    char text[24];
    struct attrl walltime = {
        .name = (char *)(uintptr_t)ATTR_l, .resource = (char *)(uintptr_t) "walltime", .value = text};

    if (x->walltime_s == 0)
        return 0;
    snprintf(text, sizeof text, "%lld", (long long)x->walltime_s);
    return sched_link_await(a->link, pbs_asyalterjob_send(c, x->job, &walltime, NULL), act_receive, NULL);
}

/* job_run_wait: with execjob_hook the order is answered when hosts have begun, else when the server has
 * taken it. */
static size_t act_send_order(struct act *a, const struct decision *x)
{
    int c = sched_link_connection(a->link);
    int ticket;

    if (c < 0 || send_walltime(a, c, x) < 0)
        return 0;
    if (x->kind == DECIDE_RUN && cluster_policy(cycle_cluster(a->cycle))->waits_for_hosts)
        ticket = pbs_runjob_send(c, x->job, x->text, NULL);
    else if (x->kind == DECIDE_RUN)
        ticket = pbs_asyrunjob_send(c, x->job, x->text, NULL);
    else
        ticket = pbs_sigjob_send(c, x->job, "resume", NULL);
    struct call *call = call_open(a, x->job);
    a->n_orders++;
    if (sched_link_await(a->link, ticket, act_ordered, call) < 0)
        return 0; /* the link goes down and forgets the call */
    return 1;
}

/* --- preemptions ------------------------------------------------------------------------------------- */

/* A victim that the answer does not name has failed, which cycle_answer_preempt sees to. */
static void act_preempted(void *arg, int c, int ticket)
{
    struct call *x = arg;
    struct act *a = x->act;
    struct decisions d = {0};
    int n = 0;
    preempt_job_info *list = pbs_preempt_jobs_recv(c, ticket, &n);
    struct cycle_reply *replies = mem_new((size_t)(n > 0 ? n : 0), sizeof *replies);

    if (!list) {
        const char *text = pbs_geterrmsg(c);
        log_event(LOGC_JOB, LOGE_ERROR, x->job, "the server did not preempt: %s (%d)", text ? text : "",
                  pbs_errno);
        n = 0;
    }
    for (int i = 0; i < n; i++)
        replies[i] = (struct cycle_reply){.job = list[i].job_id,
                                          .result = preempt_method_result_of_code(list[i].order)};
    cycle_answer_preempt(a->cycle, x->job, replies, (size_t)n, &d);
    call_close(x);
    free(replies);
    free(list);
    act_carry_out(a, &d);
    a->events.preempted(a->events.arg);
}

/* A server without plans is asked in the old way from then on; this job by the next cycle. */
static void act_planned(void *arg, int c, int ticket)
{
    struct call *x = arg;
    struct act *a = x->act;
    struct decisions d = {0};
    char text[ANSWER_MAX];
    int code = take_answer(c, ticket, text);

    if (code == EPROTONOSUPPORT || code == PBSE_UNKREQ || code == PBSE_NOSUP) {
        log_event(LOGC_SVR, LOGE_SYSTEM, "act", "the server takes no plans: jobs are preempted one by one");
        a->no_plans = true;
    }
    cycle_answer_plan(a->cycle, x->job, code, text, &d);
    act_order_is_over(x, &d);
}

/* The server examines the plan as a whole, stops the victims and runs the job: one short call. */
static size_t send_plan(struct act *a, int c, const struct decision *x)
{
    struct pbs_victim *v = mem_new(x->n_names, sizeof *v);

    for (size_t i = 0; i < x->n_names; i++)
        v[i] = (struct pbs_victim){.jobid = x->names[i], .run_version = x->runs[i]};
    int ticket = pbs_preempt_run_send(c, x->job, x->text, v, x->n_names, NULL);
    free(v);
    a->n_orders++;
    return sched_link_await(a->link, ticket, act_planned, call_open(a, x->job)) == 0;
}

/* A resumed job has no place to be named (x->text is empty), so only the old call will do. */
static size_t send_preemption(struct act *a, const struct decision *x)
{
    int c = sched_link_connection(a->link);

    if (c < 0 || send_walltime(a, c, x) < 0)
        return 0;
    if (*x->text && !a->no_plans)
        return send_plan(a, c, x);
    return sched_link_await(a->link, pbs_preempt_jobs_send(c, x->names), act_preempted,
                            call_open(a, x->job)) == 0;
}

/* --- turns -------------------------------------------------------------------------------------------- */

/* The last answer tells the cycle. */
static void act_on_suspended(void *arg, int c, int ticket)
{
    struct call *x = arg;
    struct act *a = x->act;
    struct turn *t = x->turn;
    struct decisions d = {0};
    int code = pbs_recv(c, ticket);
    bool all = t->n_open == 1;

    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->replies[i].job, x->job) == 0)
            t->replies[i].result = code == 0 ? PREEMPT_SUSPENDED : PREEMPT_FAILED;
    if (all)
        cycle_answer_turn(a->cycle, t->next, t->replies, t->n, &d);
    call_close(x);
    act_carry_out(a, &d);
    if (all)
        a->events.preempted(a->events.arg);
}

/* Like a preemption it may take long where a host is slow: news are followed meanwhile. */
static size_t send_turn(struct act *a, const struct decision *x)
{
    int c = sched_link_connection(a->link);
    struct turn *t;

    if (c < 0)
        return 0;
    t = mem_new(1, sizeof *t);
    *t = (struct turn){.next = mem_text(x->job),
                       .replies = mem_new(x->n_names, sizeof *t->replies),
                       .n = x->n_names,
                       .n_open = x->n_names};
    struct call **calls = mem_new(x->n_names, sizeof(struct call *));
    for (size_t i = 0; i < x->n_names; i++) {
        t->replies[i] = (struct cycle_reply){.job = mem_text(x->names[i]), .result = PREEMPT_FAILED};
        calls[i] = call_open(a, x->names[i]);
        calls[i]->turn = t;
    }
    for (size_t i = 0; i < x->n_names; i++)
        if (sched_link_await(a->link, pbs_sigjob_send(c, x->names[i], "suspend", NULL), act_on_suspended,
                             calls[i]) < 0)
            break; /* the link goes down and forgets the calls */
    free(calls);
    return x->n_names;
}

/* --- reservations -------------------------------------------------------------------------------------- */

static void act_confirmed(void *arg, int c, int ticket)
{
    struct call *x = arg;
    struct act *a = x->act;
    struct decisions d = {0};
    char text[ANSWER_MAX];
    int code = take_answer(c, ticket, text);

    cycle_resv_answered(a->cycle, x->job, x->found, code, text, &d);
    act_order_is_over(x, &d);
}

enum { CONFIRM_MAX = 2048 }; /* two reasons, a time, a name */

/* Why it is refused, by what changes, and when it could be. */
static void denial_text(const struct act *a, const struct decision *x, char out[static CONFIRM_MAX])
{
    time_t at = (time_t)x->at_s;
    char when[32] = "";

    if (x->at_s && ctime_r(&at, when))
        when[strcspn(when, "\n")] = '\0';
    snprintf(out, CONFIRM_MAX, "%s:seen=%llu:reason=%s%s%s", PBS_RESV_CONFIRM_FAIL,
             (unsigned long long)a->events.seen(a->events.arg), x->text, *when ? "; it could begin at " : "",
             when);
}

/* One call for both: the server is told the vnodes, and why they are not promised for earlier, or why there are none. */
static size_t send_confirmation(struct act *a, const struct decision *x)
{
    const char *partition = cluster_policy(cycle_cluster(a->cycle))->partition;
    int c = sched_link_connection(a->link);
    char extend[CONFIRM_MAX];

    if (c < 0)
        return 0;
    if (x->kind == DECIDE_DENY)
        denial_text(a, x, extend);
    else
        snprintf(extend, sizeof extend, "%s%s%s:partition=%s", PBS_RESV_CONFIRM_SUCCESS,
                 x->why ? ":reason=" : "", x->why ? x->why : "", *partition ? partition : "pbs-default");
    int ticket = pbs_confirmresv_send(c, x->job, x->kind == DECIDE_DENY ? "" : x->text,
                                      x->kind == DECIDE_DENY ? 0 : (unsigned long)x->at_s, extend);
    struct call *call = call_open(a, x->job);
    call->found = x->kind == DECIDE_CONFIRM;
    a->n_orders++;
    return sched_link_await(a->link, ticket, act_confirmed, call) == 0;
}

/* --- what jobs are told ---------------------------------------------------------------------------------- */

static size_t send_comment(struct act *a, const struct decision *x)
{
    int c = sched_link_connection(a->link);
    struct attrl comment = {.name = (char *)(uintptr_t) "comment", .value = x->text};

    if (c < 0)
        return 0;
    return sched_link_await(a->link, pbs_asyalterjob_send(c, x->job, &comment, NULL), act_receive, NULL) == 0;
}

/* Tell the server that a job is a top job, with its estimated time and place, or that it is none any more.
 * Not counted: nothing that another job waits for follows from it. */
static size_t send_top(struct act *a, const struct decision *x)
{
    int c = sched_link_connection(a->link);
    char at[24];
    struct attrl where = {.name = (char *)(uintptr_t)ATTR_estimated,
                          .resource = (char *)(uintptr_t) "exec_vnode",
                          .value = x->text};
    struct attrl start = {.name = (char *)(uintptr_t)ATTR_estimated,
                          .resource = (char *)(uintptr_t) "start_time",
                          .value = at,
                          .next = &where};
    struct attrl top = {.name = (char *)(uintptr_t)ATTR_topjob,
                        .value = (char *)(uintptr_t)(x->at_s ? "True" : "False"),
                        .next = x->at_s ? &start : NULL};

    if (c < 0)
        return 0;
    snprintf(at, sizeof at, "%lld", (long long)x->at_s);
    return sched_link_await(a->link, pbs_asyalterjob_send(c, x->job, &top, NULL), act_receive, NULL) == 0;
}

/* Identifiers of jobs begin with a digit, those of reservations with a letter before it; the cycle itself has none. */
static enum log_class object_class(const char *object)
{
    if (!*object)
        return LOGC_REQ;
    return isalpha((unsigned char)object[0]) && isdigit((unsigned char)object[1]) ? LOGC_RESV : LOGC_JOB;
}

void act_log(unsigned event, const char *object, const char *text)
{
    log_event(object_class(object), event, object, "%s", text);
}

size_t act_carry_out(struct act *a, struct decisions *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        struct decision *x = &d->a[i];
        switch (x->kind) {
        case DECIDE_RUN:
        case DECIDE_RESUME:
            n += act_send_order(a, x);
            break;
        case DECIDE_PREEMPT:
            n += send_preemption(a, x);
            break;
        case DECIDE_TURN:
            n += send_turn(a, x);
            break;
        case DECIDE_CONFIRM:
        case DECIDE_DENY:
            n += send_confirmation(a, x);
            break;
        case DECIDE_REFUSE:
            act_tell(a, x->job, x->code, x->text);
            break;
        case DECIDE_COMMENT:
            n += send_comment(a, x);
            break;
        case DECIDE_TOP:
            send_top(a, x);
            break;
        case DECIDE_LOG:
            act_log(x->event, x->job, x->text);
            break;
        }
    }
    decisions_fini(d);
    return n;
}
