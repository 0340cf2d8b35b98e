#ifndef ADMISSIBLE_H
#define ADMISSIBLE_H
/* Could this job be run now, but for room? What a run by a scheduler would be refused for is asked here before
 * anybody is made to give way for it. */
#include "err.h"
#include "job.h"

/* 0, or -1: PBSE_BADSTATE it does not wait, or its queue does not run jobs; the text says which. */
int admissible(const struct job *j, struct err *e);

#endif
