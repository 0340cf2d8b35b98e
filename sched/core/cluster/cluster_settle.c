/* Two phases take turns. While changes come in, an object is only decoded and marked dirty; a dirty job is in
 * no index (not on its vnodes, in no count, in no class), a dirty vnode in no bucket. cluster_settle ranks
 * the vnodes again if it must, puts them back into the index, and then the jobs, which look up their queue and
 * vnodes by name. This order is needed because the stream brings objects as they changed: a job may come
 * before the queue and the vnodes that it names. After settling only orders and trials move anything. */
#include "cluster_settle.h"

#include "cluster_index.h"
#include "cluster_resvs.h"
#include "cluster_state.h"
#include "node_order.h"
#include "pools.h"

/* Rank, host and bucket of every vnode again. Each is out of its bucket meanwhile: a bucket's members are
 * bits of ranks. */
static void rerank(struct cluster *cl)
{
    for (struct node *n = cl->nodes; n; n = n->hh.next)
        cluster_node_out(cl, n);
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

/* Pools before vnodes: what vnodes share depends on totals that pools_make moves. */
static void settle_nodes(struct cluster *cl)
{
    pools_make(cl->pools, cl->nodes, cluster_index_make_node_dirty, cl);
    for (size_t i = 0; i < cl->dirty_nodes.n; i++) {
        struct node *n = cl->dirty_nodes.a[i];
        node_settle(n);
        pools_settle(n);
        n->dirty = false;
        cluster_node_in(cl, n);
    }
    cl->dirty_nodes.n = 0;
}

/* Arrays last: which class one is in depends on how many of its subjobs run. */
static void settle_jobs(struct cluster *cl, bool are_arrays)
{
    for (size_t i = 0; i < cl->dirty_jobs.n; i++) {
        struct job *j = cl->dirty_jobs.a[i];
        if (j->is_array != are_arrays)
            continue;
        j->dirty = false;
        cluster_index_link(cl, j);
    }
}

static void settle_recounted(struct cluster *cl)
{
    for (size_t i = 0; i < cl->recounted.n; i++) {
        struct job *array = cl->recounted.a[i];
        array->is_recounted = false;
        cluster_index_refresh(cl, array);
    }
    cl->recounted.n = 0;
}

/* The catalogue is asked twice: jobs that are linked parse their requests, which may name a resource that
 * is not known yet. */
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
    settle_jobs(cl, false);
    settle_jobs(cl, true);
    cl->dirty_jobs.n = 0;
    settle_recounted(cl);
    return !catalogue_take_missed(cl->catalogue);
}

/* Only where the order of vnodes follows what is used of them; else it is nothing. */
void cluster_settle_order(struct cluster *cl)
{
    if (!policy_sorts_by_use(cl->policy))
        return;
    rerank(cl);
    settle_nodes(cl);
}
