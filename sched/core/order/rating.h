#ifndef RATING_H
#define RATING_H
/* What job_sort_formula makes of each job: job->rating, by which jobs are ordered; 0 for all where there is none.
 *
 * It listens to the cluster and rates a job when it is seen. What a formula asks for may move by itself (eligible time,
 * shares): rating_refresh rates all waiting jobs again.
 */
#include <stdbool.h>

#include "sched_cluster.h"

struct decisions;
struct rating;

/* Becomes a listener of `cl`: after accrual, before each listener that looks at job->rating. */
struct rating *rating_create(struct cluster *cl);
void rating_destroy(struct rating *r);

void rating_time(struct rating *r, int64_t now_s); /* the time of the server, now and then */
/* O(jobs) where the formula asks for what moves, else nothing. The cluster is whole. */
void rating_refresh(struct rating *r);

/* Log what it makes of this job, and what is wrong with it where there is no value; nothing without a formula. */
void rating_log(struct rating *r, const struct job *j, struct decisions *d);

/* Is it over job_sort_formula_threshold, or is there no such? */
bool rating_suffices(const struct policy *p, const struct job *j);

#endif
