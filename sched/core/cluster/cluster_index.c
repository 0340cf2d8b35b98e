/* The indices of the cluster: jobs at their vnodes, counts of what runs, which jobs and arrays may be started, and which objects wait
 * to be settled.
 *
 * A job is linked (it is listed at its vnodes, in the counts and in a class) or dirty (in none of these, but in the list that
 * settling goes through); never both, never neither. The same holds for a vnode and its bucket. So the code that is about to
 * change an object makes it dirty first: what is taken away then is what was added, since nothing has changed in between. */
#include "cluster_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "node_order.h"
#include "sched_resv.h"
#include "cluster_state.h"

/* Kept apart from the array's job, since subjobs may be seen before it. */
struct array_count {
    const char *id; /* interned: of the array */
    int64_t n_running;
    UT_hash_handle hh;
};

/* --- who may be started -------------------------------------------------------------------------------- */

/* "41[7].svr1" of "41[].svr1"; false: that is not an array's name. */
static bool cluster_index_name_of(char out[CLUSTER_ID_MAX], const char *array, int64_t index)
{
    const char *open = strchr(array, '[');

    if (!open || open[1] != ']')
        return false;
    snprintf(out, CLUSTER_ID_MAX, "%.*s[%lld]%s", (int)(open - array), array, (long long)index, open + 2);
    return true;
}

/* Return the lowest index that is not a job here, and drop indices that are jobs from the set. */
int64_t cluster_index_next(const struct cluster *cl, const struct job *array, char id[CLUSTER_ID_MAX])
{
    int64_t i;

    while (array->queued && (i = idset_next(array->queued, 0)) >= 0) {
        if (!cluster_index_name_of(id, array->id, i))
            return IDSET_NONE;
        if (!cluster_job(cl, id))
            return i;
        if (idset_remove(array->queued, (uint32_t)i) < 0)
            return IDSET_NONE;
    }
    return IDSET_NONE;
}

static struct array_count *count_of(const struct cluster *cl, const char *array_id)
{
    struct array_count *c;

    HASH_FIND_STR(cl->arrays, array_id, c);
    return c;
}

bool cluster_index_array_is_full(const struct cluster *cl, const struct job *array)
{
    const struct array_count *c = array->max_subjobs > 0 ? count_of(cl, array->id) : NULL;

    return c && c->n_running >= array->max_subjobs;
}

bool cluster_index_is_kept_back(const struct cluster *cl, const struct job *j)
{
    const struct job *array = j->is_array ? j : j->is_provisional ? cluster_array(cl, j) : NULL;

    return array && cluster_index_array_is_full(cl, array);
}

/* A full one can only be told when it will run, which is done where the order of jobs is binding. */
static bool array_waits(const struct cluster *cl, const struct job *array)
{
    char id[CLUSTER_ID_MAX];

    return (policy_is_strict(cl->policy) || !cluster_index_array_is_full(cl, array)) &&
           cluster_index_next(cl, array, id) != IDSET_NONE;
}

/* Everything that a cycle requires of a job before it looks at it. A provisional subjob waits only by
 * request: else its index does. */
bool cluster_index_may_wait(const struct cluster *cl, const struct job *j)
{
    if ((j->sched_state != SCHED_STATE_WAITING && j->sched_state != SCHED_STATE_SUSPENDED) ||
        j->order != ORDER_NONE || !j->queue || !j->queue->executes || !cluster_serves(cl, j->queue))
        return false;
    if (j->is_array)
        return array_waits(cl, j);
    return !j->is_provisional || j->urged;
}

/* is_full is part of the class's key, so it is set first. */
static void cluster_index_join(struct cluster *cl, struct job *j)
{
    j->is_full = j->is_array && cluster_index_array_is_full(cl, j);
    TELL(cl, job_waits, j);
}

void cluster_index_rejoin(struct cluster *cl, struct job *j)
{
    if (j->class)
        TELL(cl, job_leaves, j);
    if (!j->dirty && cluster_index_may_wait(cl, j))
        cluster_index_join(cl, j);
}

/* Put the job into its class, or take it out, where that has changed. */
void cluster_index_refresh(struct cluster *cl, struct job *array)
{
    bool waits;

    if (array->dirty)
        return; /* settling will see to it */
    waits = cluster_index_may_wait(cl, array);
    if ((array->class != NULL) != waits ||
        (waits && array->is_full != cluster_index_array_is_full(cl, array)))
        cluster_index_rejoin(cl, array);
}

/* --- counts ---------------------------------------------------------------------------------------------- */

void cluster_index_count_array(struct cluster *cl, const char *array_id, int64_t times)
{
    struct array_count *c = count_of(cl, array_id);

    if (!c) {
        c = mem_new(1, sizeof *c);
        c->id = intern_again(array_id);
        HASH_ADD_KEYPTR(hh, cl->arrays, c->id, strlen(c->id), c);
    }
    c->n_running += times;
    if (c->n_running == 0) {
        HASH_DEL(cl->arrays, c);
        intern_unref(c->id);
        free(c);
    }
}

/* The array may have become full, or have room again, which is another class. A subjob that changes is out of the count until the cluster
 * settles, and mostly in again then: its array stays where it is for that long, or its class would have news. */
static void count_subjob(struct cluster *cl, const struct job *sub, int64_t times)
{
    struct job *array = cluster_array(cl, sub);

    cluster_index_count_array(cl, sub->array_id, times);
    if (!array || array->max_subjobs == 0)
        return;
    if (!sub->dirty)
        cluster_index_refresh(cl, array);
    else if (!array->is_recounted) {
        array->is_recounted = true;
        cluster_list_add(&cl->recounted, array);
    }
}

void cluster_index_count(struct cluster *cl, struct job *j, int64_t times)
{
    queue_count(cl->server, j, times);
    if (j->within) /* its reservation counts */
        amounts_add_times(&cl->server->used, &j->want, -times);
    if (j->queue)
        queue_count(j->queue, j, times);
    if (j->array_id)
        count_subjob(cl, j, times);
}

/* --- in and out of the indices ----------------------------------------------------------------- */

static void find_vnodes(struct cluster *cl, struct job *j)
{
    struct alloc_part_text *texts = NULL;
    bool released = j->released && !job_holds_nodes(j); /* suspended, it needs no more than that to go on */

    if (!j->exec_vnode)
        return;
    size_t n = request_parse_exec(cl->catalogue, released ? j->released : j->exec_vnode, &texts);
    for (size_t i = 0; i < n; i++)
        allocation_add(&j->on, cluster_node(cl, texts[i].vnode), &texts[i].use, texts[i].joined);
    request_free_exec(texts, n);
    allocation_mark_alone(&j->on, request_sharing(j->place));
}

/* The list that a job of this state is in; NULL: it is in none. */
static struct list *list_of(struct cluster *cl, const struct job *j)
{
    switch (j->sched_state) {
    case SCHED_STATE_RUNNING:
        return &cl->running;
    case SCHED_STATE_ENDING:
        return &cl->ending;
    case SCHED_STATE_AWAITING_ROOM:
        return &cl->awaiting;
    case SCHED_STATE_OTHER:
    case SCHED_STATE_WAITING:
    case SCHED_STATE_SUSPENDED:
    case SCHED_STATE_STOPPED:
        break;
    }
    return NULL;
}

/* Onto its vnodes and into the counts. Vnodes are out of their buckets for the moment in which n_jobs
 * moves. */
static void run_in(struct cluster *cl, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            cluster_node_out(cl, n);
            node_join(n, j);
            n->n_jobs -= j->within != NULL; /* its reservation counts */
            cluster_node_in(cl, n);
        }
    }
    cl->promised += j->sched_state == SCHED_STATE_AWAITING_ROOM;
    if (list_of(cl, j)) {
        j->running_at = list_of(cl, j)->n;
        cluster_list_add(list_of(cl, j), j);
    }
    cluster_index_count(cl, j, 1);
}

/* run_in undone. The last of the list takes its place. */
static void run_out(struct cluster *cl, struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        struct node *n = j->on.a[i].node;
        if (n) {
            cluster_node_out(cl, n);
            node_leave(n, j);
            n->n_jobs += j->within != NULL;
            cluster_node_in(cl, n);
        }
    }
    cl->promised += j->sched_state == SCHED_STATE_AWAITING_ROOM;
    struct list *l = list_of(cl, j);
    if (l) {
        struct job *last = l->a[--l->n];
        l->a[j->running_at] = last;
        last->running_at = j->running_at;
    }
    cluster_index_count(cl, j, -1);
}

static uint64_t hash_more(uint64_t h, uint64_t n)
{
    return (h ^ n) * 0x100000001B3ull;
}

/* What the job takes from others, or will by an order: its vnodes, and what limits count. 0: nothing. */
static uint64_t taken_print_of(const struct job *j)
{
    bool is_ordered = j->order == ORDER_RUN || j->order == ORDER_RESUME;
    const struct allocation *held = is_ordered ? &j->claim : &j->on;
    uint64_t h = 0xcbf29ce484222325ull;

    if (!is_ordered && !job_counts(j))
        return 0;
    for (size_t i = 0; i < held->n; i++) {
        h = hash_more(h, (uintptr_t)held->a[i].node);
        h = hash_more(h, held->a[i].alone);
        h = amounts_hash(&held->a[i].use, h);
    }
    h = hash_more(h, (uintptr_t)j->queue);
    h = hash_more(h, (uintptr_t)j->within);
    h = hash_more(h, (uintptr_t)j->user); /* interned, as the next two */
    h = hash_more(h, (uintptr_t)j->group);
    h = hash_more(h, (uintptr_t)j->project);
    h = hash_more(h, job_hold_look(j));
    h = amounts_hash(&j->want, h);
    return h ? h : 1;
}

/* Look up by name what the job refers to. A reservation that has not come yet makes it a stray: it is linked again when it comes. */
static void find_names(struct cluster *cl, struct job *j)
{
    j->queue = j->queue_name ? cluster_queue(cl, j->queue_name) : NULL;
    j->within = j->resv ? cluster_resv(cl, j->resv) : NULL;
    cl->strays = cl->strays || (j->resv && !j->within);
    resv_add_job(j->within, j);
    if (j->within && !j->within->is_charged)
        j->within = NULL;
    allocation_fini(&j->on);
    allocation_fini(&j->freed);
    if (job_holds_nodes(j) || j->sched_state == SCHED_STATE_SUSPENDED ||
        j->sched_state == SCHED_STATE_STOPPED)
        find_vnodes(cl, j);
}

/* What is true of one state only. */
static void forget_marks(struct job *j)
{
    if (!job_holds_nodes(j))
        j->turn_s = 0;
    if (j->sched_state != SCHED_STATE_SUSPENDED)
        j->since_s = 0;
    if (j->sched_state != SCHED_STATE_AWAITING_ROOM)
        allocation_fini(&j->awaited);
}

/* Note whether the change gives anything back, by the prints from before it. A job that runs as it was told to, or says another
 * word of itself, gives nothing back. But it may move the levels of others, and they may give way then. */
static void note_given_back(struct cluster *cl, struct job *j)
{
    if (j->taken_print && (policy_moving_levels(cl->policy) || j->taken_print != taken_print_of(j)))
        cl->news++;
    else if (j->taken_print && j->stop != job_stop_look(j))
        cl->stoppable++;
    j->taken_print = 0;
}

/* It was altered while it is under an order: how long it will be on these vnodes may be otherwise. */
static void tell_claim(struct cluster *cl, const struct job *j)
{
    for (size_t i = 0; i < j->claim.n; i++)
        if (j->claim.a[i].node) {
            cluster_node_out(cl, j->claim.a[i].node);
            cluster_node_in(cl, j->claim.a[i].node);
        }
}

void cluster_index_link(struct cluster *cl, struct job *j)
{
    find_names(cl, j);
    forget_marks(j);
    TELL(cl, job_seen, j);
    if (job_counts(j))
        run_in(cl, j);
    else if (cluster_index_may_wait(cl, j))
        cluster_index_join(cl, j);
    tell_claim(cl, j);
    note_given_back(cl, j);
}

/* Of a job that has not changed since it was linked: what was added is taken away. */
void cluster_index_unlink(struct cluster *cl, struct job *j)
{
    if (job_counts(j))
        run_out(cl, j);
    if (j->class)
        TELL(cl, job_leaves, j);
}

/* Prints are taken before: linking compares with them, whether the change gives anything back. */
void cluster_index_make_dirty(struct cluster *cl, struct job *j)
{
    if (j->dirty)
        return;
    j->taken_print = taken_print_of(j);
    j->stop = job_stop_look(j);
    j->dirty = true; /* before: its array waits for it */
    cluster_index_unlink(cl, j);
    cluster_list_add(&cl->dirty_jobs, j);
}

void cluster_index_make_node_dirty(void *arg, struct node *n)
{
    struct cluster *cl = arg;

    cluster_node_out(cl, n);
    if (!n->dirty)
        cluster_list_add(&cl->dirty_nodes, n);
    n->dirty = true;
}
