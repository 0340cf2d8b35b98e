#ifndef CLUSTER_RESVS_H
#define CLUSTER_RESVS_H
/* Reservations in the mirror. */
#include "sched_cluster.h"

/* The server is told to confirm it at these times (taken over), or, n 0, that this cannot be. Until the server shows it they are its
 * own, and it is not looked at again. */
void cluster_resv_promise(struct cluster *cl, struct resv *r, struct resv_time *times, size_t n);
/* The server's answer: again_s 0: taken; else refused, and it may be tried again at that time. */
void cluster_resv_answered(struct cluster *cl, struct resv *r, int64_t again_s);

/* What the stream says of one. Return true when it is news that can matter. */
bool cluster_resv_change(struct cluster *cl, const char *id, const struct attrl *attrs);
void cluster_resv_drop(struct cluster *cl, struct resv *r);
/* Vnodes have come or gone: all are looked up again when it settles. Called before a vnode goes. */
void cluster_resvs_dirty(struct cluster *cl);
void cluster_resvs_settle(struct cluster *cl); /* after the vnodes, before the jobs */

#endif
