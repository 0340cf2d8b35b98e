#ifndef CLUSTER_SETTLE_H
#define CLUSTER_SETTLE_H
/* The mirror made whole after changes: vnodes ranked and in their buckets, jobs linked to vnodes and queues. */
#include "sched_cluster.h"

/* Make it whole. Returns false when what was read cannot be understood as it was read (a resource is new, or
 * changed its type after objects had used it): read everything again, after cluster_gone_all. */
bool cluster_settle(struct cluster *cl);

/* A job has been ordered to run: where vnodes are sorted by what is used of them they are so again. No trial is under way. */
void cluster_settle_order(struct cluster *cl);

#endif
