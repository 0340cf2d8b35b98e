/* Entries of a query's answer. See status_entry.h. */
#include "status_entry.h"

#include <string.h>

/* An ifl_status_entry: name, attributes, text. */
int status_entry_end(struct byte_buf *out, struct attrib_render_attrs *a)
{
    attrib_render_end(a);
    return attrib_render_text(out, "", 0);
}

int status_entry_begin(struct byte_buf *out, const char *name, struct attrib_render_attrs *a)
{
    return attrib_render_text(out, name, strlen(name)) < 0 ? -1 : attrib_render_begin(a, out);
}

int status_entry_put(const struct status_filter *f, const struct object *o, struct byte_buf *out)
{
    struct attrib_render_attrs a;

    if (status_entry_begin(out, o->name, &a) < 0)
        return -1;
    if (!f->names_only &&
        attrib_render_walk(f->attrib_render, o, &f->want, &f->reader, attrib_render_triple, &a) < 0)
        return -1;
    return status_entry_end(out, &a);
}

int status_entry_put_resource(const struct status_filter *f, const struct resource *r, struct byte_buf *out)
{
    struct attrib_render_attrs a;

    if (status_entry_begin(out, r->name, &a) < 0 ||
        attrib_render_walk_resource(f->attrib_render, r, &f->want, &f->reader, attrib_render_triple, &a) < 0)
        return -1;
    return status_entry_end(out, &a);
}
