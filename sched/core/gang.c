/* Whose turn it is. See gang.h for the rule.
 *
 * A search is greedy: stop one after the other, in the order in which they have to give way (lower queues first, then
 * whose turn is over first), until the job fits; then let off whoever is not needed. It is made twice: among those who
 * must give way now, and, if these are not enough, among all who will have to sooner or later. What the second finds is
 * a promise. A third question, with the queues above as well, only finds the words for who stands in a shadow.
 *
 * Stopped in the trial is what a suspension gives back: all but memory. So a job whose memory does not fit beside that of
 * those who are suspended finds no place, and nobody is stopped for it. */
#include "gang.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "yields.h"

enum {
    ONE_BY_ONE = 16,  /* victims that are tried singly; then twice as many each time */
    PROMISES_MAX = 16 /* for so many jobs in a cycle what else they need is kept */
};

struct promise {
    struct pieces rest; /* what the job needs beside what it was promised of others */
    int64_t priority;   /* of its queue */
};

struct gang {
    struct universe *u;
    int64_t now_s;
    struct candidates running; /* of gang queues, in the order in which they give way */
    struct promise promises[PROMISES_MAX];
    size_t n_promises;
    unsigned cycle, search; /* numbers for marks */
};

/* One question. */
struct search {
    struct gang *g;
    const struct picker *k;
    const struct preemptor *p;
    struct candidates all; /* who could be stopped, in order */
    bool due_only;         /* those who must give way now */
    bool above;            /* those of queues above too */
};

struct gang *gang_create(struct universe *u)
{
    struct gang *g = mem_new(1, sizeof *g);

    g->u = u;
    return g;
}

static void forget_promises(struct gang *g)
{
    while (g->n_promises > 0)
        pieces_fini(&g->promises[--g->n_promises].rest);
}

void gang_destroy(struct gang *g)
{
    if (!g)
        return;
    forget_promises(g);
    candidates_fini(&g->running);
    free(g);
}

/* --- turns ------------------------------------------------------------------------------------------- */

static int64_t slice_of(const struct gang *g, const struct queue *q)
{
    return q->timeslice_s > 0 ? q->timeslice_s : universe_policy(g->u)->timeslice_s;
}

static bool is_gang(const struct job *j)
{
    return j->queue && j->queue->gang;
}

void gang_begin_turn(struct job *j, int64_t now_s)
{
    if (is_gang(j))
        j->turn_s = now_s;
}

void gang_note_wait(struct job *j, int64_t now_s)
{
    if (j->standing == STANDING_SUSPENDED && j->since_s == 0)
        j->since_s = now_s;
}

static int64_t over_at(const struct gang *g, const struct job *j)
{
    return j->turn_s + slice_of(g, j->queue);
}

static bool any_queue_is_gang(const struct universe *u)
{
    for (struct queue *q = universe_next_queue(u, NULL); q; q = universe_next_queue(u, q))
        if (q->gang)
            return true;
    return false;
}

static int by_turn(const void *a, const void *b, void *gang)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    int64_t over_x = over_at(gang, x), over_y = over_at(gang, y);

    if (x->queue->priority != y->queue->priority)
        return x->queue->priority < y->queue->priority ? -1 : 1;
    if (over_x != over_y)
        return over_x < over_y ? -1 : 1;
    return x->rank > y->rank ? -1 : x->rank < y->rank;
}

static void add(struct candidates *l, struct job *j)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
}

static void sort(struct gang *g, struct candidates *l)
{
    if (l->n)
        qsort_r(l->a, l->n, sizeof *l->a, by_turn, g);
}

void gang_review(struct gang *g, int64_t now_s)
{
    size_t n;
    struct job *const *running = universe_running(g->u, &n);

    g->now_s = now_s;
    g->cycle++;
    g->running.n = 0;
    forget_promises(g);
    if (!any_queue_is_gang(g->u))
        return;
    for (size_t i = 0; i < n; i++)
        if (is_gang(running[i])) {
            if (running[i]->turn_s == 0)
                running[i]->turn_s = now_s;
            add(&g->running, running[i]);
        }
    sort(g, &g->running);
}

void gang_keep_promises(struct gang *g, struct trial *t, const struct queue *q)
{
    for (size_t i = 0; q->gang && i < g->n_promises; i++)
        if (g->promises[i].priority >= q->priority)
            trial_take_all(t, &g->promises[i].rest);
}

/* --- who could be stopped ---------------------------------------------------------------------------- */

/* Whose vnodes stay shut while they are suspended cannot take turns alone. */
static bool stays_alone(const struct gang *g, const struct pieces *on)
{
    for (size_t i = 0; universe_policy(g->u)->suspend_frees && i < on->n; i++)
        if (on->a[i].alone)
            return true;
    return false;
}

static bool may_yield(const struct search *s, const struct job *v)
{
    const struct gang *g = s->g;
    int64_t ours = s->p->job->queue->priority, theirs = v->queue->priority;

    if (!job_is_up(v) || v->order != ORDER_NONE || v->gives_way || v->resv || v->promised == g->cycle)
        return false;
    if (s->above ? false : theirs > ours)
        return false;
    if (s->due_only && theirs == ours && g->now_s < over_at(g, v))
        return false;
    return candidates_nodes_are_up(v) && !stays_alone(g, &v->on) &&
           !s->p->has_failed(s->p->arg, s->p->job, v);
}

static void list(struct search *s, struct job *v)
{
    if (v->listed == s->g->search || !is_gang(v) || !may_yield(s, v))
        return;
    v->listed = s->g->search;
    yields_note(s->g->u, v, true);
    add(&s->all, v);
}

/* A suspended job goes on where it was: only who is there can help. */
static void list_neighbours(struct search *s)
{
    const struct pieces *on = &s->p->job->on;

    for (size_t i = 0; i < on->n; i++)
        for (size_t k = 0; on->a[i].node && k < on->a[i].node->n_on; k++)
            list(s, on->a[i].node->jobs[k]);
    sort(s->g, &s->all);
}

static void list_all(struct search *s)
{
    s->g->search++;
    s->all.n = 0;
    if (s->p->job->standing == STANDING_SUSPENDED) {
        list_neighbours(s);
        return;
    }
    for (size_t i = 0; i < s->g->running.n; i++)
        if (candidates_are_useful(s->p, s->g->running.a[i]))
            list(s, s->g->running.a[i]);
}

/* --- searching --------------------------------------------------------------------------------------- */

static void count(const struct search *s, size_t from, size_t to, int64_t times)
{
    for (size_t i = from; i < to; i++)
        pick_count(s->all.a[i], universe_server(s->g->u), times);
}

/* Stop more and more of them; returns how many it took, 0 when all are not enough. */
static size_t stop_until_it_fits(struct search *s, struct pieces *where)
{
    size_t n = 0;

    while (n < s->all.n) {
        size_t next = n < ONE_BY_ONE ? n + 1 : 2 * n;
        struct reason ignored;

        next = next < s->all.n ? next : s->all.n;
        for (size_t i = n; i < next; i++)
            trial_give_all(s->k->trial, job_yields(s->all.a[i]));
        count(s, n, next, -1);
        n = next;
        if (pick_place(s->k, s->p, where, &ignored))
            return n;
    }
    count(s, 0, n, 1);
    return 0;
}

/* true: `victims` and `where` are filled. The trial and the counters are as before. */
static bool find(struct search *s, struct candidates *victims, struct pieces *where)
{
    size_t mark = trial_mark(s->k->trial), n;

    list_all(s);
    n = stop_until_it_fits(s, where);
    if (n > 0) {
        const struct candidates chosen = {.a = s->all.a, .n = n};
        pick_prune(s->k, s->p, &chosen, victims);
    }
    trial_undo(s->k->trial, mark);
    if (victims->n > 0 && !stays_alone(s->g, where))
        return true;
    victims->n = 0;
    pieces_fini(where);
    return false;
}

/* --- waiting ----------------------------------------------------------------------------------------- */

/* What of its place no victim gives. */
static void make_rest(const struct candidates *victims, const struct pieces *where, struct pieces *rest)
{
    struct pieces all = {0};

    pieces_copy(&all, where);
    for (size_t i = 0; i < victims->n; i++) {
        const struct pieces *on = job_yields(victims->a[i]);
        for (size_t k = 0; k < on->n; k++)
            pieces_lessen(&all, on->a[k].node, &on->a[k].use);
    }
    for (size_t i = 0; i < all.n; i++) {
        bool any = false;
        for (uint32_t k = 0; k < all.a[i].use.n; k++)
            any = any || all.a[i].use.a[k].n > 0;
        if (any)
            pieces_add(rest, all.a[i].node, &all.a[i].use, false);
    }
    pieces_fini(&all);
}

/* It waits for the end of these turns. */
static void promise(struct gang *g, const struct preemptor *p, const struct candidates *victims,
                    const struct pieces *where)
{
    int64_t last_s = g->now_s + 1;

    for (size_t i = 0; i < victims->n; i++) {
        struct job *v = victims->a[i];
        v->promised = g->cycle;
        if (v->queue->priority == p->job->queue->priority && over_at(g, v) > last_s)
            last_s = over_at(g, v);
    }
    p->later(p->arg, last_s);
    if (g->n_promises == PROMISES_MAX)
        return;
    struct promise *x = &g->promises[g->n_promises++];
    *x = (struct promise){.priority = p->job->queue->priority};
    make_rest(victims, where, &x->rest);
}

static void say_turn(const struct gang *g, const struct queue *q, struct reason *why)
{
    char seconds[24];

    snprintf(seconds, sizeof seconds, "%lld", (long long)slice_of(g, q));
    reason_set(why, REASON_TURN, seconds, NULL);
}

static void say_shadow(const struct candidates *victims, struct reason *why)
{
    const struct job *highest = victims->a[0];

    for (size_t i = 1; i < victims->n; i++)
        if (victims->a[i]->queue->priority > highest->queue->priority)
            highest = victims->a[i];
    reason_set(why, REASON_SHADOW, highest->queue->name, NULL);
}

bool gang_take_turn(struct gang *g, const struct picker *k, const struct preemptor *p,
                    struct candidates *victims, struct pieces *where, struct reason *why)
{
    const struct picker quiet = {.u = k->u, .trial = k->trial, .placer = k->placer, .buckets = k->buckets};
    struct search s = {.g = g, .k = &quiet, .p = p, .due_only = true};
    bool now = false;

    if (!is_gang(p->job) || why->never || g->running.n == 0)
        return false;
    now = find(&s, victims, where);
    if (!now) {
        s.due_only = false;
        if (find(&s, victims, where)) {
            promise(g, p, victims, where);
            say_turn(g, p->job->queue, why);
        } else {
            s.above = true;
            if (find(&s, victims, where))
                say_shadow(victims, why);
        }
        victims->n = 0;
        pieces_fini(where);
    }
    candidates_fini(&s.all);
    return now;
}
