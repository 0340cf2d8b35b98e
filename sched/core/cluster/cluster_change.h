#ifndef CLUSTER_CHANGE_H
#define CLUSTER_CHANGE_H
/* What the stream says of one object, decoded into the mirror. Between cluster_settle calls only. */
#include "sched_cluster.h"

/* One object as it is now, all wanted attributes. Returns true when it is news that can matter. */
bool cluster_change(struct cluster *cl, enum cluster_kind kind, const char *name, const struct attrl *attrs);

/* What this job has used by now: news that the stream does not bring. Unknown jobs are nothing. */
void cluster_change_used(struct cluster *cl, const char *id, const struct attrl *attrs);

/* A job that is not submitted, with these attributes (as cluster_change), as if it had come to its queue last of all. It is in no table and
 * no class, and counts nowhere: no cycle sees it. The caller ends it with job_destroy() before the next change. */
struct job *cluster_change_unlisted(struct cluster *cl, const char *id, const struct attrl *attrs);

/* The policy's settings of files are others: every job is looked at again when it settles. */
void cluster_change_policy(struct cluster *cl);

#endif
