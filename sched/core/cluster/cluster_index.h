#ifndef CLUSTER_INDEX_H
#define CLUSTER_INDEX_H
/* Which indices of the cluster a job or a vnode is in: those of its vnodes, the counts, its class.
 *
 * A job is linked (in its indices) or dirty (in none of them, but in the list that settling goes through). Code that is about to change
 * a job makes it dirty first. The same holds for a vnode and its bucket. */
#include "sched_cluster.h"

enum { CLUSTER_ID_MAX = 512 };

/* A job runs or no longer runs, for the counts of its queue, of the server and of its array, which may have reached
 * max_run_subjobs, or have room again. */
void cluster_index_count(struct cluster *cl, struct job *j, int64_t times);
/* The same for the array alone, interned, and for a while: the caller counts back before anything else counts. */
void cluster_index_count_array(struct cluster *cl, const char *array_id, int64_t times);
/* Is it one that a cycle may start, or, where the order is binding, a full array that it may tell when it will run? */
bool cluster_index_may_wait(const struct cluster *cl, const struct job *j);
/* The lowest index that is not a job here, and its name, or IDSET_NONE; those that are one go from the set. */
int64_t cluster_index_next(const struct cluster *cl, const struct job *array, char id[CLUSTER_ID_MAX]);
/* An array in or out of its class, or in another one, where that is no longer right. */
void cluster_index_refresh(struct cluster *cl, struct job *array);

/* By what it says of itself now: its queue and vnodes are looked up, and it joins the indices. It is in none. */
void cluster_index_link(struct cluster *cl, struct job *j);
/* Out of every index. It is as it was when it was linked. */
void cluster_index_unlink(struct cluster *cl, struct job *j);
/* Unlink it, until settling links it again. Of a dirty one nothing happens. */
void cluster_index_make_dirty(struct cluster *cl, struct job *j);
/* The same for a vnode and its bucket; arg is the cluster (pools.h calls it). */
void cluster_index_make_node_dirty(void *arg, struct node *n);

/* Its class may be another now: out and in again. */
void cluster_index_rejoin(struct cluster *cl, struct job *j);

/* Do as many of its subjobs run as max_run_subjobs allows? */
bool cluster_index_array_is_full(const struct cluster *cl, const struct job *array);
/* Is it such an array, or a subjob of one that is not an object of the server yet? */
bool cluster_index_is_kept_back(const struct cluster *cl, const struct job *j);

#endif
