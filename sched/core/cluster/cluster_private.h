#ifndef CLUSTER_PRIVATE_H
#define CLUSTER_PRIVATE_H
/* What the files of the cluster share; no other file includes it. Each calls only those before it: cluster_index.c (indices),
 * cluster_order.c (open orders, subjobs), cluster_change.c (what the stream says), sched_cluster.c (what goes, settling). */
#include "sched_cluster.h"

struct array_count;
struct pools;
struct node_order;

enum { LISTENERS_MAX = 4 };

struct list { /* of objects that wait for cluster_settle, or of jobs that run, end or are ordered */
    size_t n, cap;
    void **a;
};

struct cluster {
    char *sched_name;
    struct policy *policy;
    struct catalogue *catalogue;
    struct queue *server, *queues;
    struct job *jobs;
    struct array_count *arrays; /* how many subjobs of an array run; cluster_order.c */
    struct node *nodes;
    struct resv *resvs;
    struct node_order *ranks;
    const char *last_host; /* interned: where a job was ordered to run last; NULL: nowhere yet */
    struct pools *pools;   /* indirect amounts */
    struct list running, ending, awaiting, ordered, dirty_jobs, dirty_nodes, dirty_resvs;
    uint64_t news, stoppable, shape, sched_look;
    bool relink;    /* configuration changed: every job is looked at again */
    bool rerank;    /* vnodes came, went or changed what they are sorted by, host or queue */
    bool of_users;  /* a vnode has a limit for users or groups: jobs of different ones are not alike */
    bool by_amount; /* they are sorted by more than their priority */
    bool misread;   /* see cluster_settle */
    struct cluster_listener listeners[LISTENERS_MAX];
    size_t n_listeners;
};

#define TELL(cl, what, object)                                                                               \
    for (size_t tell_i = 0; tell_i < (cl)->n_listeners; tell_i++)                                            \
        if ((cl)->listeners[tell_i].what)                                                                    \
    (cl)->listeners[tell_i].what((cl)->listeners[tell_i].arg, object)

enum { CLUSTER_ID_MAX = 512 };

/* ---- cluster_index.c; lookups, cluster_index_node_in and _out, cluster_serves of sched_cluster.h are there too */
/* A job runs or no longer runs, for the counts of its queue, of the server and of its array, which may have reached
 * max_run_subjobs, or have room again. */
void cluster_index_count(struct cluster *cl, struct job *j, int64_t times);
/* Is it one that a cycle may start? */
bool cluster_index_may_wait(const struct cluster *cl, const struct job *j);
/* The lowest index that is not a job here, and its name, or IDSET_NONE; those that are one go from the set. */
int64_t cluster_index_next(const struct cluster *cl, const struct job *array, char id[CLUSTER_ID_MAX]);
/* An array in or out of its class where that is no longer right. */
void cluster_index_refresh(struct cluster *cl, struct job *array);

/* ---- cluster_index.c */
void cluster_list_add(struct list *l, void *x);
void cluster_list_remove(struct list *l, const void *x); /* O(n); the others change places */
void cluster_list_fini(struct list *l);
/* By what it says of itself now: its queue and vnodes are looked up, and it joins the indices. It is in none. */
void cluster_index_link(struct cluster *cl, struct job *j);
/* Out of every index. It is as it was when it was linked. */
void cluster_index_unlink(struct cluster *cl, struct job *j);
/* Unlink it, until settling links it again. Of a dirty one nothing happens. */
void cluster_index_make_dirty(struct cluster *cl, struct job *j);
/* The same for a vnode and its bucket; arg is the cluster (pools.h calls it). */
void cluster_index_make_node_dirty(void *arg, struct node *n);

/* ---- cluster_resvs.c */
bool cluster_resv_change(struct cluster *cl, const char *id, const struct attrl *attrs);
void cluster_resv_drop(struct cluster *cl, struct resv *r);
/* Vnodes have come or gone: all are looked up again when it settles. Called before a vnode goes. */
void cluster_resvs_dirty(struct cluster *cl);
void cluster_resvs_settle(struct cluster *cl); /* after the vnodes, before the jobs */

/* ---- sched_cluster.c */
/* A job went out of the cluster, in any way. */
void cluster_drop_job(struct cluster *cl, struct job *j);

/* The order is no more, and gives back what it has claimed. Unlike cluster_order_drop this is not news by itself. false: there was none. */
bool cluster_order_end(struct cluster *cl, struct job *j);

#endif
