#ifndef RUNDIR_MOVED_H
#define RUNDIR_MOVED_H
/* A directory of the job that has another name than the order says, since that name had been taken.
 *
 * The name that was found instead is noted in the run's directory, and rundir_read_order puts it into every order that it
 * reads: in its own field, and in the environment where the computed value begins with the old name. */
#include "err.h"

struct shep_order;

enum rundir_moved { RUNDIR_MOVED_TMPDIR, RUNDIR_MOVED_JOBDIR, RUNDIR_MOVED_COUNT };

/* Note it, and change this order as well. -1: it cannot be noted; the order is as it was. */
int rundir_moved_note(const char *path, enum rundir_moved which, const char *name, struct shep_order *o,
                      struct err *e);

/* -1: no memory. */
int rundir_moved_apply(const char *path, struct shep_order *o, struct err *e);

/* The noted name, to be freed; NULL: the order's name holds. */
char *rundir_moved_find(const char *path, enum rundir_moved which);

#endif
