#ifndef STATUS_ARRAYS_H
#define STATUS_ARRAYS_H
/* Subjobs that are not objects. */
#include "status_state.h"

/* The subjob of this index, whatever it is: an object, an index, a row. 1: appended; 0: not for this query; -1:
 * not known yet. *index is the last one that this is true of: of many that are alike and not wanted. */
int status_arrays_show(struct status_query *q, const struct job *array, int64_t *index, struct byte_buf *out);
/* The array whose subjobs may follow this key in a walk over all; NULL: none. */
const struct job *status_arrays_after(const struct status_query *q, struct job_key last);
/* The first index above q->last, of that array or of the past one; ARRAY_NONE: none. */
int64_t status_arrays_next_index(const struct status_query *q, const struct job *array);
/* The next subjob of names[at], which is an array or a range. The same answers, and STATUS_PAUSE; 0 is the end, and
 * q->at is the next name then. */
int status_arrays_expand(struct status_query *q, struct byte_buf *out);
void status_arrays_fini(struct status_query *q);

#endif
