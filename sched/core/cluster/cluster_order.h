#ifndef CLUSTER_ORDER_H
#define CLUSTER_ORDER_H
/* What this scheduler has ordered and the stream has not shown yet.
 *
 * The life of an order: cluster_order, when the cycle decides; cluster_order_taken, when the server has
 * answered that it does it; the job's next change ends it (cluster_change.c). Or cluster_order_drop at any
 * time: refused, lost, or out of date. Answer and change race; where the change comes first it ends
 * nothing, as the order is not answered yet, and job->heard says that it was seen. */
#include "sched_cluster.h"

/* The job has been ordered to run or resume (and takes the room `claim` at once), or to give way, or waits
 * until others have given way (and will then take `claim`). An order of another kind replaces it. `claim` is
 * copied; NULL: no room. */
void cluster_order(struct cluster *cl, struct job *j, enum order_kind kind, const struct allocation *claim);
/* The server has taken the order: the job's next change ends it. */
void cluster_order_taken(struct job *j);
/* It did not happen, or is over. */
void cluster_order_drop(struct cluster *cl, struct job *j);

/* What a job that AWAITS takes of the room that is free already; the rest comes from its victims. */
void cluster_order_reserve(struct cluster *cl, struct job *j, const struct allocation *reserve);

/* The order is no more, and gives back what it has claimed. Unlike cluster_order_drop this is not news by itself. false: there was none. */
bool cluster_order_end(struct cluster *cl, struct job *j);

/* The rank from which on a job of one chunk is to be placed where they go round the hosts: behind the host that was
 * given to a job last. 0: from the first. O(nodes). */
uint32_t cluster_order_round_from(const struct cluster *cl);

#endif
