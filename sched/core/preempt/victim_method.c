/* Two walks on the trial, both undone.
 *
 * The methods: each victim gives way by its first one and the urgent job is put in its place. Where that leaves less than
 * nothing, a victim that was only suspended there, and keeps some of it, is given a later method.
 *
 * The time to come: ends that are known, one after the other; at each the victims that are still away are looked at in
 * their order. Those alike need one look: where the first has no room the others have none. */
#include "victim_method.h"

#include <stdlib.h>
#include <string.h>

#include "preempt_cost.h"
#include "mem.h"
#include "trial.h"
#include "freed_by.h"

/* A look places one job, some microseconds to a millisecond; the estimate of return is for a comment and must not hold up
 * the cycle. */
enum { LOOKS_MAX = 2000 };

void victim_method_fill(struct victim_method *s, const struct policy *p, const struct job *j, int64_t now_s)
{
    struct preempt_methods allowed;

    *s = (struct victim_method){.job = j};
    job_preempt_methods(j, p, now_s, &allowed);
    for (unsigned i = 0; i < allowed.n; i++)
        if (job_can(j, (enum method_id)allowed.m[i]))
            preempt_methods_add(&s->methods, (enum method_id)allowed.m[i]);
    s->method = preempt_methods_first(&s->methods);
    s->lost_s = preempt_cost_lost_by(s->method, j, now_s);
}

void victim_methods_fini(struct victim_method s[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        allocation_fini(&s[i].kept);
}

/* --- methods ------------------------------------------------------------------------------------------- */

/* The first method that frees memory too. */
static enum method_id later_method(const struct victim_method *s)
{
    for (unsigned i = 0; i < s->methods.n; i++)
        if (!preempt_method_row((enum method_id)s->methods.m[i])->keeps_memory)
            return (enum method_id)s->methods.m[i];
    return METHOD_NONE;
}

/* Would its method leave it on its vnodes, with what note_kept lists? */
static bool is_suspended(const struct victim_method *s)
{
    return preempt_method_row(s->method)->after == AFTER_SUSPENDED;
}

/* What it keeps when it is suspended: all that it has, less what a suspension frees. */
static void note_kept(const struct cluster *cl, struct victim_method *s)
{
    struct allocation freed = {0};

    freed_by_suspension(cl, s->job, &freed);
    allocation_copy(&s->kept, &s->job->on);
    for (size_t i = 0; i < s->kept.n; i++)
        amounts_add_times(&s->kept.a[i].use, &freed.a[i].use, -1);
    allocation_fini(&freed);
}

/* Does it keep some of an amount of which a vnode has less than nothing free, with the urgent job in its
 * place? */
static bool keeps_what_lacks(const struct victim_method *s)
{
    for (size_t i = 0; i < s->kept.n; i++) {
        const struct node *n = s->kept.a[i].node;
        for (uint32_t k = 0; n && k < n->free.n; k++)
            if (n->free.a[k].n < 0 && amounts_get(&s->kept.a[i].use, n->free.a[k].res) > 0)
                return true;
    }
    return false;
}

/* Two passes: all give way by their first methods, and the urgent job is put where it will be; then each
 * suspended victim that keeps what is missing is given a later method, one after the other, until nothing
 * is missing. */
void victim_methods_settle(const struct picker *k, struct victim_method s[], size_t n,
                           const struct allocation *where, int64_t now_s)
{
    size_t mark = trial_mark(k->trial);

    for (size_t i = 0; i < n; i++) {
        trial_give_all(k->trial, &s[i].job->on);
        if (!is_suspended(&s[i]))
            continue;
        note_kept(k->cl, &s[i]);
        trial_take_all(k->trial, &s[i].kept);
    }
    trial_take_all(k->trial, where);
    for (size_t i = 0; i < n; i++) {
        if (!is_suspended(&s[i]) || !later_method(&s[i]) || !keeps_what_lacks(&s[i]))
            continue;
        trial_give_all(k->trial, &s[i].kept);
        s[i].method = later_method(&s[i]);
        s[i].lost_s = preempt_cost_lost_by(s[i].method, s[i].job, now_s);
    }
    trial_undo(k->trial, mark);
}

/* --- the time to come ----------------------------------------------------------------------------------- */

struct end { /* of a job that runs, or will */
    int64_t at_s;
    const struct allocation *on;
};

/* The second walk: what has ended so far is in the trial. */
struct victim_return {
    const struct picker *k;
    struct victim_method *s;
    size_t n;
    struct end *ends; /* in their order */
    size_t n_ends;
    int looks;
    struct request **requests; /* the trial borrows from them; the last is that of `of` */
    size_t n_requests, cap;
    const struct job *of; /* the job looked at last: many are alike */
};

/* Jobs of one queue that ask for the same. Where one has no room the other has none, in the same look. */
static bool are_alike(const struct job *a, const struct job *b)
{
    return a && a->select == b->select && a->place == b->place && a->queue == b->queue; /* interned */
}

static const struct request *request_of(struct victim_return *x, const struct job *j)
{
    if (!are_alike(x->of, j)) {
        x->requests = mem_room(x->requests, x->n_requests, &x->cap, sizeof *x->requests);
        x->requests[x->n_requests++] = request_parse(cluster_catalogue(x->k->cl), j->select, j->place);
        x->of = j;
    }
    return x->requests[x->n_requests - 1];
}

/* A suspended job is resumed where it is: it needs again what it gave. */
static bool resumes(struct victim_return *x, const struct victim_method *s)
{
    for (size_t i = 0; i < s->job->on.n; i++) {
        const struct alloc_part *p = &s->job->on.a[i];
        for (uint32_t k = 0; p->node && k < p->use.n; k++) {
            res_id res = p->use.a[k].res;
            int64_t kept = i < s->kept.n ? amounts_get(&s->kept.a[i].use, res) : 0;
            if (p->use.a[k].n - kept > amounts_get(&p->node->free, res))
                return false;
        }
        if (!p->node || p->node->exclusive)
            return false;
    }
    trial_give_all(x->k->trial, &s->kept);
    trial_take_all(x->k->trial, &s->job->on);
    return true;
}

/* A requeued victim may go anywhere. */
static bool has_room_again(struct victim_return *x, const struct victim_method *s)
{
    struct asker a = {
        .cl = x->k->cl, .request = request_of(x, s->job), .queue = s->job->queue, .job = s->job};
    struct allocation where = {0};
    bool fits = psets_find(x->k->placer, x->k->buckets, &a, &where);

    allocation_fini(&where);
    return fits;
}

/* One look at a moment, at all victims that are away, in their order; a victim that is back keeps its room
 * for the following looks. Return how many are still away. */
static size_t victim_method_look(struct victim_return *x, int64_t now_s)
{
    const struct job *failed = NULL;
    size_t away = 0;

    for (size_t i = 0; i < x->n && x->looks < LOOKS_MAX; i++) {
        struct victim_method *s = &x->s[i];
        if (s->back_s)
            continue;
        away++;
        if (!is_suspended(s) && are_alike(failed, s->job))
            continue;
        x->looks++;
        if (is_suspended(s) ? resumes(x, s) : has_room_again(x, s)) {
            s->back_s = now_s;
            away--;
        } else if (!is_suspended(s)) {
            failed = s->job;
        }
    }
    return away;
}

static int victim_method_by_time(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

/* For the bisection in note_ends only; no order that anyone sees depends on it. */
static int victim_method_by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const struct job *const *)a, y = (uintptr_t) * (const struct job *const *)b;

    return x < y ? -1 : x > y;
}

static const struct job **victims_sorted(const struct victim_return *x)
{
    const struct job **list = mem_new(x->n + 1, sizeof *list);

    for (size_t i = 0; i < x->n; i++)
        list[i] = x->s[i].job;
    qsort(list, x->n, sizeof *list, victim_method_by_address);
    return list;
}

/* Running jobs other than the victims, and the urgent job. Ends that are not known (no walltime) are left out:
 * what waits for them has back_s 0. */
static void note_ends(struct victim_return *x, const struct preemptor *p, const struct allocation *where)
{
    size_t n;
    struct job *const *running = cluster_running(x->k->cl, &n);
    const struct job **victims = victims_sorted(x);

    x->ends = mem_new(n + 1, sizeof *x->ends);
    for (size_t i = 0; i < n; i++) {
        const struct job *j = running[i];
        int64_t at_s = job_begun_s(j) + j->limit_s;
        if (j->limit_s > 0 && j->start_s > 0 &&
            !bsearch(&j, victims, x->n, sizeof j, victim_method_by_address))
            x->ends[x->n_ends++] = (struct end){at_s > p->now_s ? at_s : p->now_s, &j->on};
    }
    if (p->job->limit_s > 0)
        x->ends[x->n_ends++] = (struct end){p->now_s + p->job->limit_s, where};
    qsort(x->ends, x->n_ends, sizeof *x->ends, victim_method_by_time);
    free(victims);
}

/* Begin the trial: all victims have given way by their methods, and the urgent job has its place. */
static void victim_method_begin(struct victim_return *x, const struct allocation *where)
{
    for (size_t i = 0; i < x->n; i++) {
        struct victim_method *s = &x->s[i];
        trial_give_all(x->k->trial, &s->job->on);
        if (is_suspended(s))
            trial_take_all(x->k->trial, &s->kept);
        s->back_s = preempt_method_row(s->method)->after == AFTER_GONE ? VICTIM_NEVER_BACK : 0;
    }
    trial_take_all(x->k->trial, where);
}

void victim_methods_estimate_return(const struct picker *k, const struct preemptor *urgent,
                                    struct victim_method s[], size_t n, const struct allocation *where)
{
    struct victim_return x = {.k = k, .s = s, .n = n};
    size_t mark = trial_mark(k->trial);

    note_ends(&x, urgent, where);
    victim_method_begin(&x, where);
    size_t away = victim_method_look(&x, urgent->now_s);
    for (size_t i = 0; i < x.n_ends && away > 0 && x.looks < LOOKS_MAX; i++) {
        trial_give_all(k->trial, x.ends[i].on);
        if (i + 1 == x.n_ends || x.ends[i + 1].at_s > x.ends[i].at_s)
            away = victim_method_look(&x, x.ends[i].at_s);
    }
    trial_undo(k->trial, mark);
    while (x.n_requests > 0)
        request_destroy(x.requests[--x.n_requests]);
    free(x.requests);
    free(x.ends);
}
