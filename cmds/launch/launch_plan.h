#ifndef LAUNCH_PLAN_H
#define LAUNCH_PLAN_H
/* Which rank goes where: rank i to line i of the nodefile, round and round. Pure, but for reading the file. */
#include <stdbool.h>

#include "err.h"

struct launch_plan_host {
    char *name;
    int node; /* its first line that is used */
};

struct launch_plan {
    unsigned n_ranks, n_hosts, n_lines;
    int *node;      /* line of each rank */
    unsigned *host; /* of each rank: index into hosts */
    struct launch_plan_host *hosts;
};

/* `n`: how many ranks, 0: one a line. -1 with nothing to free: no nodefile, or more ranks than lines and not `crowd`. */
int launch_plan_make(struct launch_plan *p, const char *nodefile, unsigned n, bool crowd, struct err *e);
void launch_plan_fini(struct launch_plan *p);

#endif
