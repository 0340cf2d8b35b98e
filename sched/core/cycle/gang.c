/* Which job has its turn. See gang.h for the rule.
 *
 * A search is greedy: stop one after the other, in the order in which they have to give way (lower queues first, then
 * ended turns first), until the job fits; then those that are not needed are released. It is made twice: among those who
 * must give way now, and, if these are not enough, among all who will have to sooner or later. What the second finds is
 * a promise. A third question, with the queues above as well, only finds the words for a job that is in a shadow.
 *
 * Stopped in the trial is what a suspension gives back: all but memory. So a job whose memory does not fit beside that of
 * those who are suspended finds no place, and no job is stopped for it. */

#include "gang.h"

#include <stdio.h>
#include <stdlib.h>

#include "mem.h"
#include "freed_by.h"

enum {
    /* Victims that are tried singly, then twice as many each time: small jobs stop no job too many, large ones cost
     * O(log victims) placements. A choice. */
    ONE_BY_ONE = 16,
    /* For at most so many jobs in a cycle the other resources that they need are kept; further ones may wait longer. A
     * choice: each is taken out of the trial in each search. */
    PROMISES_MAX = 16
};

struct gang_promise {
    struct allocation rest; /* what the job needs beside what it was promised of others */
    int64_t priority;       /* of its queue */
};

struct gang {
    struct cluster *cl;
    int64_t now_s;
    struct candidates running; /* of gang queues, in the order in which they give way */
    size_t first;              /* the first of them who may still be asked */
    struct gang_promise promises[PROMISES_MAX];
    size_t n_promises;
    unsigned cycle, search; /* numbers for marks */
};

/* One question. */
struct gang_search {
    struct gang *g;
    const struct picker *k;
    const struct preemptor *p;
    struct candidates neighbours;  /* of a suspended job */
    const struct candidates *from; /* the jobs that may give way, in this order */
    size_t at;                     /* the next of them */
    struct candidates chosen;      /* who is stopped in the trial */
    bool due_only;                 /* those who must give way now */
    bool above;                    /* those of queues above too */
};

struct gang *gang_create(struct cluster *cl)
{
    struct gang *g = mem_new(1, sizeof *g);

    g->cl = cl;
    return g;
}

static void forget_promises(struct gang *g)
{
    while (g->n_promises > 0)
        allocation_fini(&g->promises[--g->n_promises].rest);
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
    return q->timeslice_s > 0 ? q->timeslice_s : cluster_policy(g->cl)->timeslice_s;
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
    if (j->sched_state == SCHED_STATE_SUSPENDED && j->since_s == 0)
        j->since_s = now_s;
}

/* When the turn of this running job is over. */
static int64_t over_at(const struct gang *g, const struct job *j)
{
    return j->turn_s + slice_of(g, j->queue);
}

/* Sites without time slices pay a look at each queue and nothing else. */
static bool any_queue_is_gang(const struct cluster *cl)
{
    for (struct queue *q = cluster_next_queue(cl, NULL); q; q = cluster_next_queue(cl, q))
        if (q->gang)
            return true;
    return false;
}

/* The order in which they give way: lower queues first, then the turn that is over first, then the job that
 * came last. */
static int gang_by_turn(const void *a, const void *b, void *gang)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    int64_t over_x = over_at(gang, x), over_y = over_at(gang, y);

    if (x->queue->preempt.priority != y->queue->preempt.priority)
        return x->queue->preempt.priority < y->queue->preempt.priority ? -1 : 1;
    if (over_x != over_y)
        return over_x < over_y ? -1 : 1;
    return x->rank > y->rank ? -1 : x->rank < y->rank;
}

static void gang_add(struct candidates *l, struct job *j)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
}

static void sort(struct gang *g, struct candidates *l)
{
    if (l->n)
        qsort_r(l->a, l->n, sizeof *l->a, gang_by_turn, g);
}

void gang_review(struct gang *g, int64_t now_s)
{
    size_t n;
    struct job *const *running = cluster_running(g->cl, &n);

    g->now_s = now_s;
    g->cycle++;
    g->running.n = g->first = 0;
    forget_promises(g);
    if (!any_queue_is_gang(g->cl))
        return;
    for (size_t i = 0; i < n; i++)
        if (is_gang(running[i])) {
            if (running[i]->turn_s == 0)
                running[i]->turn_s = now_s;
            gang_add(&g->running, running[i]);
        }
    sort(g, &g->running);
}

void gang_keep_promises(struct gang *g, struct trial *t, const struct queue *q)
{
    for (size_t i = 0; q->gang && i < g->n_promises; i++)
        if (g->promises[i].priority >= q->preempt.priority)
            trial_take_all(t, &g->promises[i].rest);
}

/* --- who could be stopped ---------------------------------------------------------------------------- */

/* A job that keeps its vnodes shut while it is suspended cannot take turns. */
static bool stays_alone(const struct gang *g, const struct allocation *on)
{
    for (size_t i = 0; cluster_policy(g->cl)->suspend_frees && i < on->n; i++)
        if (on->a[i].alone)
            return true;
    return false;
}

/* May this job be stopped for a turn, and would it help? One under an order, a victim, and one that is
 * promised to another job of this cycle may not. A suspended asker needs its own vnodes, on which
 * list_neighbours has looked already. */
static bool may_yield(const struct gang_search *s, const struct job *v)
{
    return is_gang(v) && job_is_up(v) && v->order == ORDER_NONE && !v->gives_way && !v->resv &&
           v->promised != s->g->cycle && candidates_nodes_are_up(v) && !stays_alone(s->g, &v->on) &&
           !s->p->has_failed(s->p->arg, s->p->job, v) &&
           (s->p->job->sched_state == SCHED_STATE_SUSPENDED || candidates_are_useful(s->p, v));
}

/* Is it too early for this one, and so for all behind it? */
static bool is_too_early(const struct gang_search *s, const struct job *v)
{
    int64_t ours = s->p->job->queue->preempt.priority, theirs = v->queue->preempt.priority;

    if (s->above)
        return false;
    return theirs > ours || (s->due_only && theirs == ours && s->g->now_s < over_at(s->g, v));
}

/* A suspended job is resumed where it was: only jobs there can help. */
static void list_neighbours(struct gang_search *s)
{
    const struct allocation *on = &s->p->job->on;

    s->g->search++;
    for (size_t i = 0; i < on->n; i++)
        for (size_t k = 0; on->a[i].node && k < on->a[i].node->n_on; k++) {
            struct job *v = on->a[i].node->jobs[k];
            if (v->listed != s->g->search && is_gang(v))
                gang_add(&s->neighbours, v);
            v->listed = s->g->search;
        }
    sort(s->g, &s->neighbours);
}

/* The next job that could be stopped, or NULL. The list is in the order of giving way, so the first that is
 * too early ends it. */
static struct job *next_of(struct gang_search *s)
{
    while (s->at < s->from->n) {
        struct job *v = s->from->a[s->at];
        if (is_too_early(s, v))
            return NULL;
        s->at++;
        if (may_yield(s, v))
            return v;
    }
    return NULL;
}

/* A search begins. Of the list of all running jobs those in front are passed over for good once they are
 * stopped. */
static void gang_begin(struct gang_search *s)
{
    struct gang *g = s->g;

    /* those in front have been stopped by this very cycle */
    while (g->first < g->running.n && g->running.a[g->first]->order != ORDER_NONE)
        g->first++;
    s->chosen.n = 0;
    s->at = s->from == &g->running ? g->first : 0;
}

/* --- searching --------------------------------------------------------------------------------------- */

/* Stopped in the trial: what a suspension gives back comes free, and limits do not count the job. */
static void gang_stop(struct gang_search *s, struct job *v)
{
    freed_by_note(s->g->cl, v, true);
    gang_add(&s->chosen, v);
    trial_give_all(s->k->trial, job_freed(v));
    pick_count(v, cluster_server(s->g->cl), -1);
}

/* Stop more and more of them, in order. Return false if all of them are not enough; the counters are as before. */
static bool stop_until_it_fits(struct gang_search *s, struct allocation *where)
{
    for (size_t before = 0;; before = s->chosen.n) {
        size_t most = before < ONE_BY_ONE ? before + 1 : 2 * before;
        struct reason ignored;
        struct job *v;

        while (s->chosen.n < most && (v = next_of(s)) != NULL)
            gang_stop(s, v);
        if (s->chosen.n == before)
            break;
        if (pick_place(s->k, s->p, where, &ignored))
            return true;
    }
    /* The trial is undone by its mark; the counters have none. */
    for (size_t i = 0; i < s->chosen.n; i++)
        pick_count(s->chosen.a[i], cluster_server(s->g->cl), 1);
    return false;
}

/* true: `victims` and `where` are filled. The trial and the counters are as before. */
static bool gang_find(struct gang_search *s, struct candidates *victims, struct allocation *where)
{
    size_t mark = trial_mark(s->k->trial);

    gang_begin(s);
    if (stop_until_it_fits(s, where))
        pick_prune(s->k, s->p, &s->chosen, victims);
    trial_undo(s->k->trial, mark);
    if (victims->n > 0 && !stays_alone(s->g, where))
        return true;
    victims->n = 0;
    allocation_fini(where);
    return false;
}

/* --- waiting ----------------------------------------------------------------------------------------- */

/* The part of its place that no victim gives back. */
static void make_rest(const struct candidates *victims, const struct allocation *where,
                      struct allocation *rest)
{
    struct allocation all = {0};

    allocation_copy(&all, where);
    size_t *next = allocation_index(&all);
    for (size_t i = 0; i < victims->n; i++)
        allocation_lessen(&all, next, job_freed(victims->a[i]));
    allocation_unindex(&all, next);
    for (size_t i = 0; i < all.n; i++) {
        bool any = false;
        for (uint32_t k = 0; k < all.a[i].use.n; k++)
            any = any || all.a[i].use.a[k].n > 0;
        if (any)
            allocation_add(rest, all.a[i].node, &all.a[i].use, false);
    }
    allocation_fini(&all);
}

/* It waits for the end of these turns, and is promised them: they are marked so for this cycle, and the
 * cycle comes again when the last is over. */
static void promise(struct gang *g, const struct preemptor *p, const struct candidates *victims,
                    const struct allocation *where)
{
    int64_t last_s = g->now_s + 1;

    for (size_t i = 0; i < victims->n; i++) {
        struct job *v = victims->a[i];
        v->promised = g->cycle;
        if (v->queue->preempt.priority == p->job->queue->preempt.priority && over_at(g, v) > last_s)
            last_s = over_at(g, v);
    }
    p->later(p->arg, last_s);
    if (g->n_promises == PROMISES_MAX)
        return;
    struct gang_promise *x = &g->promises[g->n_promises++];
    *x = (struct gang_promise){.priority = p->job->queue->preempt.priority};
    make_rest(victims, where, &x->rest);
}

static void say_turn(const struct gang *g, const struct queue *q, struct reason *why)
{
    char seconds[24];

    snprintf(seconds, sizeof seconds, "%lld", (long long)slice_of(g, q));
    reason_set(why, REASON_TURN, seconds, NULL);
}

/* Jobs of the highest of these queues cast the shadow; the comment names that queue. */
static void say_shadow(const struct candidates *victims, struct reason *why)
{
    const struct job *highest = victims->a[0];

    for (size_t i = 1; i < victims->n; i++)
        if (victims->a[i]->queue->preempt.priority > highest->queue->preempt.priority)
            highest = victims->a[i];
    reason_set(why, REASON_SHADOW, highest->queue->name, NULL);
}

/* Up to three searches, see the head. Log lines of the picker are left out: a turn that does not
 * come is not worth a line. */
bool gang_take_turn(struct gang *g, const struct picker *k, const struct preemptor *p,
                    struct candidates *victims, struct allocation *where, struct reason *why)
{
    const struct picker quiet = {.cl = k->cl, .trial = k->trial, .placer = k->placer, .buckets = k->buckets};
    struct gang_search s = {.g = g, .k = &quiet, .p = p, .from = &g->running, .due_only = true};
    bool now;

    if (!is_gang(p->job) || why->never || g->running.n == 0)
        return false;
    if (p->job->sched_state == SCHED_STATE_SUSPENDED) {
        list_neighbours(&s);
        s.from = &s.neighbours;
    }
    now = gang_find(&s, victims, where);
    if (!now) {
        s.due_only = false;
        if (gang_find(&s, victims, where)) {
            promise(g, p, victims, where);
            say_turn(g, p->job->queue, why);
        } else {
            s.above = true;
            if (gang_find(&s, victims, where))
                say_shadow(victims, why);
        }
        victims->n = 0;
        allocation_fini(where);
    }
    candidates_fini(&s.neighbours);
    candidates_fini(&s.chosen);
    return now;
}
