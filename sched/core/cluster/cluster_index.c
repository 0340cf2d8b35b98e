/* Who stands in which index of the universe: lookups by name, vnodes in and out of buckets, counts of what runs, and which
 * jobs and arrays may be started. The other files of the universe stand on this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idset.h"
#include "intern.h"
#include "mem.h"
#include "node_order.h"
#include "cluster_private.h"

/* Kept apart from the array's job, since subjobs may be seen before it. */
struct array_count {
    const char *id; /* interned: of the array */
    int64_t n_running;
    UT_hash_handle hh;
};

struct job *universe_job(const struct universe *u, const char *id)
{
    struct job *j;

    HASH_FIND_STR(u->jobs, id, j);
    return j;
}

struct node *universe_node(const struct universe *u, const char *name)
{
    struct node *n;

    HASH_FIND_STR(u->nodes, name, n);
    return n;
}

struct queue *universe_queue(const struct universe *u, const char *name)
{
    struct queue *q;

    HASH_FIND_STR(u->queues, name, q);
    return q;
}

struct job *universe_array(const struct universe *u, const struct job *sub)
{
    return sub->array_id ? universe_job(u, sub->array_id) : NULL;
}

struct queue *universe_next_queue(const struct universe *u, const struct queue *after)
{
    return after ? after->hh.next : u->queues;
}

struct job *const *universe_ending(const struct universe *u, size_t *n)
{
    *n = u->ending.n;
    return (struct job *const *)u->ending.a;
}

struct job *const *universe_awaiting(const struct universe *u, size_t *n)
{
    *n = u->awaiting.n;
    return (struct job *const *)u->awaiting.a;
}

struct job *const *universe_ordered(const struct universe *u, size_t *n)
{
    *n = u->ordered.n;
    return (struct job *const *)u->ordered.a;
}

struct job *const *universe_running(const struct universe *u, size_t *n)
{
    *n = u->running.n;
    return (struct job *const *)u->running.a;
}

struct node *const *universe_nodes(const struct universe *u, size_t *n)
{
    return ranks_nodes(u->ranks, n);
}

struct host *const *universe_big_hosts(const struct universe *u, size_t *n)
{
    return ranks_big_hosts(u->ranks, n);
}

size_t universe_job_count(const struct universe *u)
{
    return HASH_COUNT(u->jobs);
}

struct job *universe_next_job(const struct universe *u, struct job *after)
{
    return after ? after->hh.next : u->jobs;
}

bool universe_limits_vnodes(const struct universe *u)
{
    return u->of_users;
}

/* --- vnodes ------------------------------------------------------------------------------------------- */

void universe_node_out(struct universe *u, struct node *n)
{
    if (n->bucket)
        TELL(u, node_out, n);
}

void universe_node_in(struct universe *u, struct node *n)
{
    if (!n->dirty && !n->bucket)
        TELL(u, node_in, n);
}

/* --- who may be started -------------------------------------------------------------------------------- */

bool universe_has_partition(const struct universe *u)
{
    return *u->policy->partition || strcmp(u->sched_name, "default") == 0;
}

bool universe_has_no_nodes(const struct universe *u)
{
    size_t n;

    universe_nodes(u, &n);
    return n == 0;
}

bool universe_serves(const struct universe *u, const struct queue *q)
{
    return universe_has_partition(u) && strcmp(q->partition ? q->partition : "", u->policy->partition) == 0;
}

/* "41[7].svr1" of "41[].svr1"; false: that is no array's name. */
static bool name_of(char out[UNIVERSE_ID_MAX], const char *array, int64_t index)
{
    const char *open = strchr(array, '[');

    if (!open || open[1] != ']')
        return false;
    snprintf(out, UNIVERSE_ID_MAX, "%.*s[%lld]%s", (int)(open - array), array, (long long)index, open + 2);
    return true;
}

/* The lowest index that is no job here; those that are one go from the set. */
int64_t universe_next_index(const struct universe *u, const struct job *array, char id[UNIVERSE_ID_MAX])
{
    int64_t i;

    while (array->queued && (i = idset_next(array->queued, 0)) >= 0) {
        if (!name_of(id, array->id, i))
            return IDSET_NONE;
        if (!universe_job(u, id))
            return i;
        if (idset_remove(array->queued, (uint32_t)i) < 0)
            return IDSET_NONE;
    }
    return IDSET_NONE;
}

static struct array_count *count_of(const struct universe *u, const char *array_id)
{
    struct array_count *c;

    HASH_FIND_STR(u->arrays, array_id, c);
    return c;
}

bool universe_array_is_full(const struct universe *u, const struct job *array)
{
    const struct array_count *c = array->max_subjobs > 0 ? count_of(u, array->id) : NULL;

    return c && c->n_running >= array->max_subjobs;
}

static bool array_waits(const struct universe *u, const struct job *array)
{
    char id[UNIVERSE_ID_MAX];

    return !universe_array_is_full(u, array) && universe_next_index(u, array, id) != IDSET_NONE;
}

bool universe_may_wait(const struct universe *u, const struct job *j)
{
    if ((j->standing != STANDING_WAITS && j->standing != STANDING_SUSPENDED) || j->order != ORDER_NONE ||
        !j->queue || !j->queue->executes || !universe_serves(u, j->queue))
        return false;
    if (j->is_array)
        return array_waits(u, j);
    return !j->is_provisional || j->urged;
}

void universe_rejoin(struct universe *u, struct job *j)
{
    if (j->class)
        TELL(u, job_leaves, j);
    if (!j->dirty && universe_may_wait(u, j))
        TELL(u, job_waits, j);
}

/* In or out of its class where that is no longer right. */
void universe_refresh(struct universe *u, struct job *array)
{
    bool waits;

    if (array->dirty)
        return; /* settling will see to it */
    waits = universe_may_wait(u, array);
    if ((array->class != NULL) != waits)
        universe_rejoin(u, array);
}

/* --- counts ---------------------------------------------------------------------------------------------- */

static void count_subjob(struct universe *u, const struct job *sub, int64_t times)
{
    struct array_count *c = count_of(u, sub->array_id);
    struct job *array = universe_array(u, sub);

    if (!c) {
        c = mem_new(1, sizeof *c);
        c->id = intern_again(sub->array_id);
        HASH_ADD_KEYPTR(hh, u->arrays, c->id, strlen(c->id), c);
    }
    c->n_running += times;
    if (c->n_running == 0) {
        HASH_DEL(u->arrays, c);
        intern_unref(c->id);
        free(c);
    }
    if (array && array->max_subjobs > 0)
        universe_refresh(u, array);
}

void universe_count(struct universe *u, struct job *j, int64_t times)
{
    queue_count(u->server, j, times);
    if (j->queue)
        queue_count(j->queue, j, times);
    if (j->array_id)
        count_subjob(u, j, times);
}
