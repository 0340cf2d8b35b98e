#ifndef BOUND_H
#define BOUND_H
/* What no choice of victims undercuts: for one decision, and for a whole mix. */
#include "world.h"

/* At this moment, in core-seconds: as if single cores could be taken from jobs. No choice loses less. */
double bound_now(const struct world *w, int urgent);

/* Of a small mix, in core-seconds: the least that is lost in all, when every choice at every urgent job is played to the end,
 * as if the future were known. `known_s` is what some rule loses. -1: there are too many choices to try them. */
double bound_of_all(const struct mix *x, uint64_t seed, double known_s);

#endif
