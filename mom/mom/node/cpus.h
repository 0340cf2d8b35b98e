#ifndef CPUS_H
#define CPUS_H
/* The processors of this host in order of neighbourhood (hwloc's: threads of a core, cores of a cache, ... are together),
 * and which of them a run should have.
 *
 * Pure beside cpus_look. Who uses what is the caller's to say: weights, one for each processor.
 */
#include <stddef.h>

#include "err.h"

struct cpus {
    size_t n;
    unsigned *number; /* as the kernel calls them */
};

int cpus_look(struct cpus *c, struct err *e); /* at the hardware: those that we may use. -1: e */
void cpus_fini(struct cpus *c);

/* `weight` more for each processor of a list like "0-3,8" (NULL: none). */
void cpus_weigh(const struct cpus *c, unsigned weights[], const char *list, unsigned weight);

struct cpus_share { /* of the host: n processors from `from` on, in that order */
    size_t from, n;
};

/* `want` of a share: those with the smallest weights, of equal ones the first. They get `weight` more, and the mark in
 * chosen[]. No more than there are. */
struct cpus_wish {
    struct cpus_share of;
    size_t want;
    unsigned weight;
};
void cpus_pick(const struct cpus *c, const struct cpus_wish *w, unsigned weights[], char chosen[]);

char *cpus_list(const struct cpus *c,
                const char chosen[]); /* "0-3,8"; heap, NULL: none is chosen, or no memory */

#endif
