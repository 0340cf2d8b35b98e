#ifndef CLUSTER_ROWS_H
#define CLUSTER_ROWS_H
/* Telling a cluster of an object by a constant table, as tests and benchmarks of the core do. */
#include "sched_cluster.h"

enum { CLUSTER_ROWS_MAX = 16 };

/* For tests: as cluster_change with these attributes. Each row is {attribute, resource or NULL, value}; one with a NULL attribute
 * ends them. At most CLUSTER_ROWS_MAX; borrowed for the call. */
void cluster_rows(struct cluster *cl, enum cluster_kind kind, const char *name, const char *const rows[][3]);

#endif
