#ifndef RESUME_FIT_H
#define RESUME_FIT_H
/* A suspended job goes on where it was, or not at all. */
#include "reason.h"
#include "sched_cluster.h"

/* Is what it gave back free again on each of its vnodes? Else why not. Of the cluster as it is, trial included. */
bool resume_fits(const struct cluster *cl, const struct job *j, struct reason *why);

#endif
