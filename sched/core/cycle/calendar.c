/* Bookings, and what they mean for others. See calendar.h.
 *
 * Two questions, one answer. A job that would begin at `begin` and last is still there at the beginning of
 * some bookings; at each of these moments the jobs booked then need their places, less what has ended since
 * `begin`. The largest need of these moments, vnode by vnode, is taken out of the trial, and what is left
 * may be used. For a job that would be backfilled `begin` is now; for a job that is to be booked it is the
 * time that is tried, and the trial has given back what ends until then.
 *
 * The time: ends in order, grouped by the windows of opt_backfill_fuzzy. Without bookings more ends never
 * make it fit worse, so the first number of them that suffices is found by doubling and halving, since it
 * is mostly small; from there on times are tried one by one, since a booking may be in the way, and when
 * that takes long only those at which a booking ends. Prime and dedicated time forbid some of them, and
 * their changes are times of their own.
 *
 * Two books are kept in step in a search: the trial (room on vnodes) and the counts that limits look at
 * (calendar_count). The trial goes back by its marks, the counts by hand, so each path that gives back ends
 * counts them too. A search puts the counts right when it is over; the trial may stay as it is for the next one.
 *
 * Between calendar_book_next and calendar_rest the trial shows a time to come, so no job is placed then and nothing is kept. */

#include "calendar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster_index.h"
#include "instants.h"
#include "release_times.h"
#include "primetime.h"
#include "log.h"
#include "mem.h"
#include "run_limits.h"
#include "trial.h"
#include "under_way.h"

enum {
    /* Times tried one by one before only those are tried at which a booking ends: each costs a placement. A
     * choice. */
    LOOKS_MAX = 64
};

struct calendar {
    struct cluster *cl;
    struct booking *a;
    size_t n, cap;
    struct release_times ends;
    struct under_way under_way; /* of `ends`, and right when these are */
    struct instants ends_at;    /* the same */
    struct instants times;      /* of the search under way */
    bool are_ends_right;
    struct allocation taken; /* what the trial has borrowed from calendar_keep, or from a look */
    struct trial *begun;     /* where a time to come is left from one search to the next; NULL: nowhere */
    size_t before, n_given;  /* its mark before that; so many of the ends are given back there */
    size_t *marks, n_marks;  /* of the trial before each of these */
    int64_t now_s;
    const char *array; /* whose next subjob is looked for a time for, while it is; NULL: not an array's */
};

struct calendar *calendar_create(struct cluster *cl)
{
    struct calendar *c = mem_new(1, sizeof *c);

    c->cl = cl;
    return c;
}

void calendar_rest(struct calendar *c)
{
    if (c->begun)
        trial_undo(c->begun, c->before);
    c->n_given = 0;
    c->begun = NULL;
}

void calendar_begin(struct calendar *c, int64_t now_s)
{
    calendar_rest(c);
    while (c->n > 0) {
        struct booking *b = &c->a[--c->n];
        allocation_fini(&b->where);
        allocation_fini(&b->load);
    }
    allocation_fini(&c->taken);
    c->are_ends_right = false;
    c->now_s = now_s;
}

void calendar_destroy(struct calendar *c)
{
    if (!c)
        return;
    calendar_begin(c, 0);
    release_times_fini(&c->ends);
    under_way_fini(&c->under_way);
    instants_fini(&c->ends_at);
    instants_fini(&c->times);
    free(c->marks);
    free(c->a);
    free(c);
}

/* A load is what booked jobs need at one moment. It is kept, since every filler asks for it, until a job is
 * booked or started. */
static void loads_are_wrong(struct calendar *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->a[i].is_load_right = false;
}

void calendar_started(struct calendar *c)
{
    assert(!c->begun); /* a job was placed on vnodes as they will be */
    c->are_ends_right = false;
    loads_are_wrong(c);
}

/* The ends of running jobs, listed when they are first asked for and again when a job was started: most
 * cycles book nothing. */
static const struct release_times *ends_of(struct calendar *c)
{
    if (!c->are_ends_right) {
        release_times_list(&c->ends, c->cl, c->now_s);
        under_way_list(&c->under_way, &c->ends);
        instants_of_ends(&c->ends_at, &c->ends, cluster_policy(c->cl)->fuzzy_s);
    }
    c->are_ends_right = true;
    return &c->ends;
}

/* --- lists by vnode ------------------------------------------------------------------------------------
 * While such a list is made node->listed says where a vnode is in it. */

/* The list is whole: node->listed is free for the next one. */
static void unlist(struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->a[i].node->listed = 0;
}

/* The entry of this vnode, made if there is none. */
static struct alloc_part *on_list(struct allocation *p, struct node *n)
{
    const struct amounts nothing = {0};

    if (n->listed == 0) {
        allocation_add(p, n, &nothing, false);
        n->listed = p->n;
    }
    return &p->a[n->listed - 1];
}

/* Add all of `more`. A vnode that has gone has no entry. */
static void list_sum(struct allocation *p, const struct allocation *more)
{
    for (size_t i = 0; i < more->n; i++) {
        struct node *n = more->a[i].node;
        if (!n)
            continue;
        struct alloc_part *x = on_list(p, n);
        amounts_add(&x->use, &more->a[i].use);
        x->alone = x->alone || more->a[i].alone;
    }
}

/* Only on vnodes of the list, and never below zero. */
static void list_less(struct allocation *p, const struct allocation *less)
{
    for (size_t i = 0; i < less->n; i++) {
        struct node *n = less->a[i].node;
        struct amounts *have = n && n->listed ? &p->a[n->listed - 1].use : NULL;
        for (uint32_t k = 0; have && k < have->n; k++) {
            int64_t gone = amounts_get(&less->a[i].use, have->a[k].res);
            have->a[k].n -= gone < have->a[k].n ? gone : have->a[k].n;
        }
    }
}

/* Of each amount the larger one. `more` has each vnode once, so that the comparison is with the whole need. */
static void list_most(struct allocation *p, const struct allocation *more)
{
    for (size_t i = 0; i < more->n; i++) {
        struct alloc_part *x = on_list(p, more->a[i].node);
        for (uint32_t k = 0; k < more->a[i].use.n; k++) {
            const struct amount *a = &more->a[i].use.a[k];
            if (a->n > amounts_get(&x->use, a->res))
                amounts_set(&x->use, a->res, a->n);
        }
        x->alone = x->alone || more->a[i].alone;
    }
}

/* --- needs --------------------------------------------------------------------------------------------- */

static bool is_on(const struct booking *b, int64_t at_s)
{
    return b->from_s <= at_s && at_s < b->to_s;
}

/* What those booked at that time need, less what has ended since `begin_s`. `out` is empty before. */
static void need_at(struct calendar *c, int64_t at_s, int64_t begin_s, struct allocation *out)
{
    const struct release_times *l = ends_of(c);
    size_t end = release_times_until(l, at_s);

    for (size_t i = 0; i < c->n; i++)
        if (is_on(&c->a[i], at_s))
            list_sum(out, &c->a[i].where);
    if (begin_s == c->now_s && out->n > 0) { /* preemptions under way are over by then */
        list_sum(out, &l->come);
        list_less(out, &l->leave);
        list_less(out, &l->kept);
    }
    for (size_t i = release_times_until(l, begin_s); out->n > 0 && i < end; i++)
        list_less(out, l->a[i].on);
    unlist(out);
}

/* What must be left alone at the begin of this booking, by a job that begins now. */
static const struct allocation *load_of(struct calendar *c, struct booking *b)
{
    if (!b->is_load_right) {
        allocation_fini(&b->load);
        need_at(c, b->from_s, c->now_s, &b->load);
    }
    b->is_load_right = true;
    return &b->load;
}

/* Vnode by vnode the largest need, not the sum: the moments follow one another, so one room serves all of them. */
static void take_most(struct calendar *c, const struct allocation *need)
{
    for (size_t i = 0; i < c->taken.n; i++)
        c->taken.a[i].node->listed = i + 1;
    list_most(&c->taken, need);
    unlist(&c->taken);
}

/* The same for one moment and another begin, not kept. */
static void add_need(struct calendar *c, int64_t at_s, int64_t begin_s)
{
    struct allocation need = {0};

    need_at(c, at_s, begin_s, &need);
    take_most(c, &need);
    allocation_fini(&need);
}

static bool is_anything(const struct amounts *use)
{
    for (uint32_t k = 0; k < use->n; k++)
        if (use->a[k].n > 0)
            return true;
    return false;
}

/* Take what was put together out of the trial. A vnode that a job will have alone is shared with no other
 * job; and no job has a vnode alone that another one will use, since trial_take counts a job there. */
static void take_needs(struct calendar *c, struct trial *t)
{
    for (size_t i = 0; i < c->taken.n; i++) {
        struct alloc_part *x = &c->taken.a[i];
        if (x->alone)
            trial_exclude(t, x->node);
        if (is_anything(&x->use))
            trial_take(t, x->node, &x->use);
    }
}

bool calendar_may_delay(const struct calendar *c, const struct job *j)
{
    int64_t until_s = c->now_s + job_lasts_s(j);

    for (size_t i = 0; i < c->n; i++)
        if (c->a[i].from_s < until_s)
            return true;
    return false;
}

/* A booking that begins after the job would have ended asks nothing of it. */
bool calendar_keep(struct calendar *c, struct trial *t, const struct job *j, enum calendar_ends ends)
{
    int64_t until_s = c->now_s + job_lasts_s(j);
    bool overlaps_any = false;

    assert(!c->begun);
    allocation_fini(&c->taken);
    for (size_t i = 0; i < c->n; i++) {
        struct booking *b = &c->a[i];
        if (b->from_s >= until_s)
            continue;
        overlaps_any = true;
        if (ends == CALENDAR_NO_ENDS)
            add_need(c, b->from_s, b->from_s);
        else
            take_most(c, load_of(c, b));
    }
    take_needs(c, t);
    return overlaps_any;
}

int64_t calendar_last_before_s(const struct calendar *c, int64_t before_s)
{
    int64_t last_s = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->a[i].from_s < before_s && c->a[i].from_s > last_s)
            last_s = c->a[i].from_s;
    return last_s;
}

/* --- limits -------------------------------------------------------------------------------------------- */

/* Where neither queue nor server has limits no count can forbid anything. */
static bool is_bounded(const struct queue *q)
{
    return q && (q->limits.n > 0 || q->available.n > 0);
}

static const char *array_of(const struct job *j)
{
    return j->is_array ? j->id : j->array_id;
}

/* Jobs that await the room of others: the server counts them once it has accepted the plan, not before. Of arrays only the one
 * matters that is looked for a time for. */
static void calendar_count(struct calendar *c, const struct job *j, int64_t times)
{
    if (!j || j->order == ORDER_AWAITS)
        return;
    pick_count(j, cluster_server(c->cl), times);
    if (c->array && array_of(j) == c->array) /* interned */
        cluster_index_count_array(c->cl, c->array, times);
}

/* Counters as they will be at that time, beside the jobs booked then; times -1: as they were. */
static void count_until(struct calendar *c, int64_t at_s, int64_t times)
{
    const struct release_times *l = ends_of(c);
    size_t n = release_times_until(l, at_s);

    for (size_t i = 0; i < n; i++)
        calendar_count(c, l->a[i].job, -times);
    for (size_t i = 0; i < c->n; i++)
        if (is_on(&c->a[i], at_s))
            calendar_count(c, c->a[i].job, times);
}

/* At each begin of a booking that the job would still see, with the counts of that moment. */
bool calendar_allows(struct calendar *c, const struct job *j, struct reason *why)
{
    int64_t until_s = c->now_s + job_lasts_s(j);
    bool fits = true;

    if (!is_bounded(j->queue) && !is_bounded(cluster_server(c->cl)))
        return true;
    for (size_t i = 0; fits && i < c->n; i++) {
        if (c->a[i].from_s >= until_s)
            continue;
        count_until(c, c->a[i].from_s, 1);
        fits = run_limits_allow(c->cl, j, why);
        count_until(c, c->a[i].from_s, -1);
    }
    return fits;
}

/* --- the first time that will do ------------------------------------------------------------------------- */

/* One search for a time. Ends of running jobs that the trial has given back are a prefix of ends->a. */
struct calendar_search {
    struct calendar *c;
    const struct picker *k;
    const struct preemptor *p;
    const struct release_times *ends;
    const struct instant *a; /* by time */
    size_t n;
    int64_t lasts_s;
};

/* The ends that the trial has given back are those of jobs that have gone (-1), or that are there again (1). */
static void count_given(struct calendar *c, int64_t times)
{
    for (size_t i = 0; i < c->n_given; i++)
        calendar_count(c, c->ends.a[i].job, times);
}

/* Preemptions under way are over by any time that a search tries. The first of the searches in a row does this for all, and the
 * next ones begin where the one before has ended: there may be thousands of victims and ends, and a hundred jobs to book. Counts are those of
 * now between two searches, since levels depend on them. */
static void calendar_begin_search(struct calendar *c, struct trial *t)
{
    assert(!c->begun || c->begun == t);
    if (c->begun) {
        count_given(c, -1);
        return;
    }
    c->begun = t;
    c->before = trial_mark(t);
    under_way_end(&c->under_way, t);
}

/* So many of the ends are given back, no more and no less: forward by giving back, backward by the mark
 * from before the first that is too many. So a search may jump both ways. */
static void calendar_give_back(struct calendar *c, size_t n)
{
    for (; c->n_given < n; c->n_given++) {
        c->marks = mem_room(c->marks, c->n_given, &c->n_marks, sizeof *c->marks);
        c->marks[c->n_given] = trial_mark(c->begun);
        trial_give_all(c->begun, c->ends.a[c->n_given].on);
        calendar_count(c, c->ends.a[c->n_given].job, -1);
    }
    if (c->n_given == n)
        return;
    while (c->n_given > n)
        calendar_count(c, c->ends.a[--c->n_given].job, 1);
    trial_undo(c->begun, c->marks[n]);
}

/* Find room at that time beside reservations; at_s 0: as if there were no reservations. A look only: what
 * it takes is undone. */
static bool calendar_fits(struct calendar_search *s, int64_t at_s, struct allocation *where)
{
    size_t mark = trial_mark(s->k->trial);
    struct preemptor p = *s->p;
    struct reason ignored;

    p.later_s = at_s;
    p.no_resvs = at_s == 0;
    bool found = pick_place(s->k, &p, where, &ignored);

    trial_undo(s->k->trial, mark);
    return found;
}

/* Would the job, if it began at that time, run together with the booked one? */
static bool overlaps(const struct calendar_search *s, const struct booking *b, int64_t at_s)
{
    return b->from_s < at_s + s->lasts_s && b->to_s > at_s;
}

/* Find room at a time whose ends the trial has given back, beside booked jobs: their needs from then on are
 * taken out, and they are counted. The sums are asked first, as most looks fail. */
static bool fits_beside(struct calendar_search *s, int64_t at_s, struct allocation *where)
{
    struct calendar *c = s->c;
    size_t mark = trial_mark(s->k->trial);

    allocation_fini(&c->taken);
    add_need(c, at_s, at_s);
    if (!pick_may_suffice_beside(s->k, s->p, &c->taken)) /* what is needed later only adds to that */
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (overlaps(s, &c->a[i], at_s)) {
            if (c->a[i].from_s > at_s)
                add_need(c, c->a[i].from_s, at_s);
            calendar_count(c, c->a[i].job, 1);
        }
    take_needs(c, s->k->trial);
    bool found = calendar_fits(s, at_s, where);
    trial_undo(s->k->trial, mark);
    for (size_t i = 0; i < c->n; i++)
        if (overlaps(s, &c->a[i], at_s))
            calendar_count(c, c->a[i].job, -1);
    return found;
}

/* Would it fit, were nothing booked and nothing reserved, when the ends until instant `i` have come? */
static bool fits_after(struct calendar_search *s, size_t i)
{
    struct allocation where = {0};

    calendar_give_back(s->c, release_times_until(s->ends, s->a[i].at_s));
    bool found = calendar_fits(s, 0, &where);
    allocation_fini(&where);
    return found;
}

/* The first instant at which it would fit were nothing booked; s->n: there is none. More ends never hurt,
 * so it is found by doubling the distance until it fits, then by halving. */
static size_t first_free(struct calendar_search *s)
{
    size_t low = 0, high = 0;

    while (high < s->n && !fits_after(s, high)) {
        low = high + 1;
        high = low == s->n ? s->n : high * 2 + 1 < s->n ? high * 2 + 1 : s->n - 1;
    }
    if (high == s->n)
        return s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fits_after(s, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* PBS's lines at DEBUG2: there the simulated world is driven from event to event, and each is logged. */
static void say_look(const struct calendar_search *s, const struct instant *at)
{
    time_t t = (time_t)at->at_s;
    char when[32];

    if (!s->k->log || !log_is_on(LOGE_DEBUG2) || !ctime_r(&t, when))
        return;
    when[strcspn(when, "\n")] = '\0';
    decisions_log(s->k->log, LOGE_DEBUG2, s->p->job->id, "Simulation: %s [%s]",
                  at->is_policy ? "Policy change" : "job end point", when);
}

/* The time, or 0. */
static int64_t find_time(struct calendar_search *s, struct allocation *where)
{
    size_t first = first_free(s);
    struct reason ignored;

    for (size_t i = first; i < s->n; i++) {
        int64_t at_s = s->a[i].at_s;
        if (i - first >= LOOKS_MAX && !s->a[i].is_apart && i + 1 < s->n)
            continue;
        say_look(s, &s->a[i]);
        if (!primetime_allows(s->c->cl, s->p->job, at_s, &ignored))
            continue;
        calendar_give_back(s->c, release_times_until(s->ends, at_s));
        if (fits_beside(s, at_s, where))
            return at_s;
    }
    return 0;
}

/* The loads of other bookings are wrong afterwards: the new one may overlap them. */
const struct booking *calendar_book_next(struct calendar *c, const struct picker *k,
                                         const struct preemptor *p)
{
    struct calendar_search s = {.c = c, .k = k, .p = p, .ends = ends_of(c), .lasts_s = job_lasts_s(p->job)};
    struct booking b = {.job = p->job};

    c->array = array_of(p->job);
    calendar_begin_search(c, k->trial);
    instants_merge(&c->times, &c->ends_at, c->cl, c->a, c->n, c->now_s);
    s.a = c->times.a;
    s.n = c->times.n;
    b.from_s = find_time(&s, &b.where);
    count_given(c, 1);
    c->array = NULL;
    if (b.from_s == 0)
        return NULL;
    b.to_s = b.from_s + s.lasts_s;
    c->a = mem_room(c->a, c->n, &c->cap, sizeof *c->a);
    c->a[c->n] = b;
    loads_are_wrong(c);
    return &c->a[c->n++];
}

const struct booking *calendar_book(struct calendar *c, const struct picker *k, const struct preemptor *p)
{
    const struct booking *b = calendar_book_next(c, k, p);

    calendar_rest(c);
    return b;
}

const struct booking *calendar_bookings(const struct calendar *c, size_t *n)
{
    *n = c->n;
    return c->a;
}
