#ifndef AGAIN_H
#define AGAIN_H
/* A suspended job goes on where it was, or not at all. */
#include "reason.h"
#include "universe.h"

/* Is what it gave back free again on each of its vnodes? Else why not. Of the universe as it is, trial included. */
bool again_fits(const struct universe *u, const struct job *j, struct reason *why);

#endif
