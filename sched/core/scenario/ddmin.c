/* Pieces are counted over the parts that are left, so that a piece of a given size always has as many parts. */
#include "ddmin.h"

#include <stdlib.h>

#include "mem.h"

/* Where the parts that are left are, in order. Return how many. */
static size_t ddmin_left(const bool *keep, size_t n, size_t *at)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (keep[i])
            at[left++] = i;
    return left;
}

static void ddmin_set(bool *keep, const size_t *at, size_t size, bool is_kept)
{
    for (size_t i = 0; i < size; i++)
        keep[at[i]] = is_kept;
}

/* Try each piece of this size once. Return true if any of them went. */
static bool ddmin_pieces(bool *keep, size_t n, size_t size, ddmin_fails_fn *fails, void *arg)
{
    size_t *at = mem_new(n + 1, sizeof *at), left = ddmin_left(keep, n, at);
    bool any = false;

    for (size_t first = 0; first < left; first += size) {
        size_t piece = left - first < size ? left - first : size;
        ddmin_set(keep, at + first, piece, false);
        if (fails(keep, arg))
            any = true;
        else
            ddmin_set(keep, at + first, piece, true);
    }
    free(at);
    return any;
}

size_t ddmin(bool *keep, size_t n, ddmin_fails_fn *fails, void *arg)
{
    size_t *at = mem_new(n + 1, sizeof *at), left = ddmin_left(keep, n, at);
    bool any = left > 0 && fails(keep, arg);

    left = any ? left : 0;
    while (any) {
        any = false;
        for (size_t size = (left + 1) / 2; size > 0; size /= 2)
            any = ddmin_pieces(keep, n, size, fails, arg) || any;
        left = ddmin_left(keep, n, at);
    }
    free(at);
    return left;
}
