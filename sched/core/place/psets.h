#ifndef PSETS_H
#define PSETS_H
/* Placement sets: a job goes to vnodes that share one value of a resource.
 *
 * Which resources: the one of place=group=RES, else node_group_key of the job's queue, else of the server; the latter two
 * only where the server says node_group_enable. There is a set for each value, and one for vnodes where the resource is not
 * set unless only_explicit_psets; a vnode with several values (string_array) is in several. The smallest set that has room
 * is taken. A job that is too large for every set may use all vnodes, or never runs (do_not_span_psets); one that fits into
 * a busy set waits for it.
 */
#include "placement.h"

/* As placement_find. */
bool psets_find(struct placer *p, struct buckets *all, const struct asker *a, struct allocation *out);

/* The same beside reservations that begin in the span of the asker. *meets: without them there would be a place. The trial has it
 * taken, or is as before. One that finds a place costs one search. */
bool psets_find_beside(struct placer *p, struct buckets *all, struct trial *t, const struct asker *a,
                       struct allocation *out, bool *meets);

/* Why psets_find said no; sets why->never when even all vnodes being free would not help. */
void psets_why(struct buckets *all, const struct asker *a, struct reason *why);

#endif
