#ifndef STATUS_NAMES_H
#define STATUS_NAMES_H
/* What a query is to show: names, ranges of subjobs, a queue, or all. */
#include "status_state.h"

int status_names_choose(struct status_query *q, const char *ids, struct err *e);
struct object *status_names_find(const struct status_query *q, const char *name); /* of no job; or NULL */
void status_names_unknown(struct status_query *q, const char *name);
void status_names_finished(struct status_query *q,
                           const char *name); /* it is history, which was not asked for */

#endif
