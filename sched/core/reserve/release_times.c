/* Times to come. See release_times.h.
 *
 * Nothing ends before now + 1: an end that is due but has not come frees nothing for a job that is started now. */
#include "release_times.h"

#include <stdlib.h>

#include "mem.h"

static int64_t ends_at(const struct job *j, int64_t now_s)
{
    int64_t begun_s = job_begun_s(j), soft_s = j->limit_s;
    int64_t most_s = j->most_s ? j->most_s : JOB_FOREVER_S;

    if (j->sched_state == SCHED_STATE_ENDING)
        return now_s + 1;
    if (!job_holds_nodes(j)) /* ordered to run or go on, or awaits others */
        return now_s + job_lasts_s(j);
    if (soft_s == 0)
        return now_s + JOB_FOREVER_S;
    if (begun_s == 0)
        begun_s = now_s;
    int64_t end_s = begun_s + soft_s;
    if (end_s <= now_s && soft_s < most_s) {
        end_s = begun_s + ((now_s - begun_s) / soft_s + 1) * soft_s;
        if (end_s > begun_s + most_s)
            end_s = begun_s + most_s;
    }
    return end_s > now_s ? end_s : now_s + 1;
}

static void release_times_add(struct release_times *l, struct job *j, const struct allocation *on,
                              int64_t now_s)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = (struct release){
        .at_s = ends_at(j, now_s), .job = j, .on = on, .moves = ends_at(j, now_s) != ends_at(j, now_s + 1)};
}

static void release_times_put(struct allocation *to, const struct allocation *from)
{
    for (size_t i = 0; i < from->n; i++)
        allocation_add(to, from->a[i].node, &from->a[i].use, false);
}

/* --- preemptions under way -------------------------------------------------------------------------------- */

static bool gives_way(const struct job *j)
{
    return j->gives_way || j->order == ORDER_STOP;
}

static bool are_places_known(struct job *const *awaiting, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (awaiting[i]->order != ORDER_AWAITS && awaiting[i]->awaited.n == 0)
            return false;
    return true;
}

static void add_kept(struct release_times *l, const struct cluster *cl)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);

    for (size_t i = 0; i < n; i++)
        if (nodes[i]->kept.n > 0)
            allocation_add(&l->kept, nodes[i], &nodes[i]->kept, false);
}

static void add_awaiting(struct release_times *l, struct job *j, int64_t now_s)
{
    bool is_ours = j->order == ORDER_AWAITS;

    if (is_ours)
        release_times_put(&l->kept, &j->reserve);
    release_times_put(&l->come, is_ours ? &j->claim : &j->awaited);
    release_times_add(l, j, is_ours ? &j->claim : &j->awaited, now_s);
}

/* Jobs in a reservation give back nothing: it has their room until its end. */
static void add_resvs(struct release_times *l, const struct cluster *cl, int64_t now_s)
{
    for (struct resv *r = cluster_next_resv(cl, NULL); r; r = cluster_next_resv(cl, r)) {
        if (!r->is_charged || r->n_times == 0)
            continue;
        l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
        l->a[l->n++] = (struct release){.at_s = r->times[0].to_s > now_s ? r->times[0].to_s : now_s + 1,
                                        .moves = r->times[0].to_s <= now_s,
                                        .resv = r,
                                        .on = &r->times[0].share};
    }
}

static int release_times_by_time(const void *a, const void *b)
{
    const struct release *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

static void empty(struct release_times *l)
{
    l->n = 0;
    allocation_fini(&l->leave);
    allocation_fini(&l->kept);
    allocation_fini(&l->come);
}

/* Jobs that await room by the server's word. Where a place is not known none of them counts, and victims run on. */
static void list_awaiting(struct release_times *l, const struct cluster *cl, bool are_known, int64_t now_s)
{
    size_t n;
    struct job *const *jobs = cluster_awaiting(cl, &n);

    for (size_t i = 0; are_known && i < n; i++)
        if (jobs[i]->order != ORDER_AWAITS) /* else it is among the ordered ones */
            add_awaiting(l, jobs[i], now_s);
}

static void list_ordered(struct release_times *l, const struct cluster *cl, bool are_known, int64_t now_s)
{
    size_t n;
    struct job *const *jobs = cluster_ordered(cl, &n);

    for (size_t i = 0; i < n; i++)
        if (jobs[i]->resv)
            continue;
        else if (jobs[i]->order != ORDER_AWAITS)
            release_times_add(l, jobs[i], &jobs[i]->claim, now_s);
        else if (are_known)
            add_awaiting(l, jobs[i], now_s);
}

/* A victim is taken as gone: what it gives back is in `leave`. An ending one ends like any job. */
static bool leaves(const struct job *j, bool are_known)
{
    return are_known && j->sched_state != SCHED_STATE_ENDING && gives_way(j);
}

/* Jobs that run or end. */
static void list_holding(struct release_times *l, struct job *const *jobs, size_t n, bool are_known,
                         int64_t now_s)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i]->resv)
            continue;
        else if (leaves(jobs[i], are_known))
            release_times_put(&l->leave, job_freed(jobs[i]));
        else
            release_times_add(l, jobs[i], &jobs[i]->on, now_s);
}

bool release_times_gather_orders(struct release_times *l, const struct cluster *cl, int64_t now_s)
{
    size_t n;
    struct job *const *jobs = cluster_awaiting(cl, &n);

    empty(l);
    bool are_known = are_places_known(jobs, n);
    list_awaiting(l, cl, are_known, now_s);
    list_ordered(l, cl, are_known, now_s);
    return are_known;
}

int64_t release_times_of(const struct job *j, bool are_known, int64_t now_s)
{
    return !job_holds_nodes(j) || j->resv || leaves(j, are_known) ? 0 : ends_at(j, now_s);
}

void release_times_gather(struct release_times *l, const struct cluster *cl, int64_t now_s)
{
    bool are_known = release_times_gather_orders(l, cl, now_s);
    struct job *const *jobs;
    size_t n;

    if (l->come.n > 0)
        add_kept(l, cl);
    jobs = cluster_running(cl, &n);
    list_holding(l, jobs, n, are_known, now_s);
    jobs = cluster_ending(cl, &n);
    list_holding(l, jobs, n, are_known, now_s);
    add_resvs(l, cl, now_s);
}

void release_times_sort(struct release_times *l)
{
    if (l->n > 0)
        qsort(l->a, l->n, sizeof *l->a, release_times_by_time);
}

void release_times_list(struct release_times *l, const struct cluster *cl, int64_t now_s)
{
    release_times_gather(l, cl, now_s);
    release_times_sort(l);
}

void release_times_fini(struct release_times *l)
{
    empty(l);
    free(l->a);
    *l = (struct release_times){0};
}

size_t release_times_until(const struct release_times *l, int64_t at_s)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->a[middle].at_s <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
