/* Sorted, and walked rather than bisected. A resource that came down to 0 keeps its place, so two lists
 * that mean the same need not be equal: that costs buckets a look, and nothing is decided by it.
 *
 * This is the innermost code of the scheduler. Memory is taken only where a list grows. */
#include "amounts.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static void amounts_init(struct amounts *l)
{
    *l = (struct amounts){0};
}

void amounts_fini(struct amounts *l)
{
    free(l->a);
    amounts_init(l);
}

void amounts_clear(struct amounts *l)
{
    l->n = 0;
}

void amounts_copy(struct amounts *to, const struct amounts *from)
{
    if (to->cap < from->n) {
        to->a = mem_grow(to->a, from->n, sizeof *to->a);
        to->cap = from->n;
    }
    if (from->n)
        memcpy(to->a, from->a, from->n * sizeof *to->a);
    to->n = from->n;
}

/* First place whose resource is not below `res`. Lists have about five entries: a walk is faster than a bisection. */
static uint32_t place_of(const struct amounts *l, res_id res)
{
    uint32_t i = 0;

    while (i < l->n && l->a[i].res < res)
        i++;
    return i;
}

int64_t amounts_get(const struct amounts *l, res_id res)
{
    uint32_t i = place_of(l, res);

    return i < l->n && l->a[i].res == res ? l->a[i].n : 0;
}

bool amounts_has(const struct amounts *l, res_id res)
{
    uint32_t i = place_of(l, res);

    return i < l->n && l->a[i].res == res;
}

/* Its entry, made with 0 if there is none; the pointer is good until the next one is made. */
static struct amount *entry_of(struct amounts *l, res_id res)
{
    uint32_t i = place_of(l, res);

    if (i < l->n && l->a[i].res == res)
        return &l->a[i];
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 4;
        l->a = mem_grow(l->a, l->cap, sizeof *l->a);
    }
    memmove(&l->a[i + 1], &l->a[i], (l->n - i) * sizeof *l->a);
    l->n++;
    l->a[i] = (struct amount){.res = res, .n = 0};
    return &l->a[i];
}

void amounts_set(struct amounts *l, res_id res, int64_t n)
{
    entry_of(l, res)->n = n;
}

void amounts_plus(struct amounts *l, res_id res, int64_t n)
{
    entry_of(l, res)->n += n;
}

void amounts_add_times(struct amounts *l, const struct amounts *other, int64_t times)
{
    for (uint32_t i = 0; i < other->n; i++)
        entry_of(l, other->a[i].res)->n += other->a[i].n * times;
}

void amounts_add(struct amounts *l, const struct amounts *other)
{
    amounts_add_times(l, other, 1);
}

void amounts_sub(struct amounts *l, const struct amounts *other)
{
    amounts_add_times(l, other, -1);
}

bool amounts_cover(const struct amounts *have, const struct amounts *need, res_id *missing)
{
    for (uint32_t i = 0; i < need->n; i++) {
        if (need->a[i].n <= 0 || amounts_get(have, need->a[i].res) >= need->a[i].n)
            continue;
        if (missing)
            *missing = need->a[i].res;
        return false;
    }
    return true;
}

int64_t amounts_times(const struct amounts *have, const struct amounts *need, int64_t most)
{
    for (uint32_t i = 0; i < need->n && most > 0; i++) {
        if (need->a[i].n <= 0)
            continue;
        int64_t fits = amounts_get(have, need->a[i].res) / need->a[i].n;
        if (fits < most)
            most = fits;
    }
    return most < 0 ? 0 : most;
}

bool amounts_equal(const struct amounts *a, const struct amounts *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->a[i].res != b->a[i].res || a->a[i].n != b->a[i].n)
            return false;
    return true;
}

/* Two odd constants and a shift, which is all the mixing that buckets need; equal lists have equal hashes. */
uint64_t amounts_hash(const struct amounts *l, uint64_t seed)
{
    for (uint32_t i = 0; i < l->n; i++) {
        seed = (seed ^ l->a[i].res) * 0x9E3779B97F4A7C15ull;
        seed = (seed ^ (uint64_t)l->a[i].n) * 0xC2B2AE3D27D4EB4Full;
        seed ^= seed >> 29;
    }
    return seed;
}
