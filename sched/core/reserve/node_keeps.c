/* A vnode's list is put together by a sweep over the beginnings and ends of the reservations on it. See node_keeps.h. */
#include "node_keeps.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

enum { KEEPS_SHARED = 1, KEEPS_ALONE = 2 }; /* seeds of a hash */

/* --- what comes back ------------------------------------------------------------------------------------------ */

void node_keeps_add_end(struct node *n, int64_t at_s, const struct amounts *use, bool moves)
{
    size_t i = n->n_ends++, cap = n->cap_ends;

    n->ends = mem_room(n->ends, i, &n->cap_ends, sizeof *n->ends);
    if (n->cap_ends > cap)
        memset(n->ends + cap, 0, (n->cap_ends - cap) * sizeof *n->ends);
    amounts_copy(&n->ends[i].use, use); /* its memory is used again */
    n->ends[i].at_s = at_s;
    n->ends[i].moves = moves;
}

static int node_keeps_end_by_time(const void *a, const void *b)
{
    const struct node_end *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

/* A vnode has few: sorting those of each costs less than sorting all jobs that run. */
void node_keeps_order_ends(struct node *n)
{
    for (size_t i = 1; i < n->n_ends; i++)
        if (n->ends[i - 1].at_s > n->ends[i].at_s) {
            qsort(n->ends, n->n_ends, sizeof *n->ends, node_keeps_end_by_time);
            return;
        }
}

/* An end that is told again each second is right for this second only, unless it is behind all keeps: it moves away from them. One that
 * is not overdue is right until its time. */
int64_t node_keeps_right_until_s(const struct node *n, int64_t now_s)
{
    int64_t last_s = n->n_keeps > 0 ? n->keeps[n->n_keeps - 1].from_s : INT64_MIN, until_s = INT64_MAX;

    for (size_t i = 0; i < n->n_ends && n->ends[i].at_s <= last_s; i++) {
        int64_t right_s = n->ends[i].moves ? now_s + 1 : n->ends[i].at_s;
        until_s = right_s < until_s ? right_s : until_s;
    }
    return until_s;
}

/* --- what is kept --------------------------------------------------------------------------------------------- */

static int node_keeps_by_time(const void *a, const void *b)
{
    const struct keeps_event *x = a, *y = b;

    if (!x->times != !y->times)
        return x->times ? -1 : 1;
    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

void node_keeps_order(struct keeps_event *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (node_keeps_by_time(&a[i - 1], &a[i]) > 0) {
            qsort(a, n, sizeof *a, node_keeps_by_time);
            return;
        }
}

static void node_keeps_leave_one(struct node_keep *x, const struct node *n)
{
    amounts_copy(&x->leave, &x->share);
    for (size_t i = 0; i < n->n_ends && n->ends[i].at_s <= x->from_s; i++)
        for (uint32_t r = 0; r < x->leave.n; r++) {
            struct amount *have = &x->leave.a[r];
            int64_t gone = amounts_get(&n->ends[i].use, have->res);
            have->n -= gone < have->n ? gone : have->n;
        }
    x->look = amounts_hash(&x->leave, amounts_hash(&x->share, x->alone ? KEEPS_ALONE : KEEPS_SHARED));
}

void node_keeps_leave(struct node *n)
{
    for (size_t i = 0; i < n->n_keeps; i++)
        node_keeps_leave_one(&n->keeps[i], n);
}

uint64_t node_keeps_sources(const struct node *n, const struct keeps_event *a, size_t n_events)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < n_events && a[i].times; i++) {
        h = (h ^ (uint64_t)a[i].at_s) * 0x9E3779B97F4A7C15ull;
        h = amounts_hash(&a[i].part->use,
                         h ^ h >> 31 ^ (uint64_t)(a[i].times + 1) ^ (uint64_t)a[i].part->alone << 8);
    }
    for (size_t i = 0; i < n->n_ends; i++) {
        h = (h ^ (uint64_t)n->ends[i].at_s) * 0xC2B2AE3D27D4EB4Full;
        h = amounts_hash(&n->ends[i].use, h ^ h >> 29);
    }
    return h | 1;
}

struct node_keep *node_keeps_make(const struct node *n, const struct keeps_event *a, size_t n_events,
                                  size_t *n_keeps)
{
    struct node_keep *made = mem_new(n_events, sizeof *made);
    struct amounts sum = {0};
    int64_t n_on = 0, n_alone = 0;

    *n_keeps = 0;
    for (size_t i = 0; i < n_events && a[i].times; i++) {
        amounts_add_times(&sum, &a[i].part->use, a[i].times);
        n_on += a[i].times;
        n_alone += a[i].part->alone ? a[i].times : 0;
        if (n_on == 0 || i + 1 == n_events || !a[i + 1].times || a[i + 1].at_s == a[i].at_s)
            continue;
        struct node_keep *to = &made[(*n_keeps)++];
        *to = (struct node_keep){.from_s = a[i].at_s, .to_s = a[i + 1].at_s, .alone = n_alone > 0};
        amounts_copy(&to->share, &sum);
        node_keeps_leave_one(to, n);
    }
    amounts_fini(&sum);
    return made;
}
