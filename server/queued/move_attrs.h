#ifndef MOVE_ATTRS_H
#define MOVE_ATTRS_H
/* What a job takes along to another server: what its owner or an operator has set, as text, and of an array which indices are
 * left, where some have been deleted; not what only servers write,
 * nor what defaults of this server and its queue have added to its request. */
#include <ifl.h>

#include "err.h"
#include "job.h"

struct server_ctx;

/* Names and resources are borrowed from the definitions, values are heap. -1, PBSE_SYSTEM: no memory; PBSE_NOSUP: more than can travel;
 * nothing to free. */
int move_attrs_fill(const struct server_ctx *s, const struct job *j, wire_attrops *out, struct err *e);
int move_attrs_check(const struct server_ctx *s, const struct job *j,
                     struct err *e); /* check that it would succeed */
void move_attrs_free(wire_attrops *list);

#endif
