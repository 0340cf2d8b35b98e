#ifndef ACTIONS_H
#define ACTIONS_H
/* What the machine's actions do, for main to bind. */
#include "run_fsm.h"
#include "site_steps.h"

struct mom;
struct run;

extern run_action_fn *const actions[RUN_ACTION_COUNT]; /* ctx is struct mom */

void actions_changed(void *ctx, struct run *r, enum run_state before, enum run_event ev);
void actions_odd(void *ctx, struct run *r, enum run_event ev);
void actions_step_done(void *ctx, struct run *r, enum step which, enum step_verdict v, bool ran,
                       int code); /* step_fn */

#endif
