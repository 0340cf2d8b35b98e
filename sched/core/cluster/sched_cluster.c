/* Two phases take turns. While changes come in, an object is only decoded and marked dirty; a dirty job is in
 * no index (not on its vnodes, in no count, in no class), a dirty vnode in no bucket. universe_settle ranks
 * the vnodes anew if it must, puts them back into the index, and then the jobs, which look up their queue and
 * vnodes by name. This order is needed because the stream brings objects as they changed: a job may come
 * before the queue and the vnodes that it names. After settling only orders and trials move anything.
 *
 * Jobs point to vnodes and queues by address; so what goes first makes those jobs dirty. Three counters tell
 * readers what happened without saying to what: news, stoppable, shape (sched_cluster.h). */
#include "sched_cluster.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "pools.h"
#include "node_order.h"
#include "cluster_private.h"

static void index_out(void *u, struct node *n)
{
    universe_node_out(u, n);
}

static void index_in(void *u, struct node *n)
{
    universe_node_in(u, n);
}

struct universe *universe_create(const char *sched_name, struct policy *policy)
{
    struct universe *u = mem_new(1, sizeof *u);

    u->sched_name = mem_text(sched_name);
    u->policy = policy;
    u->catalogue = catalogue_create();
    u->ranks = ranks_create();
    u->pools = pools_create(&(struct pools_hooks){index_out, index_in, u});
    u->server = queue_create("");
    u->news = u->shape = 1;
    return u;
}

void universe_listen(struct universe *u, const struct universe_listener *l)
{
    if (u->n_listeners < LISTENERS_MAX)
        u->listeners[u->n_listeners++] = *l;
}

/* --- what goes --------------------------------------------------------------------------------------- */

void universe_drop_job(struct universe *u, struct job *j)
{
    if (!j->dirty)
        universe_unlink(u, j);
    else
        universe_list_remove(&u->dirty_jobs, j);
    /* Whoever speaks of the job afterwards must not find it in a class. */
    j->dirty = true;
    universe_order_drop(u, j);
    HASH_DEL(u->jobs, j);
    job_destroy(j);
}

static void forget_node(struct pieces *p, const struct node *n)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node == n)
            p->a[i].node = NULL;
}

/* Jobs remember their vnodes by address: those of a vnode that goes are linked again without it. */
static void drop_node(struct universe *u, struct node *n)
{
    for (struct job *j = u->jobs; j; j = j->hh.next) {
        bool is_on = false;
        for (size_t i = 0; i < j->on.n; i++)
            is_on = is_on || j->on.a[i].node == n;
        forget_node(&j->claim, n);
        forget_node(&j->reserve, n);
        forget_node(&j->awaited, n);
        if (is_on) {
            universe_make_dirty(u, j);
            pieces_fini(&j->on);
            pieces_fini(&j->yields);
        }
    }
    universe_node_out(u, n);
    pools_gone(u->pools, n);
    if (n->dirty)
        universe_list_remove(&u->dirty_nodes, n);
    HASH_DEL(u->nodes, n);
    node_destroy(n);
    u->rerank = true;
    u->shape++;
    u->news++;
}

bool universe_gone(struct universe *u, enum universe_kind kind, const char *name)
{
    struct job *j = kind == UNIVERSE_JOB ? universe_job(u, name) : NULL;
    struct node *n = kind == UNIVERSE_NODE ? universe_node(u, name) : NULL;
    struct queue *q = kind == UNIVERSE_QUEUE ? universe_queue(u, name) : NULL;

    if (j) {
        TELL(u, job_gone, j);
        universe_drop_job(u, j);
    }
    if (n)
        drop_node(u, n);
    if (q) {
        for (j = u->jobs; j; j = j->hh.next)
            if (j->queue == q) {
                universe_make_dirty(u, j);
                j->queue = NULL;
            }
        HASH_DEL(u->queues, q);
        queue_destroy(q);
    }
    return j || n || q;
}

void universe_clear(struct universe *u)
{
    for (struct job *j = u->jobs, *next; j; j = next) {
        next = j->hh.next;
        universe_drop_job(u, j);
    }
    for (struct node *n = u->nodes, *next; n; n = next) {
        next = n->hh.next;
        drop_node(u, n);
    }
    for (struct queue *q = u->queues, *next; q; q = next) {
        next = q->hh.next;
        HASH_DEL(u->queues, q);
        queue_destroy(q);
    }
    u->misread = false;
    u->relink = u->rerank = true;
    u->news++;
}

/* --- settling ---------------------------------------------------------------------------------------- */

static void rerank(struct universe *u)
{
    for (struct node *n = u->nodes; n; n = n->hh.next)
        universe_node_out(u, n);
    for (struct queue *q = u->queues; q; q = q->hh.next)
        q->n_nodes = 0;
    ranks_make(u->ranks, u->nodes, u->policy);
    for (struct node *n = u->nodes; n; n = n->hh.next) {
        struct queue *q = n->queue ? universe_queue(u, n->queue) : NULL;
        if (q)
            q->n_nodes++;
        if (!n->dirty)
            universe_list_add(&u->dirty_nodes, n);
        n->dirty = true;
    }
    u->rerank = false;
}

/* Numbers of resources that jobs and vnodes are sorted by; they are known once the catalogue is. */
static void find_keys(struct universe *u)
{
    struct policy *p = u->policy;

    for (size_t i = 0; i < p->n_job_sort; i++)
        if (p->job_sort[i].resource)
            p->job_sort[i].id = catalogue_find(u->catalogue, p->job_sort[i].resource);
    u->by_amount = false;
    for (size_t i = 0; i < p->n_node_sort; i++) {
        struct node_key *k = &p->node_sort[i];
        if (k->resource)
            k->id = catalogue_find(u->catalogue, k->resource);
        u->by_amount = u->by_amount || k->what != NODE_BY_PRIORITY;
    }
    u->rerank = u->rerank || u->by_amount;
}

static void settle_nodes(struct universe *u)
{
    pools_make(u->pools, u->nodes, universe_make_node_dirty, u);
    for (size_t i = 0; i < u->dirty_nodes.n; i++) {
        struct node *n = u->dirty_nodes.a[i];
        node_settle(n);
        pools_settle(n);
        n->dirty = false;
        universe_node_in(u, n);
    }
    u->dirty_nodes.n = 0;
}

bool universe_settle(struct universe *u)
{
    if (u->misread || catalogue_take_missed(u->catalogue))
        return false;
    if (u->relink)
        for (struct job *j = u->jobs; j; j = j->hh.next)
            universe_make_dirty(u, j);
    if (u->relink)
        find_keys(u);
    u->relink = false;
    if (u->rerank || (u->dirty_nodes.n > 0 && policy_sorts_by_use(u->policy)))
        rerank(u);
    settle_nodes(u);
    for (size_t i = 0; i < u->dirty_jobs.n; i++) {
        struct job *j = u->dirty_jobs.a[i];
        j->dirty = false;
        universe_link(u, j);
    }
    u->dirty_jobs.n = 0;
    return !catalogue_take_missed(u->catalogue);
}

void universe_resort(struct universe *u)
{
    if (!policy_sorts_by_use(u->policy))
        return;
    rerank(u);
    settle_nodes(u);
}

void universe_destroy(struct universe *u)
{
    if (!u)
        return;
    universe_clear(u);
    ranks_destroy(u->ranks);
    pools_destroy(u->pools);
    queue_destroy(u->server);
    catalogue_destroy(u->catalogue);
    universe_list_fini(&u->running);
    universe_list_fini(&u->ending);
    universe_list_fini(&u->awaiting);
    universe_list_fini(&u->ordered);
    universe_list_fini(&u->dirty_jobs);
    universe_list_fini(&u->dirty_nodes);
    intern_unref(u->last_host);
    free(u->sched_name);
    free(u);
}

/* --- looking ----------------------------------------------------------------------------------------- */

const struct policy *universe_policy(const struct universe *u)
{
    return u->policy;
}

struct catalogue *universe_catalogue(const struct universe *u)
{
    return u->catalogue;
}

struct queue *universe_server(const struct universe *u)
{
    return u->server;
}

uint64_t universe_news(const struct universe *u)
{
    return u->news;
}

void universe_note_news(struct universe *u)
{
    u->news++;
}

uint64_t universe_stoppable(const struct universe *u)
{
    return u->stoppable;
}

uint64_t universe_shape(const struct universe *u)
{
    return u->shape;
}
