#ifndef RESUME_FIT_H
#define RESUME_FIT_H
/* A suspended job is resumed where it was, or not at all. */
#include "reason.h"
#include "match.h"

/* Return true if what the job gave back is free again on each of its vnodes; otherwise `why` says what is missing. Asks the
 * cluster as it is, trial included. */
bool resume_fits(const struct asker *a, struct reason *why);

#endif
