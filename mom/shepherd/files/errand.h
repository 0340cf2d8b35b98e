#ifndef ERRAND_H
#define ERRAND_H
/* What errands of the shepherd's program share. */
#include <stddef.h>

#include "err.h"

struct shep_order;

/* ^ What is to be done for the run in `path` with this order; `bytes` came on stdin, the answer goes to stdout. -1: there
 * is none, e. */
typedef int errand_fn(const char *path, struct shep_order *o, const char *bytes, size_t n, struct err *e);

/* Read the run's order, and stdin (at most `max` bytes) to its end, and do it. The program's exit status: 1, and the reason
 * on stderr, when something could not be read or there is no answer. */
int errand_with_order(const char *path, size_t max, errand_fn *fn);

/* Take part in our parent's fate: when it dies, we and our process group are killed. Having been another user for a
 * moment undoes it. */
void errand_end_with_parent(void);

/* May this be run as us: a regular file of ours, executable, that no other user may write, in directories of which the same holds
 * (trusted.h)? ENOENT ..., EACCES. */
int errand_check(const char *file, struct err *e);

#endif
