#ifndef STATUS_ENTRY_H
#define STATUS_ENTRY_H
/* One object of a query: whether it is shown, and its bytes. */
#include "status_state.h"

struct attrib_render_attrs;
struct resource;

/* Does this reader know of it, as far as its script's arrival goes? */
bool status_entry_is_there(const struct status_query *q, const struct job *j);
/* Is this object to be shown, as far as it is a job? */
bool status_entry_wants(const struct status_query *q, const struct job *j);
/* A subjob is history when its array is. */
bool status_entry_is_history(const struct status_query *q, const struct job *j);
/* Append an entry: whole, or its beginning and its end with attributes between. -1: no memory. */
int status_entry_put(struct status_query *q, const struct object *o, struct byte_buf *out);
int status_entry_put_resource(struct status_query *q, const struct resource *r, struct byte_buf *out);
int status_entry_begin(struct byte_buf *out, const char *name, struct attrib_render_attrs *a);
int status_entry_end(struct status_query *q, struct byte_buf *out, struct attrib_render_attrs *a);

#endif
