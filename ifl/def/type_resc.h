#ifndef TYPE_RESC_H
#define TYPE_RESC_H
/* Lists of amounts: Resource_List, resources_available and their like, and limits by resource.
 *
 * A list is an array of values sorted by resource id (value.tag), each in the type of its resource, so looking
 * up is O(log n) and sums are one walk. An amount of a node may be "@vnode" (indirect): a text.
 */
#include <stddef.h>

#include "resource.h"
#include "value.h"

struct resc_list {
    uint16_t n, cap;
    struct value v[]; /* sorted by tag; read freely, written here only */
};

extern const struct value_type type_resources;       /* amounts */
extern const struct value_type type_resource_limits; /* entity limits by resource */

/* The amount of a resource; NULL: not in the list, or no list. */
const struct value *resc_find(const struct resc_list *l, int id);

/* Put a value in; it is taken (also on failure). *l may be NULL at first and may move. -1, PBSE_SYSTEM.
 * resc_remove: what is not there is no error; an empty list becomes NULL. */
int resc_put(struct resc_list **l, int id, struct value v, struct err *e);
void resc_remove(struct resc_list **l, int id);
int resc_dup(const struct resc_list *from, struct resc_list **to);
void resc_free(struct resc_list *l);

/* Set from text in the type of the resource; `indirect`: "@vnode" is allowed. */
int resc_parse(struct resc_list **l, const struct resource *r, const char *text, bool indirect,
               struct err *e);

/* a += b, a -= b for numeric amounts of resources with one of these flags (0: every numeric one). Texts and
 * booleans are left alone. Sizes become kb; what falls to nothing stays as 0. -1: no memory, a is unchanged. */
int resc_add(struct resc_list **a, const struct resc_list *b, const struct resource_table *t, unsigned flags,
             struct err *e);
int resc_subtract(struct resc_list **a, const struct resc_list *b, const struct resource_table *t,
                  unsigned flags, struct err *e);

/* The first resource of `want` whose amount exceeds that in `limit` or, if `limit` does not have it, that in
 * `otherwise`; RESC_NONE if there is none. Numeric amounts only; a resource in neither list has no bound. */
int resc_exceeds(const struct resc_list *want, const struct resc_list *limit,
                 const struct resc_list *otherwise, const struct resource_table *t);

bool resc_is_equal(const struct resc_list *a, const struct resc_list *b, const struct resource_table *t);

/* {"ncpus": 4, "mem": "1gb"}; limits: {"ncpus": "[u:anna=5]"}. NULL, -1: no memory; -1 too: unknown resource
 * (PBSE_UNKRESC), bad amount (PBSE_BADATVAL). */
struct json_t *resc_to_json(const struct resc_list *l, const struct resource_table *t);
int resc_read(char *json, const struct resource_table *t, enum value_by by, struct resc_list **out,
              struct err *e); /* the text is written to (json_scan.h) */

#endif
