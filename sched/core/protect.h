#ifndef PROTECT_H
#define PROTECT_H
/* What protects a running job: its queue's own methods, exempt time after each start, a bound on how often, and who may
 * preempt that queue. The server has the last word; here the same is asked so that no plan is made in vain. */
#include "candidates.h"

/* The methods that may be tried on it, in order; `room` is written. */
const char *protect_letters(const struct policy *p, const struct job *j, int64_t now_s, char room[5]);

/* What protects it from this one now: SPARED_NONE, NEVER, COUNT, BY, or EXEMPT: then *until_s is when that ends, else 0. */
enum spared protect_spares(const struct preemptor *p, const struct job *j, int64_t *until_s);

#endif
