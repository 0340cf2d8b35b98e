#ifndef PRIMETIME_H
#define PRIMETIME_H
/* Primetime: whether a job may run at this hour: queues for prime, non-prime and dedicated time, and boundaries that it would
 * cross.
 *
 * By the names of queues (primetime_prefix, nonprimetime_prefix, dedicated_prefix), and by how long the job may take:
 * with backfill_prime none hangs over a change of prime time by more than prime_spill; none hangs over the begin or the end
 * of dedicated time. A job that is run by request has to mind the latter only.
 */
#include "reason.h"
#include "sched_cluster.h"

/* Return true if the job may run now; otherwise `why` says what prevents it. `now_s` is the server's clock. */
bool primetime_allows(const struct cluster *cl, const struct job *j, int64_t now_s, struct reason *why);

/* How long a job that begins, or is resumed, now may run before it would cross such a boundary. */
int64_t primetime_left_s(const struct cluster *cl, const struct job *j, int64_t now_s);

/* Return true if the length of a job matters at all. */
bool primetime_limits_length(const struct policy *p);

/* When the answers may be otherwise next: prime or dedicated time begins or ends; seconds of now_s's clock;
 * 0: never. */
int64_t primetime_change_s(const struct policy *p, int64_t now_s);

#endif
