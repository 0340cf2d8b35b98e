#ifndef ATTRIB_RENDER_H
#define ATTRIB_RENDER_H
/* What a reader is shown of an object, attribute by attribute, and its wire form. Loop thread only. */
#include "attr_select.h"
#include "attr_walk.h"
#include "derived_attribs.h"
#include "object.h"
#include "rpc_buf.h"
#include "server_ctx.h"

struct attrib_render;

struct attrib_render *attrib_render_create(const struct server_ctx *s); /* NULL: no memory */
void attrib_render_destroy(struct attrib_render *w);
struct derived_attribs *attrib_render_computed(struct attrib_render *w);

/* Call fn for every attribute that is wanted, set and may be read: in order of the definitions, resources by
 * name. Returns what fn returned; -1: no memory. */
int attrib_render_walk(struct attrib_render *w, const struct object *o, const struct attr_select *want,
                       const struct attr_reader *reader, attr_walk_fn *fn, void *arg);

/* Is this attribute of a job with that owner kept from the reader (AF_PRIVATE)? */
bool attrib_render_hides(const struct attr_def *d, const struct attr_reader *reader, const char *owner);

/* A resource is not an object: its `type` and `flag` as numbers, as pbs_statrsc has them. */
int attrib_render_walk_resource(struct attrib_render *w, const struct resource *r,
                                const struct attr_select *want, const struct attr_reader *reader,
                                attr_walk_fn *fn, void *arg);

/* ---- wire bytes: a wire_attrs that is filled by attrib_render_triple, an attr_walk_fn */
struct attrib_render_attrs {
    struct byte_buf *out;
    size_t count_at;
    uint32_t n;
};
int attrib_render_begin(struct attrib_render_attrs *a, struct byte_buf *out);
int attrib_render_triple(void *attrs, const char *name, const char *resource, const char *value);
void attrib_render_end(struct attrib_render_attrs *a);
int attrib_render_text(struct byte_buf *out, const char *text, size_t n); /* an XDR string */

#endif
