/* What goes from the mirror: jobs, vnodes, queues, reservations, or all of them.
 *
 * Jobs refer to vnodes, queues and reservations by address. So what goes first makes those jobs dirty (cluster_index.h), and settling
 * looks their names up again. */

#include "cluster_gone.h"

#include "cluster_index.h"
#include "cluster_order.h"
#include "cluster_resvs.h"
#include "cluster_state.h"
#include "pools.h"
#include "sched_resv.h"

void cluster_gone_job(struct cluster *cl, struct job *j)
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
    if (j->is_recounted)
        cluster_list_remove(&cl->recounted, j);
    HASH_DEL(cl->jobs, j);
    resv_add_job(NULL, j);
    job_destroy(j);
}

/* NULL in place of the vnode: the amounts of an order are still its own, and are passed over. */
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
    cluster_node_out(cl, n);
    pools_gone(cl->pools, n);
    if (n->dirty)
        cluster_list_remove(&cl->dirty_nodes, n);
    HASH_DEL(cl->nodes, n);
    node_destroy(n);
    cl->rerank = true;
    cl->shape++;
    cl->news++;
}

/* One name, one kind: at most one of the four is found. A queue's jobs stay and have none until another
 * change names one. */
bool cluster_gone(struct cluster *cl, enum cluster_kind kind, const char *name)
{
    struct job *j = kind == CLUSTER_JOB ? cluster_job(cl, name) : NULL;
    struct node *n = kind == CLUSTER_NODE ? cluster_node(cl, name) : NULL;
    struct queue *q = kind == CLUSTER_QUEUE ? cluster_queue(cl, name) : NULL;
    struct resv *r = kind == CLUSTER_RESV ? cluster_resv(cl, name) : NULL;

    if (j) {
        TELL(cl, job_gone, j);
        cluster_gone_job(cl, j);
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

/* Jobs first, which refer to all others; vnodes last but one, since a reservation that goes gives its room
 * back to them. */
void cluster_gone_all(struct cluster *cl)
{
    for (struct job *j = cl->jobs, *next; j; j = next) {
        next = j->hh.next;
        cluster_gone_job(cl, j);
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
