#ifndef ACT_START_H
#define ACT_START_H
/* Actions of a run towards its start (run_action_fn: ctx is struct mom). */
#include <stdbool.h>

#include "site_steps.h"

struct mom;
struct run;

void act_start_ready(void *ctx, struct run *r);    /* prepared: say so, or launch at once */
void act_start_prologue(void *ctx, struct run *r); /* LAUNCH: the next step before the script */
void act_start_launch(void *ctx, struct run *r);   /* the shepherd */
void act_start_begun(void *ctx, struct run *r);    /* the shepherd has written down its start */

/* The site's prologue has answered: continue, or end the run. ran: there was a script. code: its exit status. */
void act_start_prologue_done(struct mom *m, struct run *r, enum step_verdict v, bool ran, int code);

/* Stop whatever step of the start is under way; it calls back no more. */
void act_start_stop(struct run *r);

#endif
