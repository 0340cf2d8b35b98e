/* Jobs that could not run, and what that means for those behind them: see backfill.h and calendar.h.
 *
 * strict_ordering: the first of them are booked in the calendar (backfill_depth), or, where there is to be
 * none, stop all jobs behind them. Jobs that were preempted are booked in any case with
 * sched_preempt_enforce_resumption, unless their level is below normal_jobs. What is booked lasts for one
 * cycle and is worked out again in the next; `tops` remembers which job was told what, and that such a job
 * is still as it was, since when it goes others may run.
 *
 * Invariant: a job is in `aside` exactly while it is out of its class by classes_take_out, which ends with
 * the cycle. Rules: doc/scheduling.md. */
#include "backfill.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fairshare_accrual.h"
#include "attempt.h"
#include "calendar.h"
#include "classes.h"
#include "gang.h"
#include "intern.h"
#include "keeps.h"
#include "preempt_level.h"
#include "log.h"
#include "mem.h"
#include "job_order.h"
#include "placement.h"
#include "shrink_to_fit.h"
#include "trial.h"
#include "cycle_state.h"

enum {
    /* At most so many requeued victims are booked in one cycle for having been preempted: each booking is a
     * search, and a preemption may have requeued hundreds. A choice; suspended ones are not counted. */
    REQUEUED_MAX = 16,
    /* An estimate that moves by less is not sent again: each sending is a request. A choice. */
    TOLD_APART_S = 5
};

/* A job that others wait for: booked, or one that only stops them. Kept from cycle to cycle. */
struct top {
    const char *job, *where; /* interned; where NULL: it only stops others */
    int64_t at_s;
    uint64_t look; /* backfill_seen when it was noted: another one now means that the job has changed */
    bool is_now;   /* in the cycle under way */
};

/* A booked job and the class that it goes back to. */
struct aside {
    struct job *job;
    struct class *class;
};

struct backfill {
    struct cluster *cl;
    struct calendar *calendar;
    struct top *tops;
    size_t n_tops, cap_tops;
    struct aside *aside; /* booked, so that the next ones of their classes are looked at */
    size_t n_aside, cap_aside, n_requeued;
    bool is_shut; /* no other job may run in this cycle */
};

struct backfill *backfill_create(struct cluster *cl)
{
    struct backfill *a = mem_new(1, sizeof *a);

    a->cl = cl;
    a->calendar = calendar_create(cl);
    return a;
}

/* The last entry takes its place, so callers that walk go backwards. */
static void drop_top(struct backfill *a, size_t i)
{
    intern_unref(a->tops[i].job);
    intern_unref(a->tops[i].where);
    a->tops[i] = a->tops[--a->n_tops];
}

void backfill_destroy(struct backfill *a)
{
    if (!a)
        return;
    while (a->n_tops > 0)
        drop_top(a, 0);
    calendar_destroy(a->calendar);
    free(a->tops);
    free(a->aside);
    free(a);
}

bool backfill_is_owed(const struct cluster *cl, const struct job *j)
{
    const struct policy *p = cluster_policy(cl);

    return p->enforce_resumption && j->preempted_s &&
           preempt_level_of(cl, j) >= preempt_order_prio_value(&p->prio, PRIO_NORMAL, 0);
}

/* What of a top job changes its booking: of a full array not how many indices are left, as none of them begins before a subjob ends. */
static uint64_t backfill_seen(const struct job *j)
{
    return j->is_full ? j->rest_look : j->look;
}

/* A job without a class runs, is held or has gone to another scheduler's queue: it stops no job any more. */
bool backfill_has_changed(const struct backfill *a)
{
    for (size_t i = 0; i < a->n_tops; i++) {
        const struct job *j = cluster_job(a->cl, a->tops[i].job);
        if (!j || !j->class || backfill_seen(j) != a->tops[i].look)
            return true;
    }
    return false;
}

void backfill_begin(struct backfill *a, int64_t now_s)
{
    for (size_t i = 0; i < a->n_tops; i++)
        a->tops[i].is_now = false;
    for (struct queue *q = cluster_next_queue(a->cl, NULL); q; q = cluster_next_queue(a->cl, q)) {
        q->n_top = 0;
        q->is_shut = false;
    }
    cluster_server(a->cl)->n_top = 0;
    a->is_shut = false;
    a->n_requeued = 0;
    calendar_begin(a->calendar, now_s);
}

void backfill_started(struct backfill *a)
{
    calendar_started(a->calendar);
}

void backfill_rest(struct backfill *a)
{
    calendar_rest(a->calendar);
}

bool backfill_forbids(const struct backfill *a, const struct job *j)
{
    return !j->urged && (a->is_shut || j->queue->is_shut);
}

/* --- room beside what is booked -------------------------------------------------------------------------- */

/* Room on vnodes, then limits: the calendar keeps counts of jobs and amounts as well as vnodes. */
static bool backfill_fits(struct cycle *c, const struct picker *k, const struct preemptor *p,
                          struct allocation *where, struct reason *why)
{
    return attempt_room(k, p, where, why) && calendar_allows(c->backfill->calendar, p->job, why);
}

/* May the question without bookings be asked first, because its "no" holds beside them too? A job of one
 * kind of chunk is not helped by less room, and where the sums do not suffice no job is. A job of several
 * kinds may fit beside bookings only, since first fit then takes other vnodes. */
static bool is_first_without(const struct picker *k, const struct preemptor *p)
{
    return p->request->n == 1 || !pick_may_suffice(k, p);
}

/* The place that was found is thrown away: only the reason is of interest. */
static bool backfill_conflicts(struct allocation *where, struct reason *why)
{
    reason_set(why, REASON_CONFLICT, NULL, NULL);
    allocation_fini(where);
    return false;
}

/* Find room beside what is kept for others. A job that would fit only without that conflicts with it. Most jobs find none in any
 * case, so that is asked first. */
static bool find_beside(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why)
{
    size_t mark = trial_mark(c->trial);
    bool is_first = is_first_without(picker, p), kept, found;

    if (p->job->within ||
        !calendar_may_delay(c->backfill->calendar, p->job)) /* booked jobs have no claim to that room */
        return attempt_room(picker, p, where, why);
    if (is_first) {
        found = attempt_room(picker, p, where, why);
        trial_undo(c->trial, mark);
        allocation_fini(where);
        if (!found)
            return false;
    }
    kept = calendar_keep(c->backfill->calendar, c->trial, p->job, CALENDAR_ENDS);
    found = backfill_fits(c, picker, p, where, why);
    trial_undo(c->trial, mark);
    if (found || !kept)
        return found;
    allocation_fini(where);
    if (is_first)
        return backfill_conflicts(where, why);
    return attempt_room(picker, p, where, why) && backfill_conflicts(where, why);
}

struct look {
    struct cycle *c;
    const struct picker *picker;
    const struct preemptor *p;
};

/* A shrink_try_fn; `arg` is the question as find_some_time asks it. */
static bool backfill_look(void *arg, struct allocation *where, struct reason *why)
{
    const struct look *x = arg;

    return find_beside(x->c, x->picker, x->p, where, why);
}

/* The same for a job with min_walltime, which is tried shorter and shorter. */
static bool find_some_time(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                           struct allocation *where, struct reason *why)
{
    struct look x = {c, picker, p};
    struct job *j = cluster_job(c->cl, p->job->id);
    struct shrink s = {c->cl, c->backfill->calendar, c->keeps, picker->log, j, p->now_s, backfill_look, &x};

    return j && j->least_s ? shrink_to_fit_find(&s, where, why) : backfill_look(&x, where, why);
}

/* Promises of time slices are room that waiting jobs of gang queues were told they would get: taken for the
 * length of the search. */
bool backfill_find_room(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why)
{
    size_t mark = trial_mark(c->trial);

    gang_keep_promises(c->gang, c->trial, p->job->queue);
    bool found = find_some_time(c, picker, p, where, why);
    trial_undo(c->trial, mark);
    return found;
}

/* No ends are counted: a job that would be stopped must not free its room twice, by its end and as a
 * victim. */
void backfill_keep_from_victims(struct cycle *c, const struct job *urgent)
{
    calendar_keep(c->backfill->calendar, c->trial, urgent, CALENDAR_NO_ENDS);
}

/* --- what people are told ---------------------------------------------------------------------------------- */

/* Its entry, made if there is none. Few jobs are top jobs (backfill_depth), so a walk will do. */
static struct top *top_of(struct backfill *a, const struct job *j)
{
    for (size_t i = 0; i < a->n_tops; i++)
        if (strcmp(a->tops[i].job, j->id) == 0)
            return &a->tops[i];
    a->tops = mem_room(a->tops, a->n_tops, &a->cap_tops, sizeof *a->tops);
    a->tops[a->n_tops] = (struct top){.job = mem_intern(j->id)};
    return &a->tops[a->n_tops++];
}

/* Whatever it is told, it is a top job of this cycle. */
static struct top *note_top(struct backfill *a, const struct job *j)
{
    struct top *t = top_of(a, j);

    t->look = backfill_seen(j);
    t->is_now = true;
    return t;
}

/* Tell the server what a job was promised, if it does not know it: another place, a time that has moved by
 * enough, or a job of which this scheduler never said it. The line of the log comes each time, in PBS's
 * words. */
static void backfill_say(struct cycle *c, struct job *j, const struct booking *b)
{
    struct top *t = note_top(c->backfill, j);
    char *text = placement_text(c->cl, &b->where);
    const char *where = mem_intern(text);
    int64_t moved_s = b->from_s > t->at_s ? b->from_s - t->at_s : t->at_s - b->from_s;
    time_t at = (time_t)b->from_s;
    char when[32];

    ctime_r(&at, when);
    when[24] = '\0'; /* the line's end */
    decisions_log(c->d, LOGE_DEBUG, j->id, "Job is a top job and will run at %s", when);
    if (where != t->where || moved_s >= TOLD_APART_S || !j->is_top) {
        decisions_add(c->d, DECIDE_TOP, j->id, text)->at_s = b->from_s;
        t->at_s = b->from_s;
        j->is_top = true;
    }
    intern_unref(t->where);
    t->where = where;
    free(text);
}

/* Is there an entry, from this cycle or an earlier one? Else another scheduler's process has made it a top
 * job. */
static bool is_told(const struct backfill *a, const struct job *j)
{
    for (size_t i = 0; i < a->n_tops; i++)
        if (strcmp(a->tops[i].job, j->id) == 0)
            return true;
    return false;
}

static void tell_no_top(struct cycle *c, struct job *j)
{
    decisions_add(c->d, DECIDE_TOP, j->id, "");
    j->is_top = false;
}

/* --- between cycles ---------------------------------------------------------------------------------------- */

struct calendar *backfill_calendar(const struct backfill *a)
{
    return a->calendar;
}

bool backfill_is_booked(const struct cycle *c, const struct job *j)
{
    const struct backfill *a = c->backfill;

    for (size_t i = 0; i < a->n_tops; i++)
        if (a->tops[i].where && strcmp(a->tops[i].job, j->id) == 0)
            return true;
    return false;
}

/* By the order between classes, at the levels of this moment. */
bool backfill_is_before(const struct cycle *c, const struct job *a, const struct job *b)
{
    return job_order_compare_heads(cluster_policy(c->cl), a, preempt_level_of(c->cl, a), b,
                                   preempt_level_of(c->cl, b)) < 0;
}

/* Insertion into a sorted list: there are as many as backfill_depth, mostly one. */
struct job **backfill_tops_before(const struct cycle *c, const struct job *j, size_t *n)
{
    const struct backfill *a = c->backfill;
    struct job **list = mem_new(a->n_tops + 1, sizeof(struct job *));

    *n = 0;
    for (size_t i = 0; i < a->n_tops; i++) {
        struct job *t = a->tops[i].where ? cluster_job(c->cl, a->tops[i].job) : NULL;
        if (!t || t == j || !t->class || !backfill_is_before(c, t, j))
            continue;
        size_t at = (*n)++;
        for (; at > 0 && backfill_is_before(c, t, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = t;
    }
    return list;
}

/* Book them as the next cycle would. */
static void rehearse(struct cycle *c, const struct picker *picker, const struct preemptor *p)
{
    size_t n;
    struct job **tops = backfill_tops_before(c, p->job, &n);

    calendar_begin(c->backfill->calendar, p->now_s);
    for (size_t i = 0; i < n; i++) {
        struct preemptor top = *p;
        top.job = tops[i];
        top.request = tops[i]->class->request;
        top.level = preempt_level_of(c->cl, tops[i]);
        calendar_book_next(c->backfill->calendar, picker, &top);
    }
    calendar_rest(c->backfill->calendar);
    free(tops);
}

static struct queue *depth_of(const struct backfill *a, const struct job *j, int64_t *depth);

/* Does this job, which could not run, stop all behind it, whatever their queue? The rule of hold_order, for
 * one that has been held. */
static bool stops_all(const struct backfill *a, const struct job *j)
{
    const struct policy *p = cluster_policy(a->cl);
    int64_t depth;
    struct queue *q = depth_of(a, j, &depth);

    return !p->strict_fifo && (!p->backfill || (depth == 0 && q == cluster_server(a->cl)));
}

/* Is it behind a job that the last cycle could not run, and that stops it? A job that has come since is in no class that was told so. */
static bool is_stopped(const struct cycle *c, const struct job *j)
{
    const struct backfill *a = c->backfill;

    for (size_t i = 0; i < a->n_tops; i++) {
        const struct job *t = a->tops[i].where ? NULL : cluster_job(c->cl, a->tops[i].job);
        if (t && t != j && t->class && (t->queue == j->queue || stops_all(a, t)) &&
            backfill_is_before(c, t, j))
            return true;
    }
    return false;
}

/* Between cycles: as the next cycle would look for room. What the last cycle found out is used where it
 * still holds (a class that was told REASON_STRICT_ORDER); bookings are made again, and all of it is taken
 * back. */
bool backfill_room(void *cycle, const struct picker *picker, const struct preemptor *p,
                   struct allocation *where, struct reason *why)
{
    struct cycle *c = cycle;
    const struct class *k = p->job->class;

    if (k && k->why.code == REASON_STRICT_ORDER) {
        *why = k->why;
        return false;
    }
    if (!p->job->urged && is_stopped(c, p->job)) {
        reason_set(why, REASON_STRICT_ORDER, NULL, NULL);
        return false;
    }
    keeps_make(c->keeps, p->now_s, INT64_MAX);
    rehearse(c, picker, p);
    bool fits = find_some_time(c, picker, p, where, why);
    struct job *j = cluster_job(c->cl, p->job->id);
    if (j)
        j->short_s = 0;
    calendar_begin(c->backfill->calendar, p->now_s);
    return fits;
}

/* --- what a failure means ---------------------------------------------------------------------------------- */

/* Count what it is going to use for the jobs behind it, as if it had begun: with fair_share the next job of
 * the same entity goes behind jobs of others. Forgotten when the next cycle begins. */
static void count_share(struct cycle *c, const struct job *j)
{
    if (!cluster_policy(c->cl)->fair_share || !j->share || j->sched_state == SCHED_STATE_SUSPENDED)
        return;
    accrual_ordered(c->accrual, j);
    decisions_log(c->d, LOGE_DEBUG, j->id,
                  "Fairshare usage of entity %s increased due to job becoming a top job.",
                  fairshare_name(j->share));
}

/* One booking: ask the calendar, tell the job. false: no time was found. */
static bool book(struct cycle *c, struct job *j, const struct picker *k, const struct preemptor *p,
                 const struct reason *why)
{
    char text[REASON_TEXT_MAX];

    decisions_log(c->d, LOGE_DEBUG, j->id, "Estimating the start time for a top job (q=%s schedselect=%s).",
                  j->queue->name, j->select ? j->select : "");
    const struct booking *b = calendar_book_next(c->backfill->calendar, k, p);
    if (b) {
        backfill_say(c, j, b);
        count_share(c, j);
        return true;
    }
    decisions_log(c->d, LOGE_DEBUG, j->id, "Can't find start time estimate %s", reason_log(why, text));
    decisions_log(c->d, LOGE_DEBUG, j->id, "Error in calculation of start time of top job");
    return false;
}

/* sched_preempt_enforce_resumption. n_requeued counts tries, not bookings: it bounds the searches. */
static bool may_book_owed(struct backfill *a, const struct job *j)
{
    return backfill_is_owed(a->cl, j) &&
           (j->sched_state == SCHED_STATE_SUSPENDED || a->n_requeued++ < REQUEUED_MAX);
}

/* Which backfill_depth counts for the job, that of its queue or of the server (its default is 1), and how
 * many jobs may be booked against it. Return the one whose n_top counts. */
static struct queue *depth_of(const struct backfill *a, const struct job *j, int64_t *depth)
{
    struct queue *server = cluster_server(a->cl);

    if (j->queue->depth >= 0) {
        *depth = j->queue->depth;
        return j->queue;
    }
    *depth = server->depth >= 0 ? server->depth : 1;
    return server;
}

/* The job stops those behind it and nothing is planned for it: if it was a top job of an earlier cycle it
 * is none any more, and is told so. It is noted with `where` NULL. */
static void note_stops(struct cycle *c, struct job *j)
{
    struct top *t = note_top(c->backfill, j);

    if (j->is_top)
        tell_no_top(c, j);
    intern_unref(t->where);
    t->where = NULL;
    t->at_s = 0;
}

/* The order is binding. One of four: it stops its queue (strict_fifo; depth 0 of the queue), it stops all
 * (no backfill; depth 0 of the server), it is booked, or there are enough bookings and it stops no job.
 * true: booked. */
static bool hold_order(struct cycle *c, struct job *j, const struct picker *k, const struct preemptor *p,
                       const struct reason *why)
{
    const struct policy *policy = cluster_policy(c->cl);
    struct backfill *a = c->backfill;
    int64_t depth;
    struct queue *q = depth_of(a, j, &depth);

    if (why->code == REASON_SUBJOBS && (policy->strict_fifo || !policy->backfill || depth == 0))
        return false; /* it waits for its own subjobs, so it stops no others */
    if (policy->strict_fifo)
        j->queue->is_shut = true;
    else if (!policy->backfill || (depth == 0 && q == cluster_server(c->cl)))
        a->is_shut = true;
    else if (depth == 0)
        q->is_shut = true;
    else if (q->n_top < depth && !j->never_top) {
        bool booked = book(c, j, k, p, why);

        q->n_top += booked; /* one without a start time leaves its place to the next */
        return booked;
    } else
        return false;
    note_stops(c, j);
    return false;
}

/* Jobs that stop none: one that can never run, one that a request asks for (it is refused), one that waits
 * for its own reservation's room, and one that was itself stopped. */
bool backfill_failed(struct cycle *c, struct class *k, const struct picker *picker, const struct preemptor *p,
                     const struct reason *why)
{
    struct backfill *a = c->backfill;
    struct job *j = k->heap[0];
    bool booked = false;

    if (why->never || j->urged || j->within || why->code == REASON_STRICT_ORDER)
        return false;
    if (may_book_owed(a, j))
        booked = book(c, j, picker, p, why);
    else if (policy_is_strict(cluster_policy(c->cl)))
        booked = hold_order(c, j, picker, p, why);
    if (!booked) {
        if (j->is_top && !is_told(a, j)) /* by a scheduler before this one */
            tell_no_top(c, j);
        return false;
    }
    classes_take_out(k, j);
    a->aside = mem_room(a->aside, a->n_aside, &a->cap_aside, sizeof *a->aside);
    a->aside[a->n_aside++] = (struct aside){j, k};
    return true;
}

/* Backwards both times: entries leave. A job that has joined a class meanwhile (a resumed one that was
 * stopped again) is not put back twice. */
void backfill_end(struct cycle *c)
{
    struct backfill *a = c->backfill;

    backfill_rest(a);
    while (a->n_aside > 0) {
        struct aside *x = &a->aside[--a->n_aside];
        if (!x->job->class)
            classes_put_back(x->class, x->job);
    }
    for (size_t i = a->n_tops; i > 0; i--) {
        const struct top *t = &a->tops[i - 1];
        if (t->is_now)
            continue;
        struct job *j = cluster_job(a->cl, t->job);
        if (t->where && j)
            tell_no_top(c, j);
        drop_top(a, i - 1);
    }
}
