#ifndef SITE_STEPS_H
#define SITE_STEPS_H
/* The site's scripts around a job on this host: mom_priv/prologue, mom_priv/epilogue. A script may be slow and gives a verdict:
 * continue, run the job again, or end it. A step without a script answers STEP_GO_ON at once. Loop thread only.
 */
#include <stdbool.h>

#include "err.h"

struct home;
struct loop;
struct run;
struct site_steps;

enum step { STEP_PROLOGUE, STEP_EPILOGUE, STEP_COUNT };

enum step_verdict { STEP_GO_ON, STEP_RERUN, STEP_ABORT };

/* Called once, perhaps inside site_steps_run; never after site_steps_stop. `ran`: there was a script. `code`: its exit code, or
 * negative: -1 it was refused for its permissions, -2 a file of the job was missing, -3 it was killed or could not be started. */
typedef void step_fn(void *arg, struct run *r, enum step which, enum step_verdict v, bool ran, int code);

struct site_steps *site_steps_create(struct loop *l, const struct home *h, step_fn *fn, void *arg);
void site_steps_destroy(struct site_steps *s);

void site_steps_run(struct site_steps *s, struct run *r, enum step which);
void site_steps_stop(struct run *r); /* what is running for it is killed, no verdict comes */

#endif
