#ifndef ATTRL_H
#define ATTRL_H
/* The public lists, struct attrl and struct attropl of pbs_ifl.h: making, looking up, freeing.
 *
 * Both have one layout; functions take attropl, and attrl_of() makes the one from the other. Every string of a
 * list is its own malloc, so that a caller of the public interface may change one.
 */
#include "pbs_ifl.h"

/* One element, not linked; resource may be NULL. NULL: no memory. */
struct attropl *attrl_create(const char *name, const char *resource, const char *value, enum batch_op op);

/* Append: *head is the list (NULL: empty). O(length). -1: no memory. */
int attrl_append(struct attropl **head, const char *name, const char *resource, const char *value,
                 enum batch_op op);

/* The first element of this name (and resource; NULL: whatever it is), or NULL. Case does not matter. */
struct attropl *attrl_find(struct attropl *head, const char *name, const char *resource);

void attrl_free(struct attropl *head);

static inline struct attropl *attrl_of(struct attrl *l)
{
    return (struct attropl *)(void *)l;
}

static inline struct attrl *attrl_as(struct attropl *l)
{
    return (struct attrl *)(void *)l;
}

#endif
