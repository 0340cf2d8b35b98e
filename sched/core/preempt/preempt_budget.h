#ifndef PREEMPT_BUDGET_H
#define PREEMPT_BUDGET_H
/* preempt_budget: what the preemptions for one queue's jobs may destroy in an hour. The server keeps the ledger and has the
 * last word; here the same is asked so that no plan is made in vain. */
#include "candidates.h"

/* false: this one alone would cost more than is left; *until_s is when more is left, or 0. */
bool preempt_budget_allows(const struct preemptor *p, const struct job *victim, int64_t *until_s);
/* Return true if the budget covers all of them together. */
bool preempt_budget_covers(const struct preemptor *p, const struct candidates *victims);

#endif
