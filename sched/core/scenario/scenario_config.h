#ifndef SCENARIO_CONFIG_H
#define SCENARIO_CONFIG_H
/* An option of sched_config in a scenario, straight into the policy: flags as true or false, sort keys as
 * "ncpus,HIGH,unused", server_dyn_res as dynamic=RESOURCE:AMOUNT. */
#include "policy.h"

/* -1: EINVAL, there is no such option here, or the value is not valid. `value` is scratch. */
int scenario_config(struct policy *p, const char *name, char *value, struct err *e);

#endif
