#ifndef REFUSAL_H
#define REFUSAL_H
/* Which vnodes a job was considered for, and why each of them does not take a chunk of it, as a person wants to read it.
 *
 * Vnodes that refuse for the same reason are one group; a group of vnodes that would take the chunk is one too. Asked between
 * cycles, for explanations; nothing is decided by it.
 */
#include "match.h"

/* Names that are listed of a group, groups, and kinds of chunks: choices, for an answer that a person reads. */
enum { REFUSAL_NAMES_MAX = 16, REFUSALS_MAX = 32, REFUSAL_CHUNKS_MAX = 8 };

struct refusal {
    const struct chunk *chunk;
    struct reason
        why; /* REASON_NONE: they have room. Of a resource: of the vnode that comes nearest; `never`: not even empty */
    int64_t have;  /* of a resource: as much as that vnode has free, or, never, in total */
    int64_t times; /* with room: so many chunks */
    size_t n;      /* vnodes */
    const struct node *nodes[REFUSAL_NAMES_MAX]; /* the first of them */
};

struct refusals {
    struct refusal a[REFUSALS_MAX];
    size_t n;
    size_t n_other; /* vnodes that are in none of these groups, since there are too many groups */
};

/* Why this vnode takes no chunk like this now; REASON_NONE: it takes *times of them. Agrees with what placement asks of a vnode. */
void refusal_of(const struct asker *a, const struct node *n, const struct chunk *k, struct refusal *out);

/* Fill `l`. The first REFUSAL_CHUNKS_MAX kinds of chunk; O(vnodes) each. */
void refusals_list(const struct asker *a, struct refusals *l);

#endif
