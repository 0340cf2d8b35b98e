#ifndef ATTEMPT_H
#define ATTEMPT_H
/* What a job could do at this moment: run in room that is free, or in that of others. Asked by the cycle,
 * which acts on it, and by explain, which does not. Nothing is decided here, and the trial is as before
 * after each call.
 *
 * The order: attempt_room; if it is false, attempt_bar with its `why`; if that is ATTEMPT_OPEN,
 * attempt_waits and attempt_victims. */
#include "pick.h"

/* Find room for the job. true: `where` (empty before, the caller's) has its place. false: `why` says why
 * not, the first obstacle in PBS's order (shares, formula, hours, limits, vnodes). A suspended job is
 * resumed where it was. O(buckets) and more where placement sets or reservations are asked. */
bool attempt_room(const struct picker *k, const struct preemptor *p, struct allocation *where,
                  struct reason *why);

/* Why the job may stop no other, whatever runs; `why` is that of attempt_room. */
enum attempt_bar {
    ATTEMPT_OPEN,      /* it may */
    ATTEMPT_OFF,       /* preemptive_sched is off */
    ATTEMPT_NEVER,     /* it could not run even if everything were free */
    ATTEMPT_LEVEL,     /* no job runs that has a lower level */
    ATTEMPT_HOPELESS,  /* stopping jobs cannot give it what it lacks */
    ATTEMPT_FORBIDDEN, /* preempt_targets=NONE */
    ATTEMPT_WAITS      /* preempt_wait: enough jobs end in time by themselves */
};
const char *attempt_bar_text(enum attempt_bar bar); /* as a sentence; "" when it may */
enum attempt_bar attempt_bar(const struct picker *k, const struct preemptor *p, const struct reason *why);

/* preempt_wait: return true if it would fit soon enough without any job being stopped. False for a job that
 * a request asks for. */
bool attempt_waits(const struct picker *k, const struct preemptor *p);

/* Choose the victims for it by the rule of preempt_sort, as pick_pbs does: same arguments, same promises.
 * false also where a set was found that costs more than preempt_budget has left. */
bool attempt_victims(const struct picker *k, const struct preemptor *p, const struct reason *why,
                     struct candidates *victims, struct allocation *where);

#endif
