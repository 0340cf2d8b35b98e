#ifndef DISPLAY_H
#define DISPLAY_H
/* X11 for an interactive job: what pbs_terminal has noted in the run's directory (RUNDIR_DISPLAY) becomes DISPLAY and XAUTHORITY in the
 * environment of the order, and a file with the cookie in the job's TMPDIR, the owner's alone. No xauth is needed for that. */
#include "err.h"

struct shep_order;

/* After job_dirs_make. 0, also where X11 is not wanted. */
int display_give(const char *path, struct shep_order *o, struct err *e);

#endif
