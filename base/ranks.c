/* A table of pointers with open addressing, at most half full. See ranks.h. */
#include "ranks.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 }; /* a power of two */

struct ranks_slot {
    const void *p;
    size_t rank;
};

struct ranks {
    size_t n, size;
    struct ranks_slot *slot;
};

struct ranks *ranks_create(void)
{
    struct ranks *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->size = FIRST_SIZE;
    r->slot = calloc(r->size, sizeof *r->slot);
    if (r->slot)
        return r;
    free(r);
    return NULL;
}

void ranks_destroy(struct ranks *r)
{
    if (!r)
        return;
    free(r->slot);
    free(r);
}

/* Where it is, or is to be. The multiplication spreads pointers that are equally far apart. */
static struct ranks_slot *ranks_slot_of(struct ranks_slot *slot, size_t size, const void *p)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)p * 0x9E3779B97F4A7C15u) >> 20) & (size - 1);

    while (slot[i].p && slot[i].p != p)
        i = (i + 1) & (size - 1);
    return &slot[i];
}

static int ranks_grow(struct ranks *r)
{
    size_t size = 2 * r->size;
    struct ranks_slot *more = calloc(size, sizeof *more);

    if (!more)
        return -1;
    for (size_t i = 0; i < r->size; i++)
        if (r->slot[i].p)
            *ranks_slot_of(more, size, r->slot[i].p) = r->slot[i];
    free(r->slot);
    r->slot = more;
    r->size = size;
    return 0;
}

/* Grown before it is half full, so that a search always meets an empty slot. */
int64_t ranks_add(struct ranks *r, const void *p)
{
    struct ranks_slot *s;

    if (2 * r->n >= r->size && ranks_grow(r) < 0)
        return RANKS_NONE;
    s = ranks_slot_of(r->slot, r->size, p);
    if (!s->p)
        *s = (struct ranks_slot){p, r->n++};
    return (int64_t)s->rank;
}

int64_t ranks_find(const struct ranks *r, const void *p)
{
    const struct ranks_slot *s = p ? ranks_slot_of(r->slot, r->size, p) : NULL;

    return s && s->p ? (int64_t)s->rank : RANKS_NONE;
}

size_t ranks_count(const struct ranks *r)
{
    return r->n;
}
