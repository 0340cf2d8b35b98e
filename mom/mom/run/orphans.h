#ifndef ORPHANS_H
#define ORPHANS_H
/* What a shepherd that was killed has left of its job. */
#include <stddef.h>

struct home;
struct run;

/* Kill it all: found by the sessions that the shepherd has recorded in this PID namespace, by the job's mark in environments, and by its cgroups. At least
 * how many processes there were. Blocks for some milliseconds. */
size_t orphans_kill(const struct home *h, const struct run *r);

#endif
