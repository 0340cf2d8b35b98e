#ifndef CLUSTER_GONE_H
#define CLUSTER_GONE_H
/* What goes from the mirror. Between cluster_settle calls, but for cluster_gone_job. */
#include "sched_cluster.h"

/* The server has this object no longer. Return true if it was there. */
bool cluster_gone(struct cluster *cl, enum cluster_kind kind, const char *name);

/* Forget every object (the stream begins again). Open orders are forgotten too; resources stay known. */
void cluster_gone_all(struct cluster *cl);

/* Take a job out of the mirror, in any way: of its indices, its order, its class. */
void cluster_gone_job(struct cluster *cl, struct job *j);

#endif
