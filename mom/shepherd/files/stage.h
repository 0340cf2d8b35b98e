#ifndef STAGE_H
#define STAGE_H
/* Files that a job stages in before it starts and out when it has ended, with the rights of its owner alone.
 * Relative names are below the job's directory. The last component of a name may have wildcards.
 *
 * On this host by the program for local copies, elsewhere by the one for remote copies, four tries. A file that is
 * already where it is to go is left alone, also when it is to be removed.
 */
#include "err.h"

struct shep_order;
struct shep_stage;
struct copies;

/* Copy, and remove what was copied; the outcome is added to `c`. */
void stage_out(const struct shep_order *o, const struct shep_stage *s, struct copies *c);
/* Remove what was staged in. */
void stage_remove(const struct shep_order *o, const struct shep_stage *s);

/* The private directory of the job, made or removed with everything in it. `path`: the run's directory. One whose name is
 * taken gets another (own_dir.h), also in the order. */
int stage_make_jobdir(const char *path, struct shep_order *o, struct err *e);
void stage_remove_jobdir(const struct shep_order *o);

/* The errand: a shep_stage on standard input, a shep_close_result on standard output. The exit code for main. */
int stage_errand(const char *path);

#endif
