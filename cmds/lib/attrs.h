#ifndef ATTRS_H
#define ATTRS_H
/* A list of attributes for a call, built one by one. The list owns its texts.
 *
 * An addition for which there is no memory sets `failed`; look at it once before the call. */
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

/* Return the value, or NULL. */
const char *attrs_find(const struct attrs *l, const char *name, const char *resource);

/* Return the list for a call that takes a struct attrl, which has the same layout. */
static inline struct attrl *attrs_attrl(const struct attrs *l)
{
    return (struct attrl *)l->first;
}

/* Return the value of name[.resource] in an answer, or NULL. */
const char *attrs_value(const struct attrl *l, const char *name, const char *resource);

#endif
