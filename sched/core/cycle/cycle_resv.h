#ifndef CYCLE_RESV_H
#define CYCLE_RESV_H
/* Reservations that need vnodes: when a cycle looks at them, what it decides, what came of it. */
#include "confirm.h"
#include "cycle.h"

void cycle_resv_confirm(struct cycle *c);
bool cycle_resv_is_due(const struct cycle *c, int64_t now_s); /* is there one? */
int64_t cycle_resv_wakes_s(const struct cycle *c); /* when there will be one; 0: that is not known */

/* The server has taken what was decided about a reservation (code 0: confirmed, or that this cannot be), or refused it. */
void cycle_resv_answered(struct cycle *c, const char *resv, int code, const char *text, struct decisions *d);

/* Between cycles: would it be confirmed now? As confirm_try; confirm_fini. */
void cycle_resv_explain(struct cycle *c, struct resv *r, int64_t now_s, struct confirm_answer *out);

#endif
