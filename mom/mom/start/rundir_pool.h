#ifndef RUNDIR_POOL_H
#define RUNDIR_POOL_H
/* The pool of directories of runs that are over, kept for the next runs of the same user.
 *
 * Making and removing files is the largest part of what a short job costs its host, and some file systems get slower
 * with every file that was just removed. A spare keeps its files; what they held is void before it becomes one:
 *
 *   jobs/.spare.<n>/run        without an order
 *                  /journal    empty
 *                  /<id>.SC without text; written over only for the same owner (prepare)
 *                  /nodes tmp  nodefile and TMPDIR of the last run, put away by the shepherd (job_dirs.h)
 *                  /checkpoint the job's directory of images, without any (images_forget)
 *
 * Names that begin with a dot are not runs (recover). Loop thread only.
 */
#include "err.h"

struct rundir_pool;

/* Removes what an earlier MOM kept. `jobs_dir` is borrowed for good. NULL: no memory. */
struct rundir_pool *rundir_pool_create(const char *jobs_dir);
void rundir_pool_destroy(struct rundir_pool *s); /* the directories stay, for the next MOM to remove */

/* The directory `path` of a new run of `user`: a spare directory of that user, its script (if it has one) under the name `script`, or a
 * new one as by rundir_create. 0 or -1. */
int rundir_pool_take(struct rundir_pool *s, const char *path, const char *user, const char *script,
                     struct err *e);

/* The run of `user` in `path` is over: its directory becomes a spare, or is removed; where it cannot be (no descriptor is
 * left), it is put aside under a spare's name and removed at a later call. 0: there is no such run any more. */
int rundir_pool_give(struct rundir_pool *s, const char *path, const char *user, struct err *e);

#endif
