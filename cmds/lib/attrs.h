#ifndef ATTRS_H
#define ATTRS_H
/* A list of attributes for a call, built piece by piece. It owns its texts.
 *
 * An addition that finds no memory is remembered in `failed`; ask once before the call.
 */
#include <stdbool.h>

#include "pbs_ifl.h"

struct attrs {
    struct attropl *first; /* as the calls take it */
    struct attropl *last;
    bool failed;
};

void attrs_fini(struct attrs *l);

/* resource may be NULL */
void attrs_add(struct attrs *l, const char *name, const char *resource, const char *value, enum batch_op op);

/* As attrs_add with SET, but replaces the value that is there. */
void attrs_set(struct attrs *l, const char *name, const char *resource, const char *value);

const char *attrs_find(const struct attrs *l, const char *name,
                       const char *resource); /* value; NULL: not there */

/* For the calls that take a struct attrl, which has the same layout. */
static inline struct attrl *attrs_attrl(const struct attrs *l)
{
    return (struct attrl *)l->first;
}

/* In an answer: the value of name[.resource], or NULL. */
const char *attrs_value(const struct attrl *l, const char *name, const char *resource);

#endif
