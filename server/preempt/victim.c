/* A job that gives way. See victim.h for its states.
 *
 * victim_try_next() is the one way forward: for the next method left it may wait (the job is just starting), give notice, find the job settled
 * already, or start the method; it comes back here when the wait is over, the method has failed or its time is over. A method that was
 * started is taken back in one case only: R or D whose plan is undone while the job has got no more than SIGTERM (withdrawing). In all
 * others one that comes to its end late still settles the victim. The same request may come several times (two
 * schedulers, PreemptJobs beside a plan): each waits for the one preemption.
 *
 * There are two halves. The preempt record (j->preempt, preempt_record.h) is stored: methods left, method, who asked. The victim
 * (j->victim) is memory: deadline and those who wait; a restart makes it again from the record. Both begin
 * and end together.
 *
 * How it went is never told by a method, it is read from the job's state after each transition
 * (`victim_verdict`): so an end by the owner, by the job itself or by a lost node settles it too. While a method
 * starts, its own transitions are not judged (`starting`): one that fails halfway would be taken for an
 * end. All ways out but a withdrawal lead through `settle`, which frees the victim at once and tells those
 * who wait at the end of the turn: after victim_settle() `v` is gone. */
#include "victim.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "preempt_budget.h"
#include "clock.h"
#include "earmark_sums.h"
#include "job_fsm.h"
#include "job_run.h"
#include "log.h"
#include "loop.h"
#include "preempt_record.h"
#include "run_withdraw.h"
#include "stop_method.h"
#include "preempt_notice.h"
#include "pbs_error.h"
#include "preempt_policy.h"
#include "plan_offer.h"
#include "server_ctx.h"

struct victim_waiter {
    victim_done_fn *done;
    victim_offer_fn *offer;
    void *arg;
    struct victim_waiter *next;
};

struct victim {
    struct victims *all;
    struct job *job; /* referenced */
    struct loop_timer *deadline;
    struct victim_waiter *waiters;
    bool starting;    /* inside a method's start: transitions that it causes are judged after it */
    bool withdrawing; /* no request is left, and its hosts are told that it may run on */
    bool too_early;   /* the next method can only be tried when the job has started */
};

struct victims {
    struct loop *loop;
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct stop_methods *stop_methods;
    struct preempt_notices *preempt_notices;
    struct run_withdraw *run_withdraw;
};

static void victim_try_next(struct victim *v);
static void victim_forget(struct victim *v);

/* --- the end ---------------------------------------------------------------------------------------- */

struct victim_result {
    struct job *job;
    enum preempt_result result;
    struct victim_waiter *waiters;
};

static void victim_tell(void *arg)
{
    struct victim_result *t = arg;

    for (struct victim_waiter *w = t->waiters, *next; w; w = next) {
        next = w->next;
        if (w->done)
            w->done(w->arg, t->job, t->result);
        free(w);
    }
    job_unref(t->job);
    free(t);
}

static void victim_news(const struct victims *all, enum server_event_kind k, struct job *j,
                        enum preempt_result r)
{
    const struct preempt_record *p = j->preempt;

    server_events_tell(
        all->ctx->events,
        &(struct server_event){
            .kind = k,
            .job = j,
            .result = r,
            .by = p->by,
            .lost_core_s = preempt_method_row(preempt_result_method(r))->loses_work ? p->lost_core_s : 0});
}

/* Every victim settles here. Requesters are told at the end of the turn, when the change under way is complete. */
static void victim_settle(struct victim *v, enum preempt_result r)
{
    struct victims *all = v->all;
    struct job *j = v->job;
    struct victim_result *t = malloc(sizeof *t);

    if (!t)
        abort(); /* a lost answer would hang a scheduler */
    /* Listeners read the preempt record, so it is dropped last; `t` keeps the job, which may be history by now. */
    preempt_notices_settled(all->preempt_notices, j, r);
    preempt_record_note_end(all->ctx, j,
                            r); /* behind it: for whom it is suspended is what its comment says */
    victim_news(all, EVENT_JOB_PREEMPTED, j, preempt_record_went_otherwise(j, r) ? PREEMPT_ENDED : r);
    preempt_record_drop(all->ctx, j);
    *t = (struct victim_result){.job = job_ref(j), .result = r, .waiters = v->waiters};
    j->victim = NULL;
    loop_timer_destroy(v->deadline);
    job_unref(j);
    free(v);
    if (loop_defer(all->loop, victim_tell, t) < 0)
        abort();
}

/* --- one method after the other --------------------------------------------------------------------- */

/* A job that is just being started cannot be suspended yet. That is not a failure of the method. */
static bool is_too_early(struct victim *v, const struct stop_method *m)
{
    struct err e = {0};

    v->too_early = !v->too_early && v->job->state == JOB_STARTING && m->can(m->arg, v->job, &e) < 0;
    if (v->too_early)
        loop_timer_set(v->deadline, m->limit_s(v->job) * 1000);
    return v->too_early;
}

static void log_failed(const struct job *j, const struct stop_method *m, int code)
{
    log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "preemption method %s failed for job (%d)",
              preempt_method_row(m->id)->name, code);
}

/* Charge what is about to be lost to the queue of the job for which the victim gives way. */
static void victim_charge(struct victims *all, struct job *j)
{
    const struct earmark_obj *h = j->gives_way_to;

    if (j->preempt && h && h->job && h->job->queue)
        preempt_record_charge(all->ctx, j, h->job->queue);
}

static bool victim_try_one(struct victim *v, const struct stop_method *m)
{
    struct job *j = v->job;
    double loss = preempt_policy_loss(v->all->ctx, j, m->id);
    struct err e = {0};
    int rc;

    if (m->can(m->arg, j, &e) < 0) {
        log_failed(j, m, e.code);
        return false;
    }
    /* What the first method costs was agreed with the plan; each further one may cost more than the queue may spend. */
    if (j->preempt->tried.n > 1 && !preempt_budget_covers_next(v->all->ctx, j, loss, &e)) {
        log_event(LOGC_JOB, LOGE_DEBUG, j->obj.name, "preemption method %s is passed over: %s",
                  preempt_method_row(m->id)->name, e.text);
        return false;
    }
    j->preempt->method = m->id;
    j->preempt->lost_core_s = loss;
    earmark_sums_review_job(v->all->ctx, j); /* another method frees other things */
    jobs_touch(v->all->ctx->jobs, j, PART_HOT);
    loop_timer_set(v->deadline, m->limit_s(j) * 1000);
    v->starting = true; /* one that gives up halfway moves the job to and fro: that is not an end */
    rc = m->start(m->arg, j, &e);
    v->starting = false;
    if (rc == 0)
        victim_charge(v->all, j);
    if (rc < 0)
        log_failed(j, m, e.code);
    else if (j->preempt)
        victim_news(v->all, EVENT_JOB_PREEMPTING, j, preempt_method_row(m->id)->result);
    return rc == 0;
}

/* --- notice first -------------------------------------------------------------------------------------- */

/* The method under way has its time from now on. */
static void victim_set_limit(struct victim *v)
{
    const struct stop_method *m = stop_methods_find(v->all->stop_methods, v->job->preempt->method);

    if (m)
        loop_timer_set(v->deadline, m->limit_s(v->job) * 1000);
}

static void wait_for_deadline(struct victim *v)
{
    loop_timer_set(v->deadline, v->job->preempt->notice.deadline_ms - clock_wall_ms(v->all->ctx->clock));
}

/* true: the job has been told; its deadline or its answer continues with victim_try_next. */
static bool gives_notice(struct victim *v, const struct stop_method *m)
{
    if (!preempt_notices_give(v->all->preempt_notices, v->job, m))
        return false;
    wait_for_deadline(v);
    return true;
}

/* A job that is about to end in any case is given no method: its end settles the victim. */
static bool is_ending(const struct job *j)
{
    return j->intent != INTENT_NONE || j->state == JOB_EXITING;
}

/* The notice is over: its deadline has come, or the job is ready. */
static void notice_over(struct victim *v)
{
    preempt_notices_close(v->all->preempt_notices, v->job);
    loop_timer_cancel(v->deadline);
    if (!is_ending(v->job))
        victim_try_next(v);
}

/* Ask the requester that takes offers: a plan, of which a job has at most one. */
static int ask_waiters(const struct victim *v, struct err *e)
{
    for (const struct victim_waiter *w = v->waiters; w; w = w->next)
        if (w->offer)
            return w->offer(w->arg, v->job, e);
    return err_set(e, PBSE_BADSTATE, "the request does not say what is needed");
}

static int victim_consider(struct victim *v, const char *nodes, struct err *e)
{
    struct job *j = v->job;
    struct strbuf names;
    int rc;

    strbuf_init(&names, 1 << 16);
    rc = plan_offer_names(j, nodes, &names, e);
    if (rc == 0)
        job_set_text(&j->preempt->offer, strbuf_str(&names));
    strbuf_fini(&names);
    if (rc == 0)
        rc = ask_waiters(v, e);
    if (rc < 0)
        job_set_text(&j->preempt->offer, NULL);
    return rc;
}

/* The job keeps the rest: the notice is withdrawn, and the release of what it offers is the next method. */
static void take_offer(struct victim *v, const char *service, const char *nodes)
{
    struct preempt_record *m = v->job->preempt;
    struct err e = {0};
    char why[300]; /* cut where more vnodes are named */

    if (victim_consider(v, nodes, &e) < 0) {
        preempt_notices_refuse_offer(v->all->preempt_notices, v->job, service, e.text);
        return;
    }
    preempt_methods_add_first(&m->left, METHOD_RELEASE);
    snprintf(why, sizeof why, "%s is enough", m->offer);
    preempt_notices_withdraw(v->all->preempt_notices, v->job, why);
    earmark_sums_review_job(v->all->ctx, v->job);
    loop_timer_cancel(v->deadline);
    victim_try_next(v);
}

void victims_on_notice_reply(void *arg, const struct server_event *ev)
{
    const struct victims *all = arg;
    struct victim *v = ev->job->victim;

    switch (preempt_notices_answer(all->preempt_notices, ev->job, ev->service, ev->notice)) {
    case PREEMPT_NOTICE_NOTHING:
        break;
    case PREEMPT_NOTICE_NOW:
        notice_over(v);
        break;
    case PREEMPT_NOTICE_LATER:
        wait_for_deadline(v);
        break;
    case PREEMPT_NOTICE_OFFER:
        take_offer(v, ev->service, ev->notice->nodes);
        break;
    }
}

void victims_on_parties(void *arg, const struct server_event *ev)
{
    const struct victims *all = arg;
    struct victim *v = ev->job->victim;

    if (v && !v->starting && ev->job->run && job_run_is_wanted(ev->job) &&
        preempt_notices_review(all->preempt_notices, ev->job))
        notice_over(v);
}

/* The result that the job's present state implies: settled by its method, or gone in another way. OPEN: not yet. */
static enum preempt_result victim_verdict(const struct victim *v)
{
    const struct job *j = v->job;
    const struct stop_method *m = stop_methods_find(v->all->stop_methods, j->preempt->method);
    const struct stop_method *gone = stop_methods_find(v->all->stop_methods, METHOD_DELETE);

    if (m && m->settled(m->arg, j))
        return preempt_method_row(m->id)->result;
    if (gone->settled(gone->arg, j))
        return PREEMPT_DELETED;
    return job_is_waiting(j) ? PREEMPT_REQUEUED : PREEMPT_OPEN;
}

static void victim_try_next(struct victim *v)
{
    enum method_id id;

    while ((id = preempt_methods_first(&v->job->preempt->left)) != METHOD_NONE) {
        const struct stop_method *m = stop_methods_find(v->all->stop_methods, id);
        enum preempt_result r;

        if (m && (is_too_early(v, m) || gives_notice(v, m)))
            return;
        preempt_record_take_method(v->job->preempt);
        if (m && m->settled(m->arg, v->job)) { /* a second request: it is suspended already */
            victim_settle(v, preempt_method_row(id)->result);
            return;
        }
        if (!m || !victim_try_one(v, m))
            continue;
        r = victim_verdict(v);
        if (r)
            victim_settle(v, r);
        return;
    }
    victim_settle(v, PREEMPT_FAILED);
}

static void victim_too_long(void *arg)
{
    struct victim *v = arg;

    if (preempt_notice_is_given(v->job->preempt)) {
        notice_over(v);
        return;
    }
    log_event(LOGC_JOB, LOGE_ADMIN, v->job->obj.name,
              "preemption method %s has not ended in its time; %u methods are left",
              preempt_method_row(v->job->preempt->method)->name, (unsigned)v->job->preempt->left.n);
    victim_try_next(v);
}

/* An attempt has failed at its hosts. */
void victims_on_method_failed(void *arg, const struct server_event *ev)
{
    const struct victims *all = arg;
    struct job *j = ev->job;

    if (!j->victim || j->preempt->method != ev->id || j->victim->starting || j->victim->withdrawing)
        return;
    log_failed(j, stop_methods_find(all->stop_methods, ev->id), ev->code);
    victim_try_next(j->victim);
}

/* A request has ended the job at last, and not the preemption that was withdrawn. */
static bool is_wish_to_end(enum job_event ev)
{
    return ev == EV_DELETE || ev == EV_REQUEUE || ev == EV_FORCE_DELETE || ev == EV_FORCE_REQUEUE;
}

/* The listener. A job whose end was asked for by its owner, or that ends by itself, settles too. */
void victims_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    enum preempt_result r;

    if (!j->victim || j->victim->starting)
        return;
    if (j->victim->withdrawing && is_wish_to_end(ev)) {
        victim_forget(j->victim);
        return;
    }
    r = victim_verdict(j->victim);
    if (r)
        victim_settle(j->victim, r);
    else if (j->victim->too_early && j->state != JOB_STARTING)
        victim_try_next(j->victim);
}

void victims_on_host_over(void *arg, const struct server_event *ev)
{
    struct victim *v = ev->job->victim;
    enum preempt_result r = v && !v->starting ? victim_verdict(v) : PREEMPT_OPEN;

    if (r)
        victim_settle(v, r);
    else
        victims_on_parties(arg, ev);
}

/* --- beginning -------------------------------------------------------------------------------------- */

static int add_waiter(struct victim *v, const struct victim_ask *ask, struct err *e)
{
    struct victim_waiter *w = malloc(sizeof *w);

    if (!w)
        return err_set(e, PBSE_SYSTEM, "no memory to preempt %s", v->job->obj.name);
    *w = (struct victim_waiter){ask->done, ask->offer, ask->arg, v->waiters};
    v->waiters = w;
    return 0;
}

static struct victim *victim_create(struct victims *all, struct job *j, struct err *e)
{
    struct victim *v = calloc(1, sizeof *v);

    if (v)
        v->deadline = loop_timer_create(all->loop, LOOP_CLOCK, victim_too_long, v);
    if (!v || !v->deadline) {
        free(v);
        err_set(e, PBSE_SYSTEM, "no memory to preempt %s", j->obj.name);
        return NULL;
    }
    v->all = all;
    v->job = job_ref(j);
    j->victim = v;
    return v;
}

static void victim_drop_waiters(struct victim *v)
{
    for (struct victim_waiter *w = v->waiters, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    v->waiters = NULL;
}

static void victim_drop(struct victim *v)
{
    victim_drop_waiters(v);
    v->job->victim = NULL;
    loop_timer_destroy(v->deadline);
    job_unref(v->job);
    free(v);
}

/* It is not preempted: nothing of it remains. */
static void victim_forget(struct victim *v)
{
    struct victims *all = v->all;
    struct job *j = v->job;

    preempt_record_withdraw(all->ctx, j);
    victim_drop(v);
}

int victims_begin(struct victims *all, struct job *j, const struct victim_ask *ask, struct err *e)
{
    struct victim *v = j->victim;

    /* The withdrawal of another preemption is under way: the first method of this one overtakes it. */
    if (v && v->withdrawing)
        victim_forget(v);
    else if (v)
        return add_waiter(v, ask, e);
    if (!(v = victim_create(all, j, e)))
        return -1;
    if (add_waiter(v, ask, e) < 0 || preempt_record_make(all->ctx, j, &ask->record, e) < 0) {
        victim_drop(v);
        return -1;
    }
    jobs_touch(all->ctx->jobs, j, PART_HOT);
    if (job_run_is_withdrawing(j)) {
        victim_try_next(v);
        return 0;
    }
    if (j->intent == INTENT_DELETE || j->state == JOB_EXITING ||
        (j->intent != INTENT_NONE && !ask->record.methods.n))
        return 0; /* it is on its way out: its end settles this */
    victim_try_next(v);
    return 0;
}

/* SIGTERM has been sent, or will be. What the job makes of it tells its hosts; the limit of the method means nothing then. */
static bool victim_call_back(struct victim *v, const char *why)
{
    if (!run_withdraw_begin(v->all->run_withdraw, v->job))
        return false;
    victim_drop_waiters(v);
    v->withdrawing = true;
    loop_timer_cancel(v->deadline);
    preempt_notices_withdraw_end(v->all->preempt_notices, v->job, why);
    return true;
}

void victims_on_withdrawn(void *arg, const struct server_event *ev)
{
    struct victim *v = ev->job->victim;

    if (!v || !v->withdrawing)
        return;
    if (ev->kind == EVENT_RUN_STAYS) {
        victim_forget(v);
        return;
    }
    v->withdrawing = false;
    victim_set_limit(v);
}

bool victims_withdraw(struct victims *all, struct job *j, void *arg, const char *why)
{
    struct victim *v = j->victim;

    if (!v || v->withdrawing)
        return false;
    for (const struct victim_waiter *w = v->waiters; w; w = w->next)
        if (w->done && w->arg != arg) /* another request waits for it too */
            return false;
    if (j->preempt->method)
        return victim_call_back(v, why);
    if (is_ending(j))
        return false;
    preempt_notices_withdraw(all->preempt_notices, j, why);
    victim_drop(v);
    preempt_record_drop(all->ctx, j);
    return true;
}

void victims_restore(struct victims *all, struct job *j)
{
    struct err e;

    if (j->preempt && !j->victim && !victim_create(all, j, &e))
        log_err(LOGC_JOB, j->obj.name, &e, "its preemption does not continue");
}

void victims_carry_on(struct victims *all, struct job *j)
{
    struct victim *v = j->victim;
    const struct stop_method *m;

    if (!v)
        return;
    m = stop_methods_find(all->stop_methods, j->preempt->method);
    v->withdrawing = job_run_is_withdrawing(j);
    if (victim_verdict(v))
        victim_settle(v, victim_verdict(v));
    else if (v->withdrawing)
        ; /* its hosts answer after HELLO */
    else if (preempt_notice_is_given(j->preempt))
        wait_for_deadline(v);
    else if (m) /* its orders are given again when the hosts say HELLO; only the deadline is missing */
        victim_set_limit(v);
    else if (!is_ending(j))
        victim_try_next(v);
}

struct victims *victims_create(struct loop *l, struct server_ctx *s, struct job_fsm *f,
                               struct stop_methods *m, struct preempt_notices *n, struct run_withdraw *w)
{
    struct victims *v = calloc(1, sizeof *v);

    if (!v)
        return NULL;
    *v = (struct victims){
        .loop = l, .ctx = s, .fsm = f, .stop_methods = m, .preempt_notices = n, .run_withdraw = w};
    return v;
}

void victims_destroy(struct victims *v)
{
    if (!v)
        return;
    for (struct job *j = jobs_first(v->ctx->jobs); j; j = jobs_next(j))
        if (j->victim)
            victim_drop(j->victim);
    free(v);
}
