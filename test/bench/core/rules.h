#ifndef RULES_H
#define RULES_H
/* Rules by which victims are chosen: those of the scheduler, and what is compared with them. */
#include "world.h"

/* What the scheduler would do by the world's preempt_sort, as it explains it. */
void rules_scheduler(struct world *w, const struct job *j, int urgent, struct choice *out);

/* What sites write by hand: the widest job first, of equal ones the oldest, until the urgent job fits; then who is not
 * needed is given back. */
void rules_oldest(struct world *w, const struct job *j, int urgent, struct choice *out);

/* Every choice that can be made, none of which has a victim that is not needed: how many, up to `max`; or -1: they are more,
 * or there are too many running jobs to try them all. */
int rules_all(struct world *w, const struct job *j, struct choice out[], int max);

#endif
