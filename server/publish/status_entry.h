#ifndef STATUS_ENTRY_H
#define STATUS_ENTRY_H
/* The bytes of one entry of an answer, an ifl_status_entry. */
#include "status_filter.h"

struct attrib_render_attrs;
struct resource;
struct byte_buf;

/* Append an entry: whole, or its beginning and its end with attributes between. -1: no memory. */
int status_entry_put(const struct status_filter *f, const struct object *o, struct byte_buf *out);
int status_entry_put_resource(const struct status_filter *f, const struct resource *r, struct byte_buf *out);
int status_entry_begin(struct byte_buf *out, const char *name, struct attrib_render_attrs *a);
int status_entry_end(struct byte_buf *out, struct attrib_render_attrs *a);

#endif
