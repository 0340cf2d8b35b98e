#ifndef JOB_DIRS_H
#define JOB_DIRS_H
/* What a job has outside its run's directory as long as it is here: its nodefile and its TMPDIR;
 * and the socket of TM (tm_server.h), which is only removed.
 *
 * Both are taken from the run's directory where an earlier run of the same owner has left them (RUNDIR_NODES,
 * RUNDIR_TMP), else made; afterwards they are put away there, or removed where that cannot be (another file system,
 * something left in the directory). Doing either twice is harmless. `path` is the run's directory.
 */
#include "err.h"

#define JOB_DIRS_TM_SUFFIX ".tm" /* behind the name of the nodefile: the socket of TM */

struct shep_order;

/* A TMPDIR whose name is taken gets another one (own_dir.h), also in the order. */
int job_dirs_make(const char *path, struct shep_order *o, struct err *e);
void job_dirs_put_away(const char *path, const struct shep_order *o);

#endif
