#ifndef CYCLE_RESV_H
#define CYCLE_RESV_H
/* Reservations that need vnodes: when a cycle looks at them, what it decides, what came of it.
 *
 * cycle_run calls cycle_resv_confirm before it fills its heap; the server's answer comes by
 * cycle_resv_answered, after the stream shows the reservation's new state or before that, or never. */
#include "confirm.h"
#include "cycle.h"

/* Place all reservations of this scheduler that need vnodes now: append DECIDE_CONFIRM or DECIDE_DENY for
 * each, and keep what was found. O(reservations that are due × (occurrences × (vnodes + jobs that end
 * before))). */
void cycle_resv_confirm(struct cycle *c);
bool cycle_resv_is_due(const struct cycle *c, int64_t now_s); /* is there one? */
int64_t cycle_resv_wakes_s(const struct cycle *c); /* when there will be one; 0: that is not known */

/* The server has taken what was decided about a reservation (code 0; `found`: vnodes, DECIDE_CONFIRM; else that there are none), or
 * refused it: then it is tried again after AGAIN_S, or, where its jobs are in the way
 * (PBSE_RESV_NOT_EMPTY), at its own retry time, which the appended DECIDE_DENY asks the server for. */
void cycle_resv_answered(struct cycle *c, const char *resv, bool found, int code, const char *text,
                         struct decisions *d);

/* Between cycles: would it be confirmed now? `out` as of confirm_try, the caller's until confirm_fini.
 * Nothing is decided. */
void cycle_resv_explain(struct cycle *c, struct resv *r, int64_t now_s, struct confirm_answer *out);

#endif
