#ifndef MOM_TERMINAL_H
#define MOM_TERMINAL_H
/* The terminal of an interactive job: libexec/pbs_terminal connects to the waiting qsub, and then carries bytes for as long
 * as both live, also without this MOM. Its name is in the run's directory (RUNDIR_TTY). */
#include <stdbool.h>

#include "err.h"

struct home;
struct loop;
struct run;

bool terminal_is_interactive(const struct run *r);
bool terminal_is_wanted(const struct run *r); /* interactive, to begin here, and there is none yet */

/* fn is called once, later: why NULL, the terminal is there; else why not. -1: it could not begin. */
typedef void terminal_fn(void *arg, struct run *r, const char *why);
int terminal_begin(struct loop *l, const struct home *h, struct run *r, terminal_fn *fn, void *arg,
                   struct err *e);
void terminal_stop(struct run *r); /* there is no callback */

#endif
