/* The cluster as it would be without some jobs. Two books say so: the trial has the room on vnodes,
 * pick_count the counters that the run limits look at, and who changes the one changes the other. A suspended
 * job that wants to go on needs its own vnodes again; any other job may be placed elsewhere. */
#include "pick.h"

#include <string.h>

#include "insufficiency.h"
#include "resume_fit.h"
#include "preempt_level.h"
#include "log.h"
#include "mem.h"
#include "run_limits.h"

/* Queue and server count alike. A job whose queue has gone is counted at the server alone. */
void pick_count(const struct job *j, struct queue *server, int64_t times)
{
    struct queue *q[] = {j->queue, server};

    for (size_t i = 0; i < 2; i++)
        if (q[i])
            queue_count(q[i], j, times);
}

/* The asker that matching wants. Where jobs are to be stopped no ends count (SPAN_NO_ENDS): a victim's own
 * end would make room twice. */
static struct asker pick_asker(const struct picker *k, const struct preemptor *p)
{
    int64_t begin_s = p->later_s ? p->later_s : p->now_s;
    enum span_by by = p->no_resvs ? SPAN_NONE : p->later_s ? SPAN_LATER : SPAN_NO_ENDS;

    return (struct asker){.cl = k->cl,
                          .request = p->request,
                          .queue = p->job->queue,
                          .job = p->job,
                          .span = {by, begin_s, begin_s + job_lasts_s(p->job)}};
}

bool pick_may_suffice(const struct picker *k, const struct preemptor *p)
{
    struct asker a = pick_asker(k, p);

    return p->job->sched_state == SCHED_STATE_SUSPENDED ||
           stocks_may_suffice(buckets_stocks(k->buckets), &a, &(struct amounts){0});
}

/* What they need of a vnode where it is free, as far as the sums count it. */
static void add_needed(const struct asker *a, const struct alloc_part *x, struct amounts *sum)
{
    const struct node *n = x->node;

    if (!n || n->state || n->exclusive || !match_pool(a, n))
        return;
    for (uint32_t i = 0; i < x->use.n; i++) {
        int64_t have = amounts_get(&n->free, x->use.a[i].res), need = x->use.a[i].n;
        amounts_plus(sum, x->use.a[i].res, need < have ? need : have);
    }
}

bool pick_may_suffice_beside(const struct picker *k, const struct preemptor *p,
                             const struct allocation *others)
{
    struct asker a = pick_asker(k, p);
    struct amounts needed = {0};

    for (size_t i = 0; i < others->n; i++)
        add_needed(&a, &others->a[i], &needed);
    bool may = p->job->sched_state == SCHED_STATE_SUSPENDED ||
               stocks_may_suffice(buckets_stocks(k->buckets), &a, &needed);
    amounts_fini(&needed);
    return may;
}

/* A limit is named before a resource, so where one forbids the job the sums say nothing. */
res_id pick_lacks(const struct picker *k, const struct preemptor *p)
{
    struct asker a = pick_asker(k, p);
    struct reason why;

    if (pick_may_suffice(k, p) || !run_limits_allow(k->cl, p->job, &why))
        return RES_NONE;
    return insufficiency_res(k->buckets, &a);
}

bool pick_sums_say_it(const struct picker *k, const struct preemptor *p)
{
    struct asker a = pick_asker(k, p);
    struct amounts free_now = {0}, total = {0};
    struct reason why;

    bool say_it = stocks_sum(buckets_stocks(k->buckets), &a, &free_now, &total) &&
                  run_limits_allow(k->cl, p->job, &why) && insufficiency_res(k->buckets, &a) == RES_NONE;
    amounts_fini(&free_now);
    amounts_fini(&total);
    return say_it;
}

/* A suspended job does not go through placement: it takes its own vnodes again or none. */
bool pick_place(const struct picker *k, const struct preemptor *p, struct allocation *where,
                struct reason *why)
{
    struct asker a = pick_asker(k, p);
    bool meets;

    if (!run_limits_allow(k->cl, p->job, why))
        return false;
    if (p->job->sched_state != SCHED_STATE_SUSPENDED) {
        if (psets_find_beside(k->placer, k->buckets, k->trial, &a, where, &meets))
            return true;
        if (meets)
            reason_set(why, REASON_CONFLICT, NULL, NULL);
        else
            psets_why(k->buckets, &a, why);
        return false;
    }
    if (!resume_fits(&a, why))
        return false;
    trial_take_all(k->trial, &p->job->on);
    allocation_copy(where, &p->job->on);
    return true;
}

/* Soft limits: with these jobs stopped, would one of them have at least the level of the urgent job? Then
 * the victim could preempt it in turn. */
bool pick_escalates(const struct picker *k, const struct preemptor *p, const struct candidates *chosen)
{
    for (size_t i = 0; preempt_level_moves(k->cl) && i < chosen->n; i++)
        if (preempt_level_if_stopped(k->cl, chosen->a[i]) >= p->level)
            return true;
    return false;
}

/* A victim that still has its place free beside the urgent job need not be stopped. */
static bool is_open_for(const struct allocation *on)
{
    for (size_t i = 0; i < on->n; i++) {
        const struct node *n = on->a[i].node;
        if (n->exclusive || (on->a[i].alone && node_is_occupied(n)))
            return false;
    }
    return true;
}

/* Return true with its place taken again. Part by part: several may lie on one vnode, which has to take them together. */
static bool take_back(const struct picker *k, const struct job *j)
{
    const struct allocation *on = job_freed(j);
    size_t mark = trial_mark(k->trial);
    bool fits = is_open_for(on);

    for (size_t i = 0; fits && i < on->n; i++) {
        fits = amounts_cover(&on->a[i].node->free, &on->a[i].use, NULL);
        trial_take(k->trial, on->a[i].node, &on->a[i].use);
    }
    if (!fits)
        trial_undo(k->trial, mark);
    return fits;
}

/* Put it back into the counts; where a limit then forbids the urgent job, take it out again. */
static bool is_needed_for_limits(const struct picker *k, const struct preemptor *p, struct job *j)
{
    struct reason why;

    pick_count(j, cluster_server(k->cl), 1);
    if (run_limits_allow(k->cl, p->job, &why))
        return false; /* and it stays counted */
    pick_count(j, cluster_server(k->cl), -1);
    return true;
}

void pick_prune(const struct picker *k, const struct preemptor *p, const struct candidates *chosen,
                struct candidates *victims)
{
    for (size_t i = chosen->n; i > 0; i--) {
        struct job *j = chosen->a[i - 1];
        size_t mark = trial_mark(k->trial);
        if (take_back(k, j) && !is_needed_for_limits(k, p, j)) {
            if (k->log)
                decisions_log(k->log, LOGE_DEBUG, j->id, "Simulation: preemption of job not needed.");
            continue;
        }
        trial_undo(k->trial, mark);
        victims->a = mem_room(victims->a, victims->n, &victims->cap, sizeof *victims->a);
        victims->a[victims->n++] = j;
    }
    /* Those that were released are counted already, by is_needed_for_limits. */
    for (size_t i = 0; i < victims->n; i++)
        pick_count(victims->a[i], cluster_server(k->cl), 1);
}

/* The urgent job's place is looked for in the trial and undone with it; only `where` survives. */
bool pick_suffices(const struct picker *k, const struct preemptor *p, const struct candidates *stopped,
                   struct allocation *where)
{
    size_t mark = trial_mark(k->trial);
    struct allocation found = {0};
    struct reason why;

    for (size_t i = 0; i < stopped->n; i++) {
        trial_give_all(k->trial, job_freed(stopped->a[i]));
        pick_count(stopped->a[i], cluster_server(k->cl), -1);
    }
    bool ok = !pick_escalates(k, p, stopped) && pick_place(k, p, &found, &why);
    for (size_t i = 0; i < stopped->n; i++)
        pick_count(stopped->a[i], cluster_server(k->cl), 1);
    trial_undo(k->trial, mark);
    if (!ok || !where) {
        allocation_fini(&found);
        return ok;
    }
    allocation_fini(where);
    *where = found;
    return true;
}

/* Those before `at` and behind it, which is taken out of the list. */
static struct job *thin_out(struct candidates *l, size_t at)
{
    struct job *j = l->a[at];

    memmove(&l->a[at], &l->a[at + 1], (l->n - at - 1) * sizeof(struct job *));
    l->n--;
    return j;
}

/* thin_out undone. */
static void thin_in(struct candidates *l, size_t at, struct job *j)
{
    memmove(&l->a[at + 1], &l->a[at], (l->n - at) * sizeof(struct job *));
    l->a[at] = j;
    l->n++;
}

void pick_thin(const struct picker *k, const struct preemptor *p, struct candidates *victims,
               struct allocation *where)
{
    if (victims->n > PICK_THIN_MAX)
        return;
    for (size_t i = victims->n; victims->n > 1 && i > 0; i--) {
        struct job *j = thin_out(victims, i - 1);

        if (!pick_suffices(k, p, victims, where))
            thin_in(victims, i - 1, j);
        else if (k->log)
            decisions_log(k->log, LOGE_DEBUG, j->id, "Simulation: preemption of job not needed.");
    }
}

static bool ends_by(const struct job *j, int64_t until_s)
{
    return j->start_s > 0 && j->limit_s > 0 && job_begun_s(j) + j->limit_s <= until_s;
}

/* By walltimes alone: a job that may stay longer (soft_walltime) is expected to end as well. */
bool pick_can_wait(const struct picker *k, const struct preemptor *p, int64_t until_s)
{
    size_t mark = trial_mark(k->trial), n;
    struct job *const *running = cluster_running(k->cl, &n);
    struct allocation where = {0};
    struct reason why;

    for (size_t i = 0; i < n; i++)
        if (ends_by(running[i], until_s)) {
            trial_give_all(k->trial, &running[i]->on);
            pick_count(running[i], cluster_server(k->cl), -1);
        }
    bool fits = pick_place(k, p, &where, &why);
    for (size_t i = 0; i < n; i++)
        if (ends_by(running[i], until_s))
            pick_count(running[i], cluster_server(k->cl), 1);
    trial_undo(k->trial, mark);
    allocation_fini(&where);
    return fits;
}
