#ifndef CLUSTER_ARRAY_H
#define CLUSTER_ARRAY_H
/* Arrays: a job that waits while it has queued indices. To run one of them it becomes a job here, provisional until the stream shows
 * it. */
#include "sched_cluster.h"

struct job *cluster_array_spawn(struct cluster *cl,
                                struct job *array); /* of the lowest index; the array waits */
/* Of this very index, "41[7].svr1". NULL: there is no such array, or the index is not queued. */
struct job *cluster_array_spawn_named(struct cluster *cl, const char *id);
/* It will not be run: an index again. */
void cluster_array_unspawn(struct cluster *cl, struct job *sub);

/* An array in its class may have no index left that is not a job here: then it leaves, and this is false. */
bool cluster_array_is_open(struct cluster *cl, struct job *array);

/* The array that has this index queued, by the subjob's name; NULL: none has. */
struct job *cluster_array_named(const struct cluster *cl, const char *id);

#endif
