/* Room for those who were preempted. See resumption.h.
 *
 * The estimate: running jobs end in the order of their walltimes, in the trial, and the first number of ends after which
 * the job fits gives the time; more ends never make it fit worse, so that number is found by halving. What it needs then
 * is partly what has ended by then; only the rest must be left alone by whoever is still there at that time, and that is
 * what is kept. Limits of queue and server count in the estimate, but are not kept. */
#include "resumption.h"

#include <stdlib.h>
#include <time.h>

#include "level.h"
#include "log.h"
#include "memory.h"

enum {
    FOREVER_S = 157680000, /* five years: who has no walltime */
    QUEUED_MAX = 16        /* of those that were requeued, so many in a cycle get an estimate */
};

struct kept {
    struct pieces rest;
    int64_t from_s;
};

struct resumption {
    struct universe *u;
    struct kept *a;
    size_t n, cap, n_queued;
};

struct ending { /* jobs by their ends */
    struct job **a;
    size_t n, cap;
    int64_t now_s;
};

struct resumption *resumption_create(struct universe *u)
{
    struct resumption *r = mem_new(1, sizeof *r);

    r->u = u;
    return r;
}

void resumption_begin(struct resumption *r)
{
    while (r->n > 0)
        pieces_fini(&r->a[--r->n].rest);
    r->n_queued = 0;
}

void resumption_destroy(struct resumption *r)
{
    if (!r)
        return;
    resumption_begin(r);
    free(r->a);
    free(r);
}

bool resumption_is_owed(const struct universe *u, const struct job *j)
{
    const struct policy *p = universe_policy(u);

    return p->enforce_resumption && j->preempted_s && level_of(u, j) >= policy_level(p, LEVEL_NORMAL, 0);
}

/* --- ends -------------------------------------------------------------------------------------------- */

static int64_t ends_at(const struct job *j, int64_t now_s)
{
    int64_t end_s = (j->start_s ? job_begun_s(j) : now_s) + (j->limit_s ? j->limit_s : FOREVER_S);

    return end_s > now_s ? end_s : now_s + 1; /* it is over its time: just ending */
}

static int by_end(const void *a, const void *b, void *arg)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    int64_t now_s = *(int64_t *)arg, ends_x = ends_at(x, now_s), ends_y = ends_at(y, now_s);

    return ends_x < ends_y ? -1 : ends_x > ends_y;
}

static void add_ending(struct ending *l, struct job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == j)
            return;
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
}

/* A suspended job waits for those on its own vnodes, a queued one for anybody. */
static void list_ending(const struct resumption *r, const struct job *j, struct ending *l)
{
    size_t n;
    struct job *const *running = universe_running(r->u, &n);

    if (j->standing == STANDING_SUSPENDED) {
        for (size_t i = 0; i < j->on.n; i++)
            for (size_t k = 0; j->on.a[i].node && k < j->on.a[i].node->n_on; k++)
                add_ending(l, j->on.a[i].node->jobs[k]);
    } else {
        l->a = mem_dup(running, n, sizeof *running);
        l->n = n;
    }
    if (l->n)
        qsort_r(l->a, l->n, sizeof *l->a, by_end, &l->now_s);
}

/* With the first `n` ended: does it fit? `where` (empty before) has its place then. */
static bool fits_after(const struct picker *k, const struct preemptor *p, const struct ending *l, size_t n,
                       struct pieces *where)
{
    size_t mark = trial_mark(k->trial);
    struct reason ignored;

    for (size_t i = 0; i < n; i++) {
        trial_give_all(k->trial, &l->a[i]->on);
        pick_count(l->a[i], universe_server(k->u), -1);
    }
    bool fits = pick_place(k, p, where, &ignored);
    for (size_t i = 0; i < n; i++)
        pick_count(l->a[i], universe_server(k->u), 1);
    trial_undo(k->trial, mark);
    return fits;
}

/* How many must end; 0: it would not fit though all did. */
static size_t count_ends(const struct picker *k, const struct preemptor *p, const struct ending *l,
                         struct pieces *where)
{
    size_t low = 1, high = l->n;

    if (l->n == 0 || !fits_after(k, p, l, high, where))
        return 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct pieces place = {0};
        if (fits_after(k, p, l, middle, &place)) {
            high = middle;
            pieces_fini(where);
            *where = place;
        } else
            low = middle + 1;
    }
    return high;
}

/* --- keeping ----------------------------------------------------------------------------------------- */

static bool is_anything(const struct amounts *use)
{
    for (uint32_t k = 0; k < use->n; k++)
        if (use->a[k].n > 0)
            return true;
    return false;
}

/* Of its place what those who end before do not give back. */
static void keep(struct resumption *r, const struct ending *l, size_t n, const struct pieces *where,
                 int64_t from_s)
{
    struct pieces all = {0};
    struct kept *x;

    r->a = mem_room(r->a, r->n, &r->cap, sizeof *r->a);
    x = &r->a[r->n++];
    *x = (struct kept){.from_s = from_s};
    pieces_copy(&all, where);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l->a[i]->on.n; k++)
            pieces_lessen(&all, l->a[i]->on.a[k].node, &l->a[i]->on.a[k].use);
    for (size_t i = 0; i < all.n; i++)
        if (is_anything(&all.a[i].use))
            pieces_add(&x->rest, all.a[i].node, &all.a[i].use, false);
    pieces_fini(&all);
}

static void say(const struct picker *k, const struct job *j, int64_t at_s)
{
    time_t t = (time_t)at_s;
    char text[32];

    ctime_r(&t, text);
    text[24] = '\0'; /* the line's end */
    decisions_log(k->log, LOGE_DEBUG, j->id, "Job is a top job and will run at %s", text);
}

void resumption_keep_for(struct resumption *r, const struct picker *k, const struct preemptor *p)
{
    struct ending l = {.now_s = p->now_s};
    struct pieces where = {0};
    size_t n;

    if (p->job->standing != STANDING_SUSPENDED && r->n_queued++ >= QUEUED_MAX)
        return;
    list_ending(r, p->job, &l);
    n = count_ends(k, p, &l, &where);
    if (n > 0) {
        int64_t from_s = ends_at(l.a[n - 1], p->now_s);
        keep(r, &l, n, &where, from_s);
        say(k, p->job, from_s);
    } else
        decisions_log(k->log, LOGE_DEBUG, p->job->id, "Can't find start time estimate");
    pieces_fini(&where);
    free(l.a);
}

static int64_t lasts_s(const struct job *j)
{
    int64_t left_s = j->limit_s - (j->standing == STANDING_SUSPENDED ? j->used_s : 0);

    return j->limit_s == 0 ? FOREVER_S : left_s > 0 ? left_s : 1;
}

bool resumption_keep_from(const struct resumption *r, struct trial *t, const struct job *j, int64_t now_s)
{
    size_t mark = trial_mark(t);

    for (size_t i = 0; i < r->n; i++)
        if (now_s + lasts_s(j) > r->a[i].from_s)
            trial_take_all(t, &r->a[i].rest);
    return trial_mark(t) > mark;
}
