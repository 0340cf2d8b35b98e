#ifndef RESV_SELECT_H
#define RESV_SELECT_H
/* The select of a reservation: completed and added up as a job's is, altered to a part of what it was, and put back.
 *
 *   resv_select_alter   the new one is set, the old one kept            (a scheduler is asked)
 *     resv_select_undo  refused: the old one again
 *     resv_select_keep  confirmed: of a standing reservation the old one is kept until the occurrence is over
 *       resv_select_undo_occurrence */
#include "reservations.h"

/* The Resource_List of a list of a reservation is completed; schedselect is set. -1: as defaults_complete. */
int resv_select_complete(struct server_ctx *s, struct attr_list *l, struct err *e);
/* The same with another select in place of the present one, in a copy `l` of the attributes of a reservation. -1 too:
 * PBSE_SELECT_NOT_SUBSET it has chunks that the present one does not have, or more of them. O(chunks × log of that). */
int resv_select_alter(struct server_ctx *s, struct attr_list *l, const char *select, struct err *e);
bool resv_select_is_altered(const struct resv *r); /* and not decided yet */

void resv_select_undo(struct reservations *all, struct resv *r);
void resv_select_keep(struct reservations *all, struct resv *r);
void resv_select_undo_occurrence(struct reservations *all, struct resv *r);

#endif
