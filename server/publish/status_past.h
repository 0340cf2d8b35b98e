#ifndef STATUS_PAST_H
#define STATUS_PAST_H
/* Subjobs of an array that only the store knows: of the one that a query met last. */
#include "status_filter.h"

struct array_map;
struct byte_buf;
struct status_past;
struct status_row;

/* Of no array yet. NULL: no memory. */
struct status_past *status_past_create(const struct status_filter *f);
void status_past_destroy(struct status_past *p);

/* This row was met: if it is an array that may be seen, its subjobs can be told of. */
void status_past_note(struct status_past *p, const struct status_row *row);
/* Its indices; NULL: the last one noted is another. */
const struct array_map *status_past_map(const struct status_past *p, int64_t seq);
/* Has it moved to another server, with all its subjobs? */
bool status_past_has_moved(const struct status_past *p, int64_t seq);
/* A subjob that has no row: it was deleted before it ran. 1: appended; 0: not for this query. */
int status_past_show(struct status_past *p, int64_t index, struct byte_buf *out);

#endif
