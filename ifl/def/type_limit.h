#ifndef TYPE_LIMIT_H
#define TYPE_LIMIT_H
/* Entity limits: "[o:PBS_ALL=100],[u:PBS_GENERIC=3],[u:anna=5],[g:chem=20],[p:PBS_GENERIC=9]".
 *
 * Each entity (all; a user, group or project by name; or any other one of that kind) has one amount. For
 * max_run and its like that is a count; for max_run_res.RES it is of the resource's type. += adds entities
 * and replaces the amounts of those there are; -= removes entities, with or without "=amount".
 * PBS_ALL goes with o only, PBS_GENERIC and names with u, g, p.
 */
#include "value.h"

enum limit_kind { LIMIT_ALL = 'o', LIMIT_USER = 'u', LIMIT_GROUP = 'g', LIMIT_PROJECT = 'p' };

extern const struct value_type type_limit; /* counts */

/* The generic limit (PBS_GENERIC; for LIMIT_ALL: PBS_ALL), the named one; borrowed. NULL: there is none. The limit that
 * holds for an entity is its own, else the generic one of its kind. */
const struct value *limit_generic(const struct value *limits, enum limit_kind kind);
const struct value *limit_named(const struct value *limits, enum limit_kind kind, const char *name);

/* As the functions of a type, for amounts of type `amount`. */
int limit_parse(const struct value_type *amount, const char *text, struct value *out, struct err *e);
int limit_format(const struct value_type *amount, const struct value *v, struct strbuf *out);
int limit_incr(struct value *v, const struct value *by, struct err *e);
int limit_decr(struct value *v, const char *text, struct err *e); /* text: "[u:anna=5],[g:chem]" */
int limit_dup(const struct value *from, struct value *to);
void limit_free(struct value *v);

#endif
