#ifndef LEVEL_H
#define LEVEL_H
/* Numeric preemption levels: who may stop whom. reference/preemption.md section 2.
 *
 * A job's level follows from its queue, and from being run by request; jobs of one class have one level.
 */
#include "universe.h"

int level_of(const struct universe *u, const struct job *j);

/* The lowest level of any running job; INT_MAX when nothing runs. O(queues). */
int level_lowest_running(const struct universe *u);

#endif
