#ifndef STATUS_PAST_H
#define STATUS_PAST_H
/* Subjobs of an array that only the store knows. */
#include "status_state.h"

struct array_map;

/* This row was met: if it is an array that may be seen, its subjobs can be told of. */
void status_past_note(struct status_query *q, const struct found *f);
/* Its indices; NULL: the last one noted is another. */
const struct array_map *status_past_map(const struct status_query *q, int64_t seq);
bool status_past_has_moved(const struct status_query *q,
                           int64_t seq); /* to another server, with all its subjobs */
/* A subjob that has no row: it was deleted before it ran. 1: appended; 0: not for this query. */
int status_past_show(struct status_query *q, int64_t index, struct byte_buf *out);
void status_past_fini(struct status_query *q);

#endif
