#ifndef DERIVED_ATTRIBS_H
#define DERIVED_ATTRIBS_H
/* Derived attributes: what status shows and no user sets. One table of rows: kind, attribute -> function.
 *
 * A function makes a value of the attribute's own type from the object's fields, so that showing, comparing and
 * filtering treat it like one that is stored. Nothing is kept; a missing value means "not set". Loop thread.
 */
#include <stdbool.h>

#include "attr_def.h"
#include "object.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "value.h"

struct derived_attribs;

struct derived_attribs *derived_attribs_create(const struct server_ctx *s); /* NULL: no memory */
void derived_attribs_destroy(struct derived_attribs *c);

/* The value in force while this attribute is unset, where it depends on the installation: a scheduler's directories,
 * for example. For status only; the programs that use it find it themselves. false: nothing. */
bool derived_attribs_preset(struct derived_attribs *c, const struct object *o, int index, struct value *out);

/* What the object has under this attribute, derived or set by a user; NULL: nothing. Borrowed as above. */
const struct value *derived_attribs_get(struct derived_attribs *c, const struct object *o, int index,
                                        struct value *room);

#endif
