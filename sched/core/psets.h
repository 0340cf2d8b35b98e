#ifndef PSETS_H
#define PSETS_H
/* Placement sets: a job with place=group=RES goes to vnodes that share one value of RES.
 *
 * The smallest set that has room is taken; a job that is too large for every set may use all vnodes, one that
 * fits into a busy set waits for it. Jobs that do not ask are placed anywhere. reference/scheduler.md,
 * "Placement sets".
 */
#include "placement.h"

/* As placement_find. */
bool psets_find(struct placer *p, struct buckets *all, const struct asker *a, struct pieces *out);

/* Why psets_find said no; sets why->never when even all vnodes being free would not help. */
void psets_why(struct buckets *all, const struct asker *a, struct reason *why);

#endif
