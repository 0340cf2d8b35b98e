#ifndef STATUS_ARRAYS_H
#define STATUS_ARRAYS_H
/* Subjobs of a query that are not objects, and names that mean several subjobs. */
#include "status_filter.h"
#include "status_names.h"

struct byte_buf;
struct status_arrays;
struct status_history;
struct status_past;

struct status_arrays_parts { /* of the same query, which outlives this */
    const struct status_filter *filter;
    struct status_names *names;
    struct status_history *history;
    struct status_past *past;
    struct status_tally *tally;
};

struct status_arrays *status_arrays_create(const struct status_arrays_parts *p); /* NULL: no memory */
void status_arrays_destroy(struct status_arrays *s);

/* The subjob of this index, whatever it is: an object, an index, a row. 1: appended; 0: not for this query; -1:
 * not known yet. *index is the last one that this is true of: of many that are alike and not wanted. */
int status_arrays_show(struct status_arrays *s, const struct job *array, int64_t *index,
                       struct byte_buf *out);
/* The array whose subjobs may follow this key in a walk over all; NULL: none. */
const struct job *status_arrays_after(const struct status_arrays *s, struct job_key last);
/* The first index above names->last, of that array or of the past one; ARRAY_NONE: none. */
int64_t status_arrays_next_index(const struct status_arrays *s, const struct job *array);

/* The present name was shown, an array: its subjobs come next. */
void status_arrays_enter(struct status_arrays *s);
/* Are the subjobs of the present name shown? */
bool status_arrays_is_inside(const struct status_arrays *s);
/* The next subjob of the present name, which is an array or a range. The same answers, and STATUS_PAUSE; 0 is the end, and
 * the next name is the present one then. */
int status_arrays_expand(struct status_arrays *s, struct byte_buf *out);

#endif
