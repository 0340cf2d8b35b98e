#ifndef ATTRIB_RENDER_H
#define ATTRIB_RENDER_H
/* What a reader is shown of an object, attribute by attribute, and its wire form. Loop thread only. */
#include "attr_select.h"
#include "attr_walk.h"
#include "derived_attribs.h"
#include "object.h"
#include "rpc_buf.h"
#include "server_ctx.h"

struct shown;

struct shown *shown_create(const struct site *s); /* NULL: no memory */
void shown_destroy(struct shown *w);
struct computed *shown_computed(struct shown *w);

/* Call fn for every attribute that is wanted, set and may be read: in order of the definitions, resources by
 * name. Returns what fn returned; -1: no memory. */
int shown_walk(struct shown *w, const struct object *o, const struct attr_select *want,
               const struct attr_reader *reader, attr_walk_fn *fn, void *arg);

/* Is this attribute of a job with that owner kept from the reader (AF_PRIVATE)? */
bool shown_hides(const struct attr_def *d, const struct attr_reader *reader, const char *owner);

/* A resource is no object: its `type` and `flag` as numbers, as pbs_statrsc has them. */
int shown_walk_resource(struct shown *w, const struct resource *r, const struct attr_select *want,
                        const struct attr_reader *reader, attr_walk_fn *fn, void *arg);

/* ---- wire bytes: a wire_attrs that is filled by shown_triple, an attr_walk_fn */
struct shown_attrs {
    struct rpc_buf *out;
    size_t count_at;
    uint32_t n;
};
int shown_begin(struct shown_attrs *a, struct rpc_buf *out);
int shown_triple(void *attrs, const char *name, const char *resource, const char *value);
void shown_end(struct shown_attrs *a);
int shown_text(struct rpc_buf *out, const char *text, size_t n); /* an XDR string */

#endif
