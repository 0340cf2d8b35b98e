#ifndef ERRAND_H
#define ERRAND_H
/* What every errand that runs a script of the site needs. */
#include "err.h"

/* Take part in our parent's fate: when it dies, we and our process group are killed. Having been another user for a
 * moment undoes it. */
void errand_end_with_parent(void);

/* May this be run as us: a regular file of ours, executable, that nobody else may write? ENOENT ..., EACCES. */
int errand_check(const char *file, struct err *e);

#endif
