/* One scheduling cycle: cycle_run is the order of its steps, and cycle_consider what it does for one job.
 *
 * At its heart is a heap of the classes that may run; the class that has the next job of all is on top.
 * That job runs (the next job of its class takes its place), or other jobs give way to it, or it fails;
 * then its whole class leaves the heap, since its other jobs would fail alike.
 *
 * What keeps a cycle short: a class that failed is not tried again until cluster_news() has moved, or
 * cluster_stoppable() for a class that may preempt. So each part that makes something possible must note
 * news; where one forgets it, jobs wait until a cycle that tries all (cycle_retry_all).
 *
 * Invariants. Every decision takes its room in the cluster before the next job is looked at. The trial is
 * at mark 0 when a job is tried and at the end. No class is on the heap while its jobs are taken out of it by
 * other files, but for those that backfill_failed books, which are back when the cycle ends. `d` is
 * borrowed for the length of the call that sets it; nothing uses it between calls.
 *
 * The cycle calls down only. What is decided about one job is in cycle_decide.c, what a failure means for
 * the jobs behind in backfill.c, the room of running jobs in cycle_preempt.c, and what the server answers
 * to the decisions in cycle_answers.c. Reservations are placed by cycle_resv.c. Carrying decisions out is
 * not here (act.c). */
#include "cycle.h"

#include <stdlib.h>
#include <string.h>

#include "fairshare_accrual.h"
#include "attempt.h"
#include "buckets.h"
#include "candidates.h"
#include "class_heap.h"
#include "classes.h"
#include "gang.h"
#include "inside.h"
#include "keeps.h"
#include "primetime.h"
#include "intern.h"
#include "preempt_level.h"
#include "log.h"
#include "mem.h"
#include "job_order.h"
#include "pbs_error.h"
#include "placement.h"
#include "preempt_plan.h"
#include "rating.h"
#include "trial.h"
#include "cluster_order.h"
#include "cluster_array.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_state.h"
#include "cycle_resv.h"
#include "cycle_preempt.h"
#include "cycle_decide.h"
#include "backfill.h"

/* --- the order of steps ------------------------------------------------------------------------------ */

static int64_t cycle_until_s(struct cycle *c);
static void cycle_retry_refused(struct cycle *c);
static void cycle_note_due_times(struct cycle *c);
static void cycle_drop_lost_urges(struct cycle *c);
static void cycle_begin_rounds(struct cycle *c);
static void cycle_fill_heap(struct cycle *c);
static void cycle_keep_for_resvs(struct cycle *c);
static bool cycle_is_enough(struct cycle *c, int64_t checked);
static void cycle_consider(struct cycle *c, struct class *k);

void cycle_run(struct cycle *c, int64_t now_s, struct decisions *d)
{
    const struct policy *p = cluster_policy(c->cl);
    int64_t checked = 0;

    c->now_s = now_s;
    c->d = d;
    c->attempts = 0;
    cycle_time(c, now_s);

    /* Bring up to date what the last cycle left. All of it is done even where nothing is scheduled: room that is claimed by a
     * plan, a promise or a booking must not outlive its reason. Each step may note news, so all precede cycle_fill_heap, which
     * asks what has changed. */
    cycle_retry_refused(c);
    cycle_note_due_times(c);
    cycle_drop_lost_urges(c);
    fairshare_forget_expected(accrual_shares(c->accrual)); /* what was ordered is counted by now */
    plans_refresh(c->plans);
    classes_sweep(c->classes);
    gang_review(c->gang, now_s);
    if (backfill_has_changed(c->backfill)) /* a top job has gone: what was kept for it is free */
        cluster_note_news(c->cl);
    backfill_begin(c->backfill, now_s);

    if (!p->scheduling && c->n_urged == 0)
        return;
    if (!cluster_has_partition(c->cl)) {
        decisions_log(d, LOGE_SCHED, "", "Scheduler does not contain a partition");
        return;
    }

    /* Sort: ratings first, since the heap is ordered by them. From here on there are jobs to look at; what is
     * above runs in cycles that schedule nothing, too. */
    if (c->rerate)
        rating_refresh(c->rating);
    c->rerate = false;
    cycle_begin_rounds(c);
    decisions_log(d, LOGE_DEBUG, "", "Starting Scheduling Cycle");
    if (cluster_has_no_nodes(c->cl))
        decisions_log(d, LOGE_DEBUG, "", "No nodes found in partitions serviced by scheduler");
    placement_set_log(c->placer, d);
    c->until_s = cycle_until_s(c); /* before anything is kept: vnodes are told apart up to that time only */
    if (p->scheduling)
        cycle_resv_confirm(c); /* first: jobs get what reservations leave */
    cycle_fill_heap(c);
    cycle_keep_for_resvs(c);

    /* Jobs that already await room go before waiting jobs of no higher level: they were decided about first, and running one
     * elsewhere spares its victims. */
    if (p->scheduling)
        cycle_preempt_elsewhere(c, class_heap_top(c->heap) ? class_heap_top(c->heap)->level : 0);
    for (struct class *top; (top = class_heap_top(c->heap)) != NULL && !cycle_is_enough(c, checked);) {
        if (!p->scheduling && !top->heap[0]->urged) /* urged jobs are on top: none is left */
            break;
        cycle_consider(c, top);
        checked++;
    }

    backfill_end(c); /* booked jobs go back to their classes */
    placement_set_log(c->placer, NULL);
    decisions_log(d, LOGE_DEBUG, "", "Leaving Scheduling Cycle");
    placement_forget(c->placer); /* last: no step of a trial refers to its memory any more */
}

static bool cycle_try(struct cycle *c, struct class *k, const struct picker *picker,
                      const struct preemptor *p, struct reason *why);
static bool cycle_may_differ(const struct cycle *c, const struct class *k);
static void cycle_next_of_class(struct cycle *c);
static void cycle_book_full(struct cycle *c, const struct picker *picker, struct job *j);
static void cycle_relevel(struct cycle *c);
static void cycle_end_round(struct cycle *c, struct queue *q);
static void cycle_fail(struct cycle *c, struct class *k, struct job *j, const struct reason *why);
static void cycle_drop_top(struct cycle *c);

/* The job on top of the heap runs, has others give way, or fails, and the heap is put right for the next
 * one.
 *
 * Four ways out: an array has no index left, or is in another class by now (its entry is stale); the job
 * was decided about; it failed and is booked, so that the next job of its class is looked at in its place;
 * it failed, and its class with it. */
static void cycle_consider(struct cycle *c, struct class *k)
{
    struct job *j = k->heap[0];
    struct queue *q = k->queue;
    struct preemptor p = cycle_preemptor(c, k, j);
    struct picker picker = cycle_preempt_picker(c);
    struct reason why = k->why;
    bool is_shut = backfill_forbids(c->backfill, j);
    bool is_tried = !is_shut && cycle_may_differ(c, k);

    if (is_tried || j->urged)
        backfill_rest(c->backfill);
    if (j->is_array && (!cluster_array_is_open(c->cl, j) || j->class != k)) {
        cycle_next_of_class(c);
        return;
    }
    if (is_shut)
        reason_set(&why, REASON_STRICT_ORDER, NULL, NULL);
    else if (is_tried && cycle_try(c, k, &picker, &p, &why)) {
        cluster_settle_order(c->cl);
        cycle_next_of_class(c);
        cycle_relevel(c);
        cycle_book_full(c, &picker, j);
        cycle_end_round(c, q);
        return;
    }
    j->short_s = 0; /* it was shortened for a place that it did not get */
    bool is_booked = backfill_failed(c, k, &picker, &p, &why); /* first: cycle_fail may end an urged job */
    cycle_fail(c, k, j, &why);
    if (is_booked) {
        cycle_next_of_class(c);
        cycle_relevel(c); /* its share counts now */
    } else
        cycle_drop_top(c);
    cycle_end_round(c, q);
}

/* Try one job: free room first, then the room of other jobs. Return true if it is decided what becomes of it; otherwise `why`
 * says why it cannot run.
 *
 *   backfill_find_room     free room, beside what is kept for jobs before it (match, placement, placement sets)
 *   cycle_preempt_for_class  its turn of a time slice, else preemption:
 *     candidates_collect     which running jobs may be stopped for it
 *     pick_pbs, pick_least   which of these to stop, tried in a trial that is undone afterwards
 *     plans_begin            the victims are ordered to stop, and the job awaits their room
 *
 * What is decided takes effect in the cluster at once, so that the next job sees that room as taken. The caller of cycle_run
 * carries the decisions out (act.c). */
static bool cycle_try(struct cycle *c, struct class *k, const struct picker *picker,
                      const struct preemptor *p, struct reason *why)
{
    struct allocation where = {0};

    decisions_log(c->d, LOGE_DEBUG, p->job->id, "Considering job to run");
    rating_log(c->rating, p->job, c->d);
    bool fits = backfill_find_room(c, picker, p, &where, why);
    if (fits)
        cycle_decide_run(c, k->heap[0], &where);
    allocation_fini(&where);
    return fits || cycle_preempt_for_class(c, k, why);
}

/* --- creation ------------------------------------------------------------------------------------ */

/* Order matters: listeners of the cluster are told in the order in which they came. A share or a rating
 * must be known before a class is chosen by it. */
struct cycle *cycle_create(const char *sched_name, struct policy *policy)
{
    struct cycle *c = mem_new(1, sizeof *c);

    c->cl = cluster_create(sched_name, policy);
    c->accrual = accrual_create(c->cl); /* before the classes: a job's share tells which it is in */
    c->rating = rating_create(c->cl);
    c->buckets = buckets_create(c->cl);
    c->classes = classes_create(c->cl);
    c->trial = trial_create(c->cl);
    c->placer = placement_create(c->cl, c->buckets, c->trial);
    c->plans = plans_create(c->cl);
    c->gang = gang_create(c->cl);
    c->backfill = backfill_create(c->cl);
    c->keeps = keeps_create(c->cl);
    c->inside = inside_create(c->cl);
    c->heap = class_heap_create(c->cl);
    return c;
}

/* Parts first, that hold pointers into the cluster but do not listen; then the cluster is emptied while its
 * listeners are still there to forget their jobs and vnodes; then the listeners. */
void cycle_destroy(struct cycle *c)
{
    if (!c)
        return;
    inside_destroy(c->inside);
    backfill_destroy(c->backfill);
    gang_destroy(c->gang);
    plans_destroy(c->plans);
    placement_destroy(c->placer);
    trial_destroy(c->trial);
    cluster_gone_all(c->cl); /* tells the listeners of each job and vnode that goes */
    cluster_destroy(c->cl);
    keeps_destroy(c->keeps);
    classes_destroy(c->classes);
    buckets_destroy(c->buckets);
    rating_destroy(c->rating);
    accrual_destroy(c->accrual);
    for (size_t i = 0; i < c->n_urged; i++)
        intern_unref(c->urged[i]);
    free(c->urged);
    class_heap_destroy(c->heap);
    free(c);
}

struct cluster *cycle_cluster(struct cycle *c)
{
    return c->cl;
}

void cycle_on_elapsed(struct cycle *c, cycle_elapsed_fn *fn, void *arg)
{
    c->elapsed = fn;
    c->elapsed_arg = arg;
}

void cycle_on_step(struct cycle *c, cycle_step_fn *fn, void *arg)
{
    c->step = fn;
    c->step_arg = arg;
}

void cycle_time(struct cycle *c, int64_t now_s)
{
    accrual_time(c->accrual, now_s);
    rating_time(c->rating, now_s);
}

struct accrual *cycle_accrual(struct cycle *c)
{
    return c->accrual;
}

/* --- the classes in turn ----------------------------------------------------------------------------- */

/* No other job of its class would do better: the class is tried again when something has changed. */
static void cycle_drop_top(struct cycle *c)
{
    class_heap_drop_top(c->heap);
}

/* Could this class fit now, or could others be made to give way, where it was not so when it was tried
 * last?
 *
 * News means room for any class. A running job that has become stoppable matters only to a class that could
 * stop it: one that takes turns, or one with a level above the lowest that runs. A class that was never
 * tried has failed_at 0, which no count of news is. */
static bool has_changed(const struct cycle *c, const struct class *k)
{
    bool stoppable = k->failed_stoppable != cluster_stoppable(c->cl);

    if (k->failed_at != cluster_news(c->cl) || (stoppable && k->queue->gang))
        return true;
    return cluster_policy(c->cl)->preemptive && stoppable &&
           preempt_level_of(c->cl, k->heap[0]) > preempt_level_lowest_running(c->cl);
}

/* A class may have gone over a soft limit, or below it again, or its entity over its share: what was
 * decided may have changed the order of the rest. Without such levels in preempt_prio this is nothing. */
static void cycle_relevel(struct cycle *c)
{
    if (!preempt_level_moves(c->cl))
        return;
    cluster_note_stoppable(c->cl); /* jobs that were too high, or classes too low */
    class_heap_relevel(c->heap);
}

/* round_robin: this queue has had its turn. All classes of all queues may change places, so the heap is
 * made again. */
static void cycle_end_round(struct cycle *c, struct queue *q)
{
    q->rounds++;
    if (cluster_policy(c->cl)->round_robin)
        class_heap_order(c->heap);
}

/* round_robin begins with the first queue in every cycle: which queue was served last is not remembered. */
static void cycle_begin_rounds(struct cycle *c)
{
    for (struct queue *q = cluster_next_queue(c->cl, NULL); q; q = cluster_next_queue(c->cl, q))
        q->rounds = 0;
}

/* Has any class of a queue that takes turns changed? Then cycle_fill_heap asks all of them. */
static bool has_gang_changed(const struct cycle *c)
{
    for (struct class *k = classes_next(c->classes, NULL); k; k = classes_next(c->classes, k))
        if (k->n > 0 && k->queue->gang && has_changed(c, k))
            return true;
    return false;
}

/* Put the classes on the heap that this cycle must look at. What is promised to a job, or kept for it, is
 * not seen by another cycle: so of the classes that take turns all are asked or none, jobs that are not to
 * be kept waiting are always asked, and where the order of jobs is binding, all. */
static void cycle_fill_heap(struct cycle *c)
{
    bool gang = has_gang_changed(c), strict = policy_is_strict(cluster_policy(c->cl));
    bool moves = preempt_level_moves(c->cl); /* a decision about one may be the news of any other */
    size_t n_waiting = 0;

    class_heap_clear(c->heap);
    for (struct class *k = classes_next(c->classes, NULL); k; k = classes_next(c->classes, k)) {
        n_waiting += k->n > 0;
        if (k->n == 0 || !(has_changed(c, k) || (gang && k->queue->gang) || strict || moves ||
                           backfill_is_owed(c->cl, k->heap[0])))
            continue;
        gang_note_wait(k->heap[0], c->now_s);
        k->has_new = false;
        k->level = preempt_level_of(c->cl, k->heap[0]);
        class_heap_add(c->heap, k);
    }
    decisions_log(c->d, LOGE_DEBUG, "", "Number of job equivalence classes: %zu", n_waiting);
    class_heap_order(c->heap);
}

/* --- what becomes of a job --------------------------------------------------------------------------- */

/* Is there an urged job that this cycle must deal with? One that has gone, one that can no longer be run
 * (both are refused), or one that is in a class and so is looked at. One that awaits room is under way. */
static bool is_urged_open(const struct cycle *c)
{
    for (size_t i = 0; i < c->n_urged; i++) {
        const struct job *j = cluster_job(c->cl, c->urged[i]);
        if (!j || (j->sched_state != SCHED_STATE_AWAITING_ROOM && (!cycle_decide_may_run(j) || j->class)))
            return true;
    }
    return false;
}

/* Answer requests (qrun) for jobs that have gone, or that no longer have to be run. Backwards, since an
 * entry that leaves is replaced by the last one. */
static void cycle_drop_lost_urges(struct cycle *c)
{
    for (size_t i = c->n_urged; i > 0; i--) {
        struct job *j = cluster_job(c->cl, c->urged[i - 1]);
        if (j && (cycle_decide_may_run(j) || j->sched_state == SCHED_STATE_AWAITING_ROOM))
            continue;
        bool runs = j && job_holds_nodes(j); /* the server has carried a plan out */
        decisions_add(c->d, DECIDE_REFUSE, c->urged[i - 1], runs ? "" : "Job is not in queued state")->code =
            runs ? 0 : PBSE_BADSTATE;
        if (j)
            job_urge(j, false);
        intern_unref(c->urged[i - 1]);
        c->urged[i - 1] = c->urged[--c->n_urged];
    }
}

/* The class on top has failed by its first job. A line is logged only when the reason is a new one, or a
 * site with a thousand waiting classes would get a thousand lines a cycle. What the jobs' comments become
 * is told later, job by job (cycle_next_comment). */
static void cycle_fail(struct cycle *c, struct class *k, struct job *j, const struct reason *why)
{
    char text[REASON_TEXT_MAX];

    if (!reason_same(&k->why, why) || k->failed_at == 0) {
        decisions_log(c->d, LOGE_SCHED, j->id, "%s", reason_log(why, text));
        if (why->never)
            decisions_log(c->d, LOGE_DEBUG, j->id,
                          "Job will never run with the resources currently configured in the complex");
    }
    k->why = *why;
    cycle_decide_failed(c, k);
    classes_say(k, reason_comment(why, text));
    if (j->urged)
        cycle_decide_refuse(c, j, reason_log(why, text));
}

/* The class on top has had a job decided about. */
static void cycle_next_of_class(struct cycle *c)
{
    class_heap_top_moved(c->heap);
}

/* An array that has reached max_run_subjobs by what was just decided is in another class, which is not on
 * the heap: if it is still before all others it is looked at here, else in the next cycle. Looking at it
 * means booking it, where the order of jobs is binding: nothing of it can run. */
static void cycle_book_full(struct cycle *c, const struct picker *picker, struct job *j)
{
    struct class *k = j->class, *top = class_heap_top(c->heap);

    if (!k || !j->is_array || !j->is_full || k->heap[0] != j ||
        (top && backfill_is_before(c, top->heap[0], j)))
        return;
    k->level = preempt_level_of(c->cl, j);
    struct preemptor p = cycle_preemptor(c, k, j);
    k->has_new = false;
    reason_set(&k->why, REASON_SUBJOBS, NULL, NULL);
    cycle_decide_failed(c, k);
    backfill_failed(c, k, picker, &p, &k->why);
}

static int cycle_by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The latest time at which a job would still be there that begins in this cycle; what is kept for
 * reservations after it need not be told apart (keeps_make). The different ends are given to keeps_spans,
 * which makes more vnodes alike.
 *
 * Where there are reservations a class has jobs of one length only, so the first speaks for all. A job that
 * awaits room is in no class and may ask for any length: INT64_MAX then. */
static int64_t cycle_until_s(struct cycle *c)
{
    int64_t *until_s = NULL;
    size_t n_awaiting, n = 0, cap = 0, n_alike = 0;
    bool any = false; /* one that is shortened may ask until any time */

    cluster_awaiting(c->cl, &n_awaiting);
    for (struct class *k = classes_next(c->classes, NULL); k; k = classes_next(c->classes, k)) {
        if (k->n == 0)
            continue;
        any = any || k->heap[0]->least_s > 0;
        until_s = mem_room(until_s, n, &cap, sizeof *until_s);
        until_s[n++] = c->now_s + job_lasts_s(k->heap[0]);
    }
    if (n)
        qsort(until_s, n, sizeof *until_s, cycle_by_time);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || until_s[i] != until_s[n_alike - 1])
            until_s[n_alike++] = until_s[i];
    keeps_spans(c->keeps, until_s, any ? 0 : n_alike);
    int64_t last_s = n_alike ? until_s[n_alike - 1] : c->now_s;
    free(until_s);
    return n_awaiting > 0 ? INT64_MAX : last_s;
}

/* Ask nothing in a cycle that looks at no job. */
static void cycle_keep_for_resvs(struct cycle *c)
{
    size_t n_awaiting;

    cluster_awaiting(c->cl, &n_awaiting);
    if (class_heap_size(c->heap) > 0 || n_awaiting > 0)
        keeps_make(c->keeps, c->now_s, c->until_s);
}

/* Return true if the class is worth another try, not only kept because others depend on it. What is booked for others moves
 * without news: when a vnode goes down, or a job stays longer than its walltime. */
static bool cycle_may_differ(const struct cycle *c, const struct class *k)
{
    return has_changed(c, k) || k->queue->gang || k->why.code == REASON_STRICT_ORDER ||
           k->why.code == REASON_CONFLICT;
}

/* Jobs that the server would not run get another chance, all at once: they are few, and one time for all
 * needs one timer. */
static void cycle_retry_refused(struct cycle *c)
{
    if (c->n_refused == 0 || c->now_s < c->refused_s)
        return;
    for (struct job *j = cluster_next_job(c->cl, NULL); j; j = cluster_next_job(c->cl, j))
        if (j->order == ORDER_REFUSED)
            cluster_order_drop(c->cl, j);
    c->n_refused = 0;
}

/* Note news where a time has come at which a decision may be another: jobs that failed to give way may be tried again, or prime
 * or dedicated time begins or ends. */
static void cycle_note_due_times(struct cycle *c)
{
    if (c->forget_s && c->now_s >= c->forget_s) {
        c->forget_s = 0;
        cluster_note_news(c->cl);
    }
    if (c->primetime_s && c->now_s >= c->primetime_s)
        cluster_note_news(c->cl);
    c->primetime_s = primetime_change_s(cluster_policy(c->cl), c->now_s);
}

/* Has this cycle looked at as many jobs, or for as long, as it may? The classes that are left have not
 * failed since they changed, so the next cycle finds them changed still and begins with them. */
static bool cycle_is_enough(struct cycle *c, int64_t checked)
{
    const struct policy *p = cluster_policy(c->cl);
    int64_t took_s = c->elapsed ? c->elapsed(c->elapsed_arg) : 0;

    if (c->step)
        c->step(c->step_arg);
    if (p->max_job_check && checked >= p->max_job_check) {
        decisions_log(c->d, LOGE_DEBUG, "",
                      "Bailed out of main job loop after checking to see if %lld jobs could run.",
                      (long long)checked);
        return true;
    }
    if (took_s <= p->cycle_length_s)
        return false;
    decisions_log(c->d, LOGE_SCHED, "toolong",
                  "Leaving the scheduling cycle: Cycle duration of %lld seconds has exceeded "
                  "sched_cycle_length of %lld seconds",
                  (long long)took_s, (long long)p->cycle_length_s);
    return true;
}

void cycle_watch(struct cycle *c, struct decisions *d)
{
    plans_watch(c->plans, d);
}

static int64_t earlier(int64_t a_s, int64_t b_s)
{
    return a_s && (!b_s || a_s < b_s) ? a_s : b_s;
}

/* The first of the times at which something is to be done though no news has come, reservations apart; 0: there is none. */
static int64_t first_due_s(const struct cycle *c)
{
    return earlier(c->primetime_s, earlier(c->n_refused > 0 ? c->refused_s : 0, c->forget_s));
}

static bool is_due_time(const struct cycle *c, int64_t now_s)
{
    int64_t due_s = first_due_s(c);

    return due_s && now_s >= due_s;
}

/* In the order of cost. Without scheduling only jobs that a request asks for count, and times at which a
 * mark of the cycle is to be taken back. */
bool cycle_has_news(const struct cycle *c, int64_t now_s)
{
    if (is_urged_open(c) || is_due_time(c, now_s))
        return true;
    if (!cluster_policy(c->cl)->scheduling)
        return false;
    if (backfill_has_changed(c->backfill) || cycle_resv_is_due(c, now_s))
        return true;
    bool strict =
        policy_is_strict(cluster_policy(c->cl)); /* one that joins those who wait may be planned ahead */
    for (struct class *k = classes_next(c->classes, NULL); k; k = classes_next(c->classes, k))
        if (k->n > 0 && (has_changed(c, k) || (strict && k->has_new)))
            return true;
    return false;
}

int64_t cycle_wakes_s(const struct cycle *c)
{
    return earlier(first_due_s(c), cycle_resv_wakes_s(c));
}

/* A count that moves makes all classes differ from what they failed at. */
void cycle_retry_all(struct cycle *c)
{
    c->rerate = true;
    cluster_note_news(c->cl);
}

/* --- comments ---------------------------------------------------------------------------------------- */

/* Goes class by class with a cursor in each, since the caller stops when enough requests are open. Where
 * the heap of a class changes between two calls, a job that has moved to a place before the cursor keeps
 * its old comment until the class is told again. */
const struct job *cycle_next_comment(struct cycle *c, const char **comment)
{
    if (!cluster_policy(c->cl)->update_comments)
        return NULL;
    for (struct class *k = classes_next(c->classes, NULL); k; k = classes_next(c->classes, k)) {
        if (k->told || !k->comment || k->n == 0)
            continue;
        while (k->cursor < k->n) {
            struct job *j = k->heap[k->cursor++];
            *comment = cycle_decide_comment(c, j, k->comment);
            if (*comment && (!j->comment || strcmp(*comment, j->comment) != 0))
                return j;
        }
        k->told = true;
        k->cursor = 0;
    }
    return NULL;
}

const char *cycle_comment_of(const struct job *j)
{
    return j->class ? j->class->comment : NULL;
}
