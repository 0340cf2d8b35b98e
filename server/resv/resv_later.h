#ifndef RESV_LATER_H
#define RESV_LATER_H
/* Occurrences of standing reservations behind the present one: whether all their vnodes are there, can be used, and belong to no
 * maintenance reservation at their times. */
#include "reservations.h"

/* Return true if so, or if there are none. Looked up again only after resv_later_review or a change of `r` (resv->later_new).
 * `next`: when to look again at the latest, for hosts that have not been heard of since the start: `later_new` stays set for these. */
bool resv_later_is_whole(const struct reservations *all, struct resv *r, int64_t *next);
/* A vnode has changed, or what maintenance has: all are looked up at the end of this turn. */
void resv_later_review(struct reservations *all);

#endif
