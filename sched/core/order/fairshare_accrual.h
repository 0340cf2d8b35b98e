#ifndef FAIRSHARE_ACCRUAL_H
#define FAIRSHARE_ACCRUAL_H
/* From jobs to shares: the entity of each job (job->share), and what its use adds to the usage of that entity.
 *
 * It listens to the cluster: whenever a job that runs or ran is seen with more than before, the difference is counted.
 * Nothing is counted while the policy has no use for it (policy_counts_use); the tree of shares is there all the same,
 * since a formula may ask for it at any time.
 */
#include <stdbool.h>

#include "accrual_record.h"
#include "fairshare.h"
#include "sched_cluster.h"

struct accrual;

/* Becomes a listener of `cl`; must be one before each listener that looks at job->share. */
struct accrual *accrual_create(struct cluster *cl);
void accrual_destroy(struct accrual *a);

struct fairshare *accrual_shares(struct accrual *a);
struct accrual_record *accrual_get_record(struct accrual *a);

/* The policy is another: jobs are told apart again when the cluster settles (cluster_change_policy). -1: EINVAL
 * fairshare_usage_res is not a formula; then nothing is counted. */
int accrual_configure(struct accrual *a, struct err *e);

/* The job has been ordered to run: until the next cycle it counts with all that it asks for. */
void accrual_ordered(struct accrual *a, const struct job *j);

/* The time of the server, now and then; by it a job that goes unseen has used walltime up to its end. */
void accrual_time(struct accrual *a, int64_t now_s);

/* Records of jobs that are gone. The cluster is whole. */
void accrual_sweep(struct accrual *a);

/* Return true if anything has been counted since the last call. */
bool accrual_take_news(struct accrual *a);

#endif
