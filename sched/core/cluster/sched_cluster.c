/* The mirror itself: its parts, what is looked up in it, and its listeners. The other files of the cluster
 * call this one; it calls none of them. The three counters tell readers what happened without saying to
 * what: news, stoppable, shape (sched_cluster.h).
 *
 * Who moves what: cluster_change.c and cluster_gone.c bring objects in and out, cluster_settle.c makes them
 * whole, cluster_index.c has jobs and vnodes in their indices, cluster_order.c and trial.c move what is
 * free. All of them tell the listeners through TELL of cluster_state.h. */
#include "sched_cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_state.h"
#include "intern.h"
#include "mem.h"
#include "node_order.h"
#include "pools.h"

static void sched_cluster_node_out(void *cl, struct node *n)
{
    cluster_node_out(cl, n);
}

static void sched_cluster_node_in(void *cl, struct node *n)
{
    cluster_node_in(cl, n);
}

/* The counters begin at 1, so that 0 is a value at which no class has failed. */
struct cluster *cluster_create(const char *sched_name, struct policy *policy)
{
    struct cluster *cl = mem_new(1, sizeof *cl);

    cl->sched_name = mem_text(sched_name);
    cl->policy = policy;
    cl->catalogue = catalogue_create();
    cl->ranks = node_order_create();
    cl->pools = pools_create(&(struct pools_hooks){sched_cluster_node_out, sched_cluster_node_in, cl});
    cl->server = queue_create("");
    cl->news = cl->shape = cl->promised = 1;
    return cl;
}

/* A cycle creates as many listeners as there is room for; one more is a mistake of ours. */
void cluster_listen(struct cluster *cl, const struct cluster_listener *l)
{
    assert(cl->n_listeners < LISTENERS_MAX);
    cl->listeners[cl->n_listeners++] = *l;
}

static void list_fini(struct list *l)
{
    free(l->a);
    *l = (struct list){0};
}

/* Jobs and vnodes are gone already: their listeners had to be told. */
void cluster_destroy(struct cluster *cl)
{
    if (!cl)
        return;
    assert(!cl->jobs && !cl->nodes);
    node_order_destroy(cl->ranks);
    pools_destroy(cl->pools);
    queue_destroy(cl->server);
    catalogue_destroy(cl->catalogue);
    list_fini(&cl->running);
    list_fini(&cl->ending);
    list_fini(&cl->awaiting);
    list_fini(&cl->ordered);
    list_fini(&cl->dirty_jobs);
    list_fini(&cl->recounted);
    list_fini(&cl->dirty_nodes);
    list_fini(&cl->dirty_resvs);
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

uint64_t cluster_promised(const struct cluster *cl)
{
    return cl->promised;
}

void cluster_note_promised(struct cluster *cl)
{
    cl->promised++;
}

uint64_t cluster_kept(const struct cluster *cl)
{
    return cl->kept;
}

void cluster_note_kept(struct cluster *cl)
{
    cl->kept++;
}

void cluster_note_stoppable(struct cluster *cl)
{
    cl->stoppable++;
}

uint64_t cluster_shape(const struct cluster *cl)
{
    return cl->shape;
}

struct job *cluster_job(const struct cluster *cl, const char *id)
{
    struct job *j;

    HASH_FIND_STR(cl->jobs, id, j);
    return j;
}

struct node *cluster_node(const struct cluster *cl, const char *name)
{
    struct node *n;

    HASH_FIND_STR(cl->nodes, name, n);
    return n;
}

struct queue *cluster_queue(const struct cluster *cl, const char *name)
{
    struct queue *q;

    HASH_FIND_STR(cl->queues, name, q);
    return q;
}

struct resv *cluster_resv(const struct cluster *cl, const char *id)
{
    struct resv *r;

    HASH_FIND_STR(cl->resvs, id, r);
    return r;
}

struct catalogue *cluster_catalogue(const struct cluster *cl)
{
    return cl->catalogue;
}

struct job *cluster_array(const struct cluster *cl, const struct job *sub)
{
    return sub->array_id ? cluster_job(cl, sub->array_id) : NULL;
}

struct queue *cluster_next_queue(const struct cluster *cl, const struct queue *after)
{
    return after ? after->hh.next : cl->queues;
}

struct job *const *cluster_ending(const struct cluster *cl, size_t *n)
{
    *n = cl->ending.n;
    return (struct job *const *)cl->ending.a;
}

struct job *const *cluster_awaiting(const struct cluster *cl, size_t *n)
{
    *n = cl->awaiting.n;
    return (struct job *const *)cl->awaiting.a;
}

struct job *const *cluster_ordered(const struct cluster *cl, size_t *n)
{
    *n = cl->ordered.n;
    return (struct job *const *)cl->ordered.a;
}

struct job *const *cluster_running(const struct cluster *cl, size_t *n)
{
    *n = cl->running.n;
    return (struct job *const *)cl->running.a;
}

struct node *const *cluster_nodes(const struct cluster *cl, size_t *n)
{
    return node_order_nodes(cl->ranks, n);
}

struct host *const *cluster_big_hosts(const struct cluster *cl, size_t *n)
{
    return node_order_big_hosts(cl->ranks, n);
}

struct job *cluster_next_job(const struct cluster *cl, struct job *after)
{
    return after ? after->hh.next : cl->jobs;
}

bool cluster_limits_vnodes(const struct cluster *cl)
{
    return cl->of_users;
}

struct resv *cluster_next_resv(const struct cluster *cl, const struct resv *after)
{
    return after ? after->hh.next : cl->resvs;
}

/* --- vnodes of a trial ------------------------------------------------------------------------------------- */

/* A vnode that is in no bucket is out already: it is dirty, or between out and in. */
void cluster_node_out(struct cluster *cl, struct node *n)
{
    if (n->bucket)
        TELL(cl, node_out, n);
}

/* A dirty vnode comes in when it settles. */
void cluster_node_in(struct cluster *cl, struct node *n)
{
    if (!n->dirty && !n->bucket)
        TELL(cl, node_in, n);
}

void cluster_node_move(struct cluster *cl, struct node *n, const struct amounts *use, int64_t times)
{
    pools_move(cl->pools, n, use, times);
}

/* The default scheduler serves what has no partition. */
bool cluster_has_partition(const struct cluster *cl)
{
    return *cl->policy->partition || strcmp(cl->sched_name, "default") == 0;
}

bool cluster_has_no_nodes(const struct cluster *cl)
{
    size_t n;

    cluster_nodes(cl, &n);
    return n == 0;
}

bool cluster_serves(const struct cluster *cl, const struct queue *q)
{
    return cluster_has_partition(cl) && strcmp(q->partition ? q->partition : "", cl->policy->partition) == 0;
}

/* --- lists -------------------------------------------------------------------------------------------- */

void cluster_list_add(struct list *l, void *x)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = x;
}

void cluster_list_remove(struct list *l, const void *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i] == x) {
            l->a[i] = l->a[--l->n];
            return;
        }
}
