/* The calendar, asked between cycles about one job. See forecast.h.
 *
 * What the time rests on is read from the place that was found: a vnode of it that could not take its part
 * at this moment is blocked, and running jobs that leave a blocked vnode until then are what the job waits
 * for. Where no vnode is blocked a limit is in the way, and jobs count whose end mends that.
 *
 * Everything that is written is undone before the way out: bookings (calendar_begin), trial steps (by the
 * callees), node->listed (forget_place). So the next cycle is as if no question had been asked. */

#include "forecast.h"

#include <stdlib.h>

#include "attempt.h"
#include "calendar.h"
#include "classes.h"
#include "idset.h"
#include "keeps.h"
#include "mem.h"
#include "preempt_level.h"
#include "run_limits.h"
#include "cycle_state.h"
#include "cycle_preempt.h"
#include "backfill.h"

struct forecast_walk {
    struct cycle *c;
    struct calendar *calendar;
    struct picker k;
    struct preemptor p;
    struct asker a;
    struct forecast *out;
    struct reason limit; /* the limit that forbids it now; REASON_NONE: none does */
};

const char *forecast_unknown_text(enum forecast_unknown u)
{
    static const char *const texts[FORECAST_UNKNOWN_COUNT] = {
        [FORECAST_KNOWN] = "",
        [FORECAST_NEVER] = "it would find no place though all jobs that run had ended",
        [FORECAST_OPEN] = "a job in its way has no walltime",
        [FORECAST_STOPPED] = "a person has suspended it, and must resume it",
        [FORECAST_SUBJOBS] = "it runs when another subjob of its array has ended",
        [FORECAST_INSIDE] = "it waits for room of its reservation",
    };

    return texts[u];
}

/* --- jobs before it ------------------------------------------------------------------------------------- */

/* Put the job into the list by order, which keeps its first FORECAST_PLANNED_MAX. */
static void forecast_put(struct cycle *c, struct job **list, size_t *n, struct job *j)
{
    size_t at = *n;

    if (*n == FORECAST_PLANNED_MAX && !backfill_is_before(c, j, list[*n - 1]))
        return;
    if (*n == FORECAST_PLANNED_MAX)
        at--;
    else
        (*n)++;
    for (; at > 0 && backfill_is_before(c, j, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = j;
}

/* Jobs of a class that can never run are before no job in time. */
static bool is_hopeless(const struct class *k)
{
    return k->failed_at && k->why.never;
}

/* An array waits as often as it has queued indices. */
static size_t count_of(const struct job *j)
{
    return j->is_array && j->queued ? idset_count(j->queued) : 1;
}

/* The jobs of this class that are before it; the first is before all others of its class. */
static void before_of_class(struct forecast_walk *w, const struct class *k, struct job **list, size_t *n)
{
    const struct job *j = w->p.job;

    if (k->n == 0 || is_hopeless(k) || !backfill_is_before(w->c, k->heap[0], j))
        return;
    for (size_t i = 0; i < k->n; i++)
        if (k->heap[i] != j && backfill_is_before(w->c, k->heap[i], j)) {
            w->out->n_before += count_of(k->heap[i]);
            forecast_put(w->c, list, n, k->heap[i]);
        }
}

/* The first jobs before it, by order; the caller frees. Of a top job: those that the cycle books before it. */
static struct job **jobs_before(struct forecast_walk *w, size_t *n)
{
    struct job **list;

    w->out->is_top = backfill_is_booked(w->c, w->p.job);
    if (w->out->is_top) {
        list = backfill_tops_before(w->c, w->p.job, n);
        w->out->n_before = *n;
        return list;
    }
    list = mem_new(FORECAST_PLANNED_MAX, sizeof(struct job *));
    *n = 0;
    for (const struct class *k = classes_next(w->c->classes, NULL); k; k = classes_next(w->c->classes, k))
        before_of_class(w, k, list, n);
    return list;
}

/* Book them in their order, so that the calendar is as the cycle that starts them would leave it. */
static void book_before(struct forecast_walk *w)
{
    size_t n, planned = 0;
    struct job **list = jobs_before(w, &n);

    for (size_t i = 0; i < n; i++) {
        struct preemptor p = w->p;
        p.job = list[i];
        p.request = list[i]->class->request;
        p.level = preempt_level_of(w->c->cl, list[i]);
        /* A cycle books one subjob of an array that is a top job. */
        for (size_t times = w->out->is_top ? 1 : count_of(list[i]);
             times > 0 && (planned < FORECAST_PLANNED_MAX || w->out->is_top); times--) {
            planned++;
            calendar_book_next(w->calendar, &w->k, &p);
        }
    }
    calendar_rest(w->calendar);
    w->out->n_planned = planned;
    free(list);
}

/* --- what it rests on ------------------------------------------------------------------------------------ */

static void forecast_add(struct forecast *f, const struct forecast_item *x)
{
    if (f->n_of[x->kind]++ >= FORECAST_ITEMS_MAX)
        return;
    f->items = mem_room(f->items, f->n_items, &f->cap_items, sizeof *f->items);
    f->items[f->n_items++] = *x;
}

/* The place, each vnode once; node->listed is set until forget_place. */
static void list_place(const struct allocation *where, struct allocation *out)
{
    for (size_t i = 0; i < where->n; i++) {
        struct node *n = where->a[i].node;
        if (n && n->listed == 0) {
            allocation_add(out, n, &where->a[i].use, false);
            n->listed = out->n;
        } else if (n)
            amounts_add(&out->a[n->listed - 1].use, &where->a[i].use);
    }
}

static void forget_place(struct allocation *place)
{
    for (size_t i = 0; i < place->n; i++)
        place->a[i].node->listed = 0;
    allocation_fini(place);
}

/* Has this allocation a vnode of the place, as far as it is still listed? */
static bool is_on_place(const struct allocation *on)
{
    for (size_t i = 0; i < on->n; i++)
        if (on->a[i].node && on->a[i].node->listed)
            return true;
    return false;
}

/* Leave only vnodes listed that jobs block: unlist those that could take their part now. Reservations are
 * not asked, they have items of their own. */
static void keep_blocked(const struct forecast_walk *w, const struct allocation *place)
{
    struct asker a = w->a;

    a.span.by = SPAN_NONE;
    for (size_t i = 0; i < place->n; i++) {
        struct node *n = place->a[i].node;
        if (match_open(&a, n) && amounts_cover(&n->free, &place->a[i].use, NULL))
            n->listed = 0;
    }
}

/* Would the end of this running job help against the limit that forbids the job now? One of the same
 * entity, or one that has some of the amount. */
static bool mends_limit(const struct forecast_walk *w, const struct job *other)
{
    const struct reason *why = &w->limit;

    if (why->code == REASON_NONE)
        return false;
    if (why->code == REASON_LACK_SERVER || why->code == REASON_LACK_QUEUE)
        return amounts_get(&other->want, why->res) > 0 &&
               (why->code == REASON_LACK_SERVER || other->queue == w->p.job->queue);
    return run_limits_share(why, w->p.job, other);
}

/* Running jobs that end until then, of which the time depends. An end beyond JOB_FOREVER_S / 2 is that of a
 * job without a walltime. */
static void note_running(struct forecast_walk *w)
{
    struct release_times l = {0};

    release_times_list(&l, w->c->cl, w->p.now_s);
    for (size_t i = 0; i < l.n && l.a[i].at_s <= w->out->at_s; i++) {
        const struct job *j = l.a[i].job;
        if (j && j != w->p.job && (mends_limit(w, j) || is_on_place(l.a[i].on)))
            forecast_add(w->out, &(struct forecast_item){FORECAST_RUNS, j, NULL, 0, l.a[i].at_s,
                                                         l.a[i].at_s >= w->p.now_s + JOB_FOREVER_S / 2});
    }
    release_times_fini(&l);
}

static void note_before(struct forecast_walk *w)
{
    size_t n;
    const struct booking *b = calendar_bookings(w->calendar, &n);

    for (size_t i = 0; i < n; i++)
        if (b[i].job != w->p.job && b[i].to_s <= w->out->at_s && is_on_place(&b[i].where))
            forecast_add(w->out, &(struct forecast_item){FORECAST_BEFORE, b[i].job, NULL, b[i].from_s,
                                                         b[i].to_s, false});
}

static void note_resvs(struct forecast_walk *w)
{
    int64_t until_s = w->out->at_s;

    for (struct resv *r = cluster_next_resv(w->c->cl, NULL); r; r = cluster_next_resv(w->c->cl, r))
        for (size_t i = 0; resv_is_promised(r) && i < r->n_times; i++) {
            const struct resv_time *t = &r->times[i];
            if (t->from_s < until_s && t->to_s > w->p.now_s && t->to_s <= until_s && is_on_place(&t->share))
                forecast_add(w->out,
                             &(struct forecast_item){FORECAST_RESV, NULL, r, t->from_s, t->to_s, false});
        }
}

static int forecast_by_time(const void *a, const void *b)
{
    const struct forecast_item *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->until_s < y->until_s ? -1 : x->until_s > y->until_s;
}

/* note_running comes last of three: bookings and reservations are asked of all vnodes of the place, running
 * jobs of blocked ones only. */
static void note_grounds(struct forecast_walk *w)
{
    struct allocation place = {0};

    if (run_limits_allow(w->c->cl, w->p.job, &w->limit))
        reason_set(&w->limit, REASON_NONE, NULL, NULL);
    list_place(&w->out->where, &place);
    note_before(w);
    note_resvs(w);
    keep_blocked(w, &place);
    note_running(w);
    forget_place(&place);
    if (w->out->n_items)
        qsort(w->out->items, w->out->n_items, sizeof *w->out->items, forecast_by_time);
}

/* --- the way in ------------------------------------------------------------------------------------------ */

/* When it would begin beside what is booked; 0: never. */
static int64_t forecast_book(struct forecast_walk *w, struct allocation *where)
{
    const struct booking *b = calendar_book(w->calendar, &w->k, &w->p);

    if (b && where)
        allocation_copy(where, &b->where);
    return b ? b->from_s : 0;
}

/* Room now, beside what the next cycle would keep for jobs before this one. */
static bool is_now(struct forecast_walk *w, struct allocation *where)
{
    struct reason why;

    return backfill_room(w->c, &w->k, &w->p, where, &why);
}

/* Three looks: now; without jobs before it (alone_s), which also tells whether it ever fits; and behind
 * them (at_s). */
static void find_time(struct forecast_walk *w)
{
    struct forecast *f = w->out;

    if (is_now(w, &f->where)) {
        f->at_s = f->alone_s = w->p.now_s;
        return;
    }
    allocation_fini(&f->where);
    calendar_begin(w->calendar, w->p.now_s);
    f->alone_s = forecast_book(w, NULL);
    calendar_begin(w->calendar, w->p.now_s);
    if (f->alone_s)
        book_before(w);
    f->at_s = f->alone_s ? forecast_book(w, &f->where) : 0;
    if (f->at_s)
        note_grounds(w);
    calendar_begin(w->calendar, w->p.now_s);
    if (f->at_s == 0)
        f->unknown = FORECAST_NEVER;
    else if (f->at_s >= w->p.now_s + JOB_FOREVER_S / 2)
        f->unknown = w->limit.code == REASON_SUBJOBS ? FORECAST_SUBJOBS : FORECAST_OPEN;
    if (f->unknown != FORECAST_KNOWN)
        f->at_s = 0;
}

/* A job of a reservation, and one that a person suspended, has no time: neither the calendar nor the
 * scheduler decides that. */
void forecast_make(struct cycle *c, const struct job *j, int64_t now_s, struct forecast *out)
{
    struct forecast_walk w = {
        .c = c, .calendar = backfill_calendar(c->backfill), .k = cycle_preempt_picker(c), .out = out};

    *out = (struct forecast){.job = j};
    out->request = request_parse(cluster_catalogue(c->cl), j->select, j->place);
    w.k.log = NULL;
    w.p = (struct preemptor){
        .cl = c->cl, .job = j, .request = out->request, .level = preempt_level_of(c->cl, j), .now_s = now_s};
    w.a = (struct asker){.cl = c->cl,
                         .request = out->request,
                         .queue = j->queue,
                         .job = j,
                         .span = {SPAN_NOW, now_s, now_s + job_lasts_s(j)}};
    if (j->within || j->sched_state == SCHED_STATE_STOPPED) {
        out->unknown = j->within ? FORECAST_INSIDE : FORECAST_STOPPED;
        return;
    }
    keeps_make(c->keeps, now_s, INT64_MAX);
    refusals_list(&w.a, &out->refusals);
    find_time(&w);
    placement_forget(c->placer);
}

void forecast_fini(struct forecast *f)
{
    allocation_fini(&f->where);
    free(f->items);
    request_destroy(f->request);
}
