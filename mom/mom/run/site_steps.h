#ifndef SITE_STEPS_H
#define SITE_STEPS_H
/* The steps of a job's life on this host, as rows: begin, prologue, launch, preterm, epilogue, end. Each may be slow and
 * gives a verdict: go on, run again, or end. Today prologue and epilogue are served, by the site's scripts
 * (mom_priv/prologue, epilogue); a step without a script answers STEP_GO_ON at once.
 */
#include <stdbool.h>

#include "err.h"

struct home;
struct loop;
struct run;
struct site_steps;

enum step { STEP_BEGIN, STEP_PROLOGUE, STEP_LAUNCH, STEP_PRETERM, STEP_EPILOGUE, STEP_END, STEP_COUNT };

enum step_verdict { STEP_GO_ON, STEP_RERUN, STEP_ABORT };

/* Called once, perhaps inside site_steps_run. `ran`: something was there to run. `code` is what the script gave: its exit code, or negative. */
typedef void step_fn(void *arg, struct run *r, enum step which, enum step_verdict v, bool ran, int code);

struct site_steps *site_steps_create(struct loop *l, const struct home *h, step_fn *fn, void *arg);
void site_steps_destroy(struct site_steps *s);

void site_steps_run(struct site_steps *s, struct run *r, enum step which);
void site_steps_stop(struct run *r); /* what is running for it is killed, no verdict comes */

#endif
