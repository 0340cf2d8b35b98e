/* Two phases take turns. While changes come in, an object is only decoded and marked dirty; a dirty job is in
 * no index (not on its vnodes, in no count, in no class), a dirty vnode in no bucket. cluster_settle ranks
 * the vnodes again if it must, puts them back into the index, and then the jobs, which look up their queue and
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

static void sched_cluster_node_out(void *cl, struct node *n)
{
    cluster_index_node_out(cl, n);
}

static void sched_cluster_node_in(void *cl, struct node *n)
{
    cluster_index_node_in(cl, n);
}

struct cluster *cluster_create(const char *sched_name, struct policy *policy)
{
    struct cluster *cl = mem_new(1, sizeof *cl);

    cl->sched_name = mem_text(sched_name);
    cl->policy = policy;
    cl->catalogue = catalogue_create();
    cl->ranks = node_order_create();
    cl->pools = pools_create(&(struct pools_hooks){sched_cluster_node_out, sched_cluster_node_in, cl});
    cl->server = queue_create("");
    cl->news = cl->shape = 1;
    return cl;
}

void cluster_listen(struct cluster *cl, const struct cluster_listener *l)
{
    if (cl->n_listeners < LISTENERS_MAX)
        cl->listeners[cl->n_listeners++] = *l;
}

/* --- what goes --------------------------------------------------------------------------------------- */

void cluster_drop_job(struct cluster *cl, struct job *j)
{
    if (j->dirty ? j->taken_print != 0 : job_counts(j))
        cl->news++;
    if (!j->dirty)
        cluster_index_unlink(cl, j);
    else
        cluster_list_remove(&cl->dirty_jobs, j);
    /* Code that reads the job from here on must not find it in a class. */
    j->dirty = true;
    cluster_order_drop(cl, j);
    HASH_DEL(cl->jobs, j);
    job_destroy(j);
}

static void forget_node(struct allocation *p, const struct node *n)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node == n)
            p->a[i].node = NULL;
}

/* Jobs refer to their vnodes by address: link the jobs of a vnode that is removed again, without it. */
static void drop_node(struct cluster *cl, struct node *n)
{
    cluster_resvs_dirty(cl);
    for (struct job *j = cl->jobs; j; j = j->hh.next) {
        bool is_on = false;
        for (size_t i = 0; i < j->on.n; i++)
            is_on = is_on || j->on.a[i].node == n;
        forget_node(&j->claim, n);
        forget_node(&j->reserve, n);
        forget_node(&j->awaited, n);
        if (is_on) {
            cluster_index_make_dirty(cl, j);
            allocation_fini(&j->on);
            allocation_fini(&j->freed);
        }
    }
    cluster_index_node_out(cl, n);
    pools_gone(cl->pools, n);
    if (n->dirty)
        cluster_list_remove(&cl->dirty_nodes, n);
    HASH_DEL(cl->nodes, n);
    node_destroy(n);
    cl->rerank = true;
    cl->shape++;
    cl->news++;
}

bool cluster_gone(struct cluster *cl, enum cluster_kind kind, const char *name)
{
    struct job *j = kind == CLUSTER_JOB ? cluster_job(cl, name) : NULL;
    struct node *n = kind == CLUSTER_NODE ? cluster_node(cl, name) : NULL;
    struct queue *q = kind == CLUSTER_QUEUE ? cluster_queue(cl, name) : NULL;
    struct resv *r = kind == CLUSTER_RESV ? cluster_resv(cl, name) : NULL;

    if (j) {
        TELL(cl, job_gone, j);
        cluster_drop_job(cl, j);
    }
    if (n)
        drop_node(cl, n);
    if (q) {
        for (j = cl->jobs; j; j = j->hh.next)
            if (j->queue == q) {
                cluster_index_make_dirty(cl, j);
                j->queue = NULL;
            }
        HASH_DEL(cl->queues, q);
        queue_destroy(q);
    }
    if (r)
        cluster_resv_drop(cl, r);
    return j || n || q || r;
}

void cluster_clear(struct cluster *cl)
{
    for (struct job *j = cl->jobs, *next; j; j = next) {
        next = j->hh.next;
        cluster_drop_job(cl, j);
    }
    for (struct resv *r = cl->resvs, *next; r; r = next) {
        next = r->hh.next;
        cluster_resv_drop(cl, r);
    }
    for (struct node *n = cl->nodes, *next; n; n = next) {
        next = n->hh.next;
        drop_node(cl, n);
    }
    for (struct queue *q = cl->queues, *next; q; q = next) {
        next = q->hh.next;
        HASH_DEL(cl->queues, q);
        queue_destroy(q);
    }
    cl->misread = false;
    cl->relink = cl->rerank = true;
    cl->news++;
}

/* --- settling ---------------------------------------------------------------------------------------- */

static void rerank(struct cluster *cl)
{
    for (struct node *n = cl->nodes; n; n = n->hh.next)
        cluster_index_node_out(cl, n);
    for (struct queue *q = cl->queues; q; q = q->hh.next)
        q->n_nodes = 0;
    node_order_make(cl->ranks, cl->nodes, cl->policy);
    for (struct node *n = cl->nodes; n; n = n->hh.next) {
        struct queue *q = n->queue ? cluster_queue(cl, n->queue) : NULL;
        if (q)
            q->n_nodes++;
        if (!n->dirty)
            cluster_list_add(&cl->dirty_nodes, n);
        n->dirty = true;
    }
    cl->rerank = false;
}

/* Numbers of resources that jobs and vnodes are sorted by; they are known once the catalogue is. */
static void find_keys(struct cluster *cl)
{
    struct policy *p = cl->policy;

    for (size_t i = 0; i < p->n_job_sort; i++)
        if (p->job_sort[i].resource)
            p->job_sort[i].id = catalogue_find(cl->catalogue, p->job_sort[i].resource);
    cl->by_amount = false;
    for (size_t i = 0; i < p->n_node_sort; i++) {
        struct node_key *k = &p->node_sort[i];
        if (k->resource)
            k->id = catalogue_find(cl->catalogue, k->resource);
        cl->by_amount = cl->by_amount || k->what != NODE_BY_PRIORITY;
    }
    cl->rerank = cl->rerank || cl->by_amount;
}

static void settle_nodes(struct cluster *cl)
{
    pools_make(cl->pools, cl->nodes, cluster_index_make_node_dirty, cl);
    for (size_t i = 0; i < cl->dirty_nodes.n; i++) {
        struct node *n = cl->dirty_nodes.a[i];
        node_settle(n);
        pools_settle(n);
        n->dirty = false;
        cluster_index_node_in(cl, n);
    }
    cl->dirty_nodes.n = 0;
}

bool cluster_settle(struct cluster *cl)
{
    if (cl->misread || catalogue_take_missed(cl->catalogue))
        return false;
    if (cl->relink)
        for (struct job *j = cl->jobs; j; j = j->hh.next)
            cluster_index_make_dirty(cl, j);
    if (cl->relink)
        find_keys(cl);
    cl->relink = false;
    if (cl->rerank || (cl->dirty_nodes.n > 0 && policy_sorts_by_use(cl->policy)))
        rerank(cl);
    settle_nodes(cl);
    cluster_resvs_settle(cl);
    for (size_t i = 0; i < cl->dirty_jobs.n; i++) {
        struct job *j = cl->dirty_jobs.a[i];
        j->dirty = false;
        cluster_index_link(cl, j);
    }
    cl->dirty_jobs.n = 0;
    return !catalogue_take_missed(cl->catalogue);
}

void cluster_resort(struct cluster *cl)
{
    if (!policy_sorts_by_use(cl->policy))
        return;
    rerank(cl);
    settle_nodes(cl);
}

void cluster_destroy(struct cluster *cl)
{
    if (!cl)
        return;
    cluster_clear(cl);
    node_order_destroy(cl->ranks);
    pools_destroy(cl->pools);
    queue_destroy(cl->server);
    catalogue_destroy(cl->catalogue);
    cluster_list_fini(&cl->running);
    cluster_list_fini(&cl->ending);
    cluster_list_fini(&cl->awaiting);
    cluster_list_fini(&cl->ordered);
    cluster_list_fini(&cl->dirty_jobs);
    cluster_list_fini(&cl->dirty_nodes);
    cluster_list_fini(&cl->dirty_resvs);
    intern_unref(cl->last_host);
    free(cl->sched_name);
    free(cl);
}

/* --- looking ----------------------------------------------------------------------------------------- */

const struct policy *cluster_policy(const struct cluster *cl)
{
    return cl->policy;
}

struct queue *cluster_server(const struct cluster *cl)
{
    return cl->server;
}

uint64_t cluster_news(const struct cluster *cl)
{
    return cl->news;
}

void cluster_note_news(struct cluster *cl)
{
    cl->news++;
}

uint64_t cluster_stoppable(const struct cluster *cl)
{
    return cl->stoppable;
}

uint64_t cluster_shape(const struct cluster *cl)
{
    return cl->shape;
}
