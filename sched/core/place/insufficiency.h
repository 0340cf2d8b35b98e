#ifndef INSUFFICIENCY_H
#define INSUFFICIENCY_H
/* Why a job has no place, as a person wants to read it. Asked after a search has failed; nothing here
 * decides whether one would succeed.
 *
 * In this order: what would not fit even if everything were free, vnodes that are away, sums over all
 * vnodes, what does not fit now. Each function fills `why` only where it returns true; insufficiency_now
 * always does. O(buckets) or O(kinds) a chunk. */
#include "buckets.h"
#include "match.h"

/* Is there too little of a resource on all vnodes together? `why` then has the amounts; why->never when it is
 * too little in total. One that is too little in total is named before one that is only in use. */
bool insufficiency_sums(struct buckets *all, const struct asker *a, struct reason *why);

/* The resource that insufficiency_sums would name, by running sums alone: RES_NONE, there is none, it is too little in total, or
 * these sums do not say it (stocks.h). */
res_id insufficiency_res(struct buckets *all, const struct asker *a);

/* Is there a chunk that would not fit, were all vnodes free? Optimistic: false does not promise a place. */
bool insufficiency_never(struct buckets *all, const struct asker *a, struct reason *why);

/* Is there a chunk for which all vnodes that could ever run it are away (offline, down ...)? The first of them is named. */
bool insufficiency_away(struct buckets *all, const struct asker *a, struct reason *why);

/* All that can be seen to be in the way, vnodes that are away and sums first, as far as there is room in `why`; perhaps nothing. */
void insufficiency_all(struct buckets *all, const struct asker *a, struct reasons *why);

/* What is in the way at this moment. */
void insufficiency_now(struct buckets *all, const struct asker *a, struct reason *why);

#endif
