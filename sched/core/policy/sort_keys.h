#ifndef SORT_KEYS_H
#define SORT_KEYS_H
/* job_sort_key and node_sort_key of sched_config, as text and as the policy has them. */
#include "policy.h"

/* "ncpus HIGH", "job_priority LOW", "fair_share_perc HIGH", "preempt_priority HIGH": one key more.
 * -1: EINVAL with what would be right, or POLICY_SORT_MAX are there; the policy is as it was. */
int sort_keys_add_job(struct policy *p, const char *text, struct err *e);

/* "sort_priority HIGH", "last_used_time LOW", "ncpus HIGH [total|assigned|unused]": the same. */
int sort_keys_add_node(struct policy *p, const char *text, struct err *e);

#endif
