#ifndef SPOOL_FILE_H
#define SPOOL_FILE_H
/* A file of a job's output in PBS_HOME/spool. Only the MOM's user can make and remove names there, and their names can be
 * guessed: so what is under the name is the MOM's or left over from it, and a stranger can neither keep the job from its
 * file nor get at it. As the MOM's user. */
#include "err.h"

struct shep_order;

/* For appending; made, and given to the owner by its descriptor, where it is not there. What is there and is not a plain
 * file of the owner with one name is removed first. A descriptor, or -1. */
int spool_file_open(const char *path, const struct shep_order *o, struct err *e);

#endif
