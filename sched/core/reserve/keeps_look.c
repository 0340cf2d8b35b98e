/* Which keeps matter to whom. See keeps_look.h.
 *
 * A reservation that begins at some time matters to those who would be there then, so it is told by the longest of those that would not:
 * two that begin between the same two ends are alike. The longest is given by how long it lasts, which stays when the time moves. */
#include "keeps_look.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "sched_node.h"

void keeps_look_fini(struct keeps_look *l)
{
    free(l->spans);
    free(l->lasts);
    *l = (struct keeps_look){0};
}

void keeps_look_spans(struct keeps_look *l, const int64_t *until_s, size_t n)
{
    while (l->cap_spans < n)
        l->spans = mem_room(l->spans, l->cap_spans, &l->cap_spans, sizeof *l->spans);
    if (n)
        memcpy(l->spans, until_s, n * sizeof *until_s);
    l->n_spans = n;
    l->is_reach_known = false;
}

/* Make `lasts` those of now. Return true if they were that before. */
static bool keeps_look_same_lasts(struct keeps_look *l)
{
    bool is_same = l->n_lasts == l->n_spans;

    while (l->cap_lasts < l->n_spans)
        l->lasts = mem_room(l->lasts, l->cap_lasts, &l->cap_lasts, sizeof *l->lasts);
    for (size_t i = 0; i < l->n_spans; i++) {
        int64_t lasts_s = l->spans[i] - l->now_s;
        is_same = is_same && l->lasts[i] == lasts_s;
        l->lasts[i] = lasts_s;
    }
    l->n_lasts = l->n_spans;
    return is_same;
}

bool keeps_look_begin(struct keeps_look *l, int64_t now_s, int64_t until_s)
{
    int64_t was_s = l->until_lasts_s;
    bool had_begun = l->has_begun;

    l->has_begun = true;
    l->now_s = now_s;
    l->until_s = until_s;
    l->until_lasts_s = until_s == INT64_MAX ? INT64_MAX : until_s - now_s;
    l->is_reach_known = false;
    if (until_s == INT64_MAX)
        return had_begun && was_s == INT64_MAX;
    return keeps_look_same_lasts(l) && had_begun && was_s == l->until_lasts_s;
}

/* How long the longest lasts that would be gone at that time; -1: none would. Reservations mostly have several vnodes, one after the
 * other, so the time asked about is mostly that of the last call. */
static int64_t keeps_look_reach(struct keeps_look *l, int64_t from_s)
{
    size_t low = 0, high = l->n_spans;

    if (l->is_reach_known && l->reach_from_s == from_s)
        return l->reach_lasts_s;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->spans[middle] <= from_s)
            low = middle + 1;
        else
            high = middle;
    }
    l->is_reach_known = true;
    l->reach_from_s = from_s;
    l->reach_lasts_s = low > 0 ? l->spans[low - 1] - l->now_s : -1;
    return l->reach_lasts_s;
}

static int64_t keeps_look_earlier(int64_t a_s, int64_t b_s)
{
    return a_s < b_s ? a_s : b_s;
}

/* When a need ends does not matter: none is over, and the largest of those that are met counts. The time moves, and with it all ends of
 * those who ask: the longest that is over at the begin of a keep is the first that will not be. */
uint64_t keeps_look_of(struct keeps_look *l, const struct node_keep *a, size_t n, int64_t *until_s)
{
    bool has_spans = l->n_spans > 0 && l->until_s != INT64_MAX;
    uint64_t h = 0xcbf29ce484222325ull, last = 0;
    size_t i;

    *until_s = INT64_MAX;
    for (i = 0; i < n && a[i].from_s < l->until_s; i++) {
        int64_t reach_s = has_spans ? keeps_look_reach(l, a[i].from_s) : -1;
        uint64_t one = ((uint64_t)(has_spans ? reach_s : a[i].from_s) ^ a[i].look) * 0x9E3779B97F4A7C15ull;
        if (reach_s >= 0)
            *until_s = keeps_look_earlier(*until_s, a[i].from_s - reach_s + 1);
        one ^= one >> 29;
        if (i > 0 && one == last)
            continue;
        last = one;
        h = (h ^ one) * 0xC2B2AE3D27D4EB4Full;
        h ^= h >> 31;
    }
    if (i < n) /* the others come later still */
        *until_s = keeps_look_earlier(*until_s, a[i].from_s - l->until_lasts_s + 1);
    return n ? h | 1 : 0;
}
