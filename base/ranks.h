#ifndef RANKS_H
#define RANKS_H
/* Pointers, each with its rank: 0 the one that was added first, 1 the next. For names that are interned, and objects of which
 * some are to be counted or numbered once. All calls are O(1). */
#include <stddef.h>
#include <stdint.h>

struct ranks;

enum { RANKS_NONE = -1 };

struct ranks *ranks_create(void); /* NULL: no memory */
void ranks_destroy(struct ranks *r);

/* The rank of this pointer (not NULL), which it gets now if it has none. RANKS_NONE: no memory. */
int64_t ranks_add(struct ranks *r, const void *p);
int64_t ranks_find(const struct ranks *r, const void *p); /* RANKS_NONE: it has none; so has NULL */
size_t ranks_count(const struct ranks *r);

#endif
