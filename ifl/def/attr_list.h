#ifndef ATTR_LIST_H
#define ATTR_LIST_H
/* The sparse attributes of one object: an array of values, sorted by the attribute's index.
 *
 * The list lies in the object's struct (caller's memory) and owns its values. It checks types and ranges; the caller
 * checks permissions before (attr_def_check_write, resource_check_write). Every change is whole or not at all. To
 * check a request as a whole: attr_list_dup, change the copy, and swap. Loop thread only.
 */
#include <stddef.h>

#include "attr_def.h"
#include "pbs_ifl.h"
#include "type_resc.h"

struct attr_list {
    struct value *v; /* sorted by tag */
    uint8_t n, cap;
    uint8_t of; /* enum attr_of */
};

void attr_list_init(struct attr_list *l, enum attr_of of);
void attr_list_fini(struct attr_list *l);
int attr_list_dup(const struct attr_list *from,
                  struct attr_list *to); /* `to` is initialised here; -1: no memory */

/* Give every AF_SHOWN attribute that is not set its default. */
int attr_list_set_defaults(struct attr_list *l, struct err *e);

/* --- reading: borrowed, never fail ----------------------------------------------------------------- */

const struct value *attr_list_find(const struct attr_list *l, int index); /* NULL: not set */
bool attr_list_is_set(const struct attr_list *l, int index);
int64_t attr_list_number(const struct attr_list *l, int index, int64_t if_unset);
bool attr_list_bool(const struct attr_list *l, int index, bool if_unset);
const char *attr_list_text(const struct attr_list *l, int index); /* NULL: not set, or not a text */
const struct resc_list *attr_list_amounts(const struct attr_list *l, int index);
const struct value *attr_list_amount(const struct attr_list *l, int index, int resource); /* NULL: not set */

/* A number: what is set, else the default of the definition, else 0. */
int64_t attr_list_effective(const struct attr_list *l, int index);

/* --- writing by the server, in the form it has ----------------------------------------------------- */

/* 0, or -1 with PBSE_SYSTEM (no memory); set_text also PBSE_BADATVAL. v's kind must be that of the type. */
int attr_list_put(struct attr_list *l, int index, struct value v, struct err *e); /* takes v; of the type */
int attr_list_set_number(struct attr_list *l, int index, int64_t n, struct err *e);
int attr_list_set_text(struct attr_list *l, int index, const char *text, struct err *e); /* NULL: unset */
int attr_list_set_amount(struct attr_list *l, int index, int resource, struct value v,
                         struct err *e); /* takes v */
int attr_list_set_amounts(struct attr_list *l, int index, struct resc_list *amounts,
                          struct err *e);             /* takes; NULL: unset */
void attr_list_unset(struct attr_list *l, int index); /* AF_SHOWN: back to the default */
void attr_list_unset_amount(struct attr_list *l, int index, int resource);

/* For sums in place (resources_assigned): the list behind a resource attribute, *p may be NULL. */
int attr_list_edit_amounts(struct attr_list *l, int index, struct resc_list ***p, struct err *e);

/* --- writing by text: what a request, the store of an older version or a hook brings ---------------- */

/* One change: SET, INCR, DECR, UNSET (and DFLT, which is UNSET); SET with text "" unsets as well. `resource` is
 * NULL where the attribute has none; UNSET of a resource attribute without it empties the attribute.
 * -1, nothing changed:
 *   PBSE_BADATVAL   names attribute and text, and says what would be right
 *   PBSE_UNKRESC    no such resource      PBSE_NOATTR  a resource where there is none, or none where one is
 *   PBSE_ATTRTYPE   += or -= has no meaning for the type */
int attr_list_change(struct attr_list *l, const struct resource_table *t, int index, const char *resource,
                     const char *text, enum batch_op op, struct err *e);

size_t attr_list_text_length(const struct attr_list *l); /* of all texts in it, those of amounts as well */

#endif
