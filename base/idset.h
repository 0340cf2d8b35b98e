#ifndef IDSET_H
#define IDSET_H
/* A set of unsigned numbers, made for the indices of arrays of a million subjobs.
 *
 * Written "1-5,7,9-21:2": ranges, with a step. In memory it is pages of bits, and whole or empty pages take
 * none: add, remove and contains cost O(log pages), a full million 4 KB, a ragged one 128 KB. What counts is the place of
 * a number in the progression that all members lie in, not the number: "0-2147000000:214721" costs what "0-9999" does.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct idset;
struct strbuf;

enum { IDSET_NONE = -1 };

struct idset_range { /* first, first + step ... up to last; step >= 1 */
    uint32_t first, last, step;
};

struct idset *idset_create(void); /* NULL: no memory */
struct idset *idset_dup(const struct idset *s);
void idset_destroy(struct idset *s);

/* A new set from text. Blanks are not allowed, empty text is the empty set; ranges may overlap.
 * -1: EINVAL with what is wrong, ERANGE an id above `max_id` or more than `max_count` ids, ENOMEM. */
int idset_parse(const char *text, uint32_t max_id, size_t max_count, struct idset **out, struct err *e);

/* The same, but only those of the numbers that lie in `in`: what the text names beyond costs nothing. ERANGE: it names the
 * numbers of `in` more than twice. */
int idset_parse_part(const char *text, uint32_t max_id, struct idset_range in, struct idset **out,
                     struct err *e);
/* Check that the text is well formed. O(text), no memory. -1: EINVAL, ERANGE. */
int idset_check(const char *text, uint32_t max_id, struct err *e);

/* Reduce `r` to the numbers that are in both ranges; its `last` is then a member. Return false and change nothing if
 * there are none. O(log step). */
bool idset_range_meet(struct idset_range *r, const struct idset_range *with);

/* The shortest usual form, rising: runs as a-b, three or more at one distance as a-b:step. -1: buffer failed.
 */
int idset_format(const struct idset *s, struct strbuf *out);

/* 0, or -1: no memory, and the set is unchanged. Adding what is there and removing what is not is not an error.
 */
int idset_add(struct idset *s, uint32_t id);
int idset_add_range(struct idset *s, uint32_t first, uint32_t last, uint32_t step); /* step >= 1 */
int idset_remove(struct idset *s, uint32_t id); /* may need memory: a full page becomes bits */
void idset_clear(struct idset *s);

/* All of `other` into `s`, out of `s`. -1: no memory; then a part may have been done. */
int idset_unite(struct idset *s, const struct idset *other);
int idset_subtract(struct idset *s, const struct idset *other);

bool idset_contains(const struct idset *s, uint32_t id);
bool idset_is_equal(const struct idset *a, const struct idset *b); /* for tests */
size_t idset_count(const struct idset *s);                         /* O(1) */

/* Smallest member >= `from`, or IDSET_NONE: for (i = idset_next(s, 0); i >= 0; i = idset_next(s, i + 1)).
 * The set may change between the calls. */
int64_t idset_next(const struct idset *s, int64_t from);

#endif
