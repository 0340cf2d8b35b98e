#ifndef RUN_LIMITS_H
#define RUN_LIMITS_H
/* May another job run, as far as its queue and the server are concerned: started, limits on jobs and on
 * counted resources. Limits by user, group and project are for a later version.
 */
#include "reason.h"
#include "universe.h"

/* true: yes. false: `why` says what stands in the way. */
bool run_limits_allow(const struct universe *u, const struct job *j, struct reason *why);

#endif
