#ifndef PICK_PBS_H
#define PICK_PBS_H
/* Which running jobs to stop for an urgent one, by PBS's rules.
 *
 * Candidates are stopped one after the other in a trial until the urgent job can be placed; then those that
 * were not needed after all are left alone. Nothing is decided here, and the trial is as before afterwards.
 */
#include "pick.h"

/* Choose victims for p->job, which found no room for the reason `why`.
 *
 * true: `victims` (zeroed; last chosen first; the caller frees .a) and `where` (empty before; the urgent
 * job's place when they are gone) are filled. false: stopping jobs does not help, and nothing is filled.
 * Jobs are not marked, and the trial and the counters are as before in both cases. Lines of the log are
 * PBS's; k->log is not NULL. Rule: doc/preemption.md. */
bool pick_pbs(const struct picker *k, const struct preemptor *p, const struct reason *why,
              struct candidates *victims, struct allocation *where);

#endif
