#ifndef JOB_ORDER_H
#define JOB_ORDER_H
/* Which job is next. Of one class: preempted jobs, earliest first; then job_sort_formula, job_sort_key, Priority, and the
 * time of queueing. Jobs of one class have one share, so between classes fairshare comes before job_sort_key.
 */
#include "sched_cluster.h"

/* <0: a before b. Never 0 for two jobs. */
int job_order_compare(const struct policy *p, const struct job *a, const struct job *b);

/* The same over all queues: higher level first, then who was preempted, then the queues' order: by priority and name, or
 * of one priority in turn, as queue->rounds says. */
int job_order_compare_heads(const struct policy *p, const struct job *a, int level_a, const struct job *b,
                            int level_b);

#endif
