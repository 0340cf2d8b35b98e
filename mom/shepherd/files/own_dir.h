#ifndef OWN_DIR_H
#define OWN_DIR_H
/* A directory of a job, of its owner and closed to others, at a place where any user may have taken its name: $tmpdir and
 * $jobdir_root are open to all and the names follow from the job's identifier.
 *
 * What is there is used only when it is the owner's and closed to others, and is changed in no way. Else the directory
 * gets a name that could not be guessed; it is that much longer. */
#include <limits.h>
#include <stdbool.h>

#include "err.h"

struct shep_order;

/* As the MOM's user, who then gives it to the owner, or as the owner (identity.h). `out` is its name.
 * `wanted` or a directory that this has made before for it, when `again`. -1: e. */
int own_dir_make(const char *wanted, bool again, const struct shep_order *o, char out[static PATH_MAX],
                 struct err *e);

/* Is `dir` a directory of the owner's, closed to others (0700), with nothing in it? Links are not followed. */
bool own_dir_is_fresh(const char *dir, const struct shep_order *o);

#endif
