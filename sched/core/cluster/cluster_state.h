#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H
/* The fields of a cluster, for the files cluster_*.c; others ask sched_cluster.h.
 *
 * Eight files include it: they are the two phases of one structure (changes come in; it is made whole),
 * divided by what comes in. Each field is written by the file that its group names. Flags and counters may
 * be raised by any file, so they go one way only. */
#include "sched_cluster.h"

struct array_count;
struct pools;
struct node_order;

enum { LISTENERS_MAX = 5 };

struct list { /* of objects that wait for cluster_settle, or of jobs that run, end or are ordered */
    size_t n, cap;
    void **a;
};

struct cluster {
    /* sched_cluster.c */
    char *sched_name;
    struct policy *policy;
    struct catalogue *catalogue;
    struct queue *server;
    struct pools *pools; /* indirect amounts */
    struct cluster_listener listeners[LISTENERS_MAX];
    size_t n_listeners;

    /* Hashes by name: cluster_change.c and cluster_resvs.c add, cluster_array.c adds jobs, cluster_gone.c removes. */
    struct queue *queues;
    struct job *jobs;
    struct node *nodes;
    struct resv *resvs;

    /* cluster_index.c; cluster_settle.c empties the dirty lists */
    struct list running, ending, awaiting, dirty_jobs, dirty_nodes;
    struct array_count *arrays; /* how many subjobs of an array run */
    struct list
        recounted; /* arrays whose count has moved while changes come in; cluster_settle.c empties it */

    /* cluster_resvs.c */
    struct list dirty_resvs;

    /* cluster_order.c */
    struct list ordered;
    const char *last_host; /* interned: where a job was ordered to run last; NULL: nowhere yet */

    /* cluster_settle.c */
    struct node_order *ranks;
    bool by_amount; /* vnodes are sorted by more than their priority */

    /* Flags that any change raises; cluster_settle.c acts on them and lowers them. */
    bool strays;  /* a job was linked that belongs to a reservation that was not there */
    bool relink;  /* configuration changed: every job is looked at again */
    bool rerank;  /* vnodes came, went or changed what they are sorted by, host or queue */
    bool misread; /* see cluster_settle */

    /* Counters that any file raises, and nothing lowers (sched_cluster.h). */
    uint64_t news, stoppable, shape, kept, promised;

    /* cluster_change.c */
    uint64_t sched_look; /* hash of the sched object as it was read last */
    bool of_users;       /* a vnode has a limit for users or groups: jobs of different ones are not alike */
};

#define TELL(cl, what, object)                                                                               \
    for (size_t tell_i = 0; tell_i < (cl)->n_listeners; tell_i++)                                            \
        if ((cl)->listeners[tell_i].what)                                                                    \
    (cl)->listeners[tell_i].what((cl)->listeners[tell_i].arg, object)

void cluster_list_add(struct list *l, void *x);
void cluster_list_remove(struct list *l, const void *x); /* O(n); the others change places */

#endif
