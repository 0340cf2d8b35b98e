#ifndef RANDOM_SHRINK_H
#define RANDOM_SHRINK_H
/* The counter-example of a test on a random world, made short and written as a scenario (scenario.h). */
#include <stdio.h>

#include "random_world.h"

/* Make the world's next cycle by random_world_cycle, and return true if what the test is about holds of it. The lines that the
 * scenario has behind this cycle, and that are true where it holds, go to `want`. No assertion: it is asked of worlds that are
 * incomplete. */
typedef bool random_holds_fn(struct random_world *w, FILE *want, void *arg);

/* For tests: the last cycle of this world is one of which `holds` is false. Leave out events, vnodes and reservations as long as it stays
 * false of the last cycle, and write the rest to `out`: what happened, what was decided in each cycle, and in the end what should have been.
 * Return how many events are left; 0: it holds when the same events happen again, and nothing is written. */
size_t random_shrink(const struct random_world *w, random_holds_fn *holds, void *arg, FILE *out);

#endif
