#ifndef HELPER_POLICY_H
#define HELPER_POLICY_H
/* The policy in force for the job: what `pbs_preempt --policy` says to its owner, as attributes of PMIx. */
#include <pmix.h>

struct helper;

/* done(status, ...) is called once, later. */
void helper_policy_ask(struct helper *h, pmix_info_cbfunc_t done, void *done_arg);
/* The command's output; -1: there is none to wait for. */
int helper_policy_fd(const struct helper *h);
void helper_policy_turn(struct helper *h);

#endif
