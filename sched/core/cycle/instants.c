/* Times to try, in order. See instants.h.
 *
 * There may be as many ends as jobs that run, and a hundred searches in a cycle (backfill_depth). So the ends, which come sorted, are
 * thinned out once, and a search sorts the others alone and merges them in. */
#include "instants.h"

#include <stdlib.h>

#include "mem.h"
#include "primetime.h"

enum {
    /* Changes of prime and dedicated time that are looked ahead to: two a day are a month. A choice. */
    HOURS_MAX = 64
};

static int instants_by_time(const void *a, const void *b)
{
    const struct instant *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

static void instants_add(struct instants *l, struct instant x)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = x;
}

/* The next one in order: it takes the place of the one before where both are of one window. */
static void instants_append(struct instants *l, struct instant x, int64_t window_s)
{
    if (l->n > 0 && l->a[l->n - 1].at_s / window_s == x.at_s / window_s) {
        struct instant *last = &l->a[--l->n];
        x.is_apart |= last->is_apart;
        x.is_policy |= last->is_policy;
    }
    instants_add(l, x);
}

static int64_t instants_window_s(int64_t window_s)
{
    return window_s > 0 ? window_s : 1;
}

void instants_of_ends(struct instants *l, const struct release_times *ends, int64_t window_s)
{
    window_s = instants_window_s(window_s);
    l->n = 0;
    for (size_t i = 0; i < ends->n; i++)
        instants_append(l, (struct instant){.at_s = ends->a[i].at_s}, window_s);
}

static void instants_of_resvs(struct instants *l, const struct cluster *cl, int64_t now_s)
{
    for (const struct resv *r = cluster_next_resv(cl, NULL); r; r = cluster_next_resv(cl, r))
        for (size_t i = 0; i < r->n_times && !r->is_charged; i++)
            if (r->times[i].to_s > now_s)
                instants_add(l, (struct instant){.at_s = r->times[i].to_s, .is_apart = true});
}

static void instants_of_hours(struct instants *l, const struct policy *p, int64_t now_s)
{
    for (int64_t at_s = now_s, i = 0; i < HOURS_MAX; i++) {
        at_s = primetime_change_s(p, at_s);
        if (at_s == 0)
            return;
        instants_add(l, (struct instant){.at_s = at_s, .is_apart = true, .is_policy = true});
    }
}

void instants_merge(struct instants *l, const struct instants *ends, const struct cluster *cl,
                    const struct booking *bookings, size_t n_bookings, int64_t now_s)
{
    const struct policy *p = cluster_policy(cl);
    int64_t window_s = instants_window_s(p->fuzzy_s);
    struct instants others = {0};
    size_t i = 0, k = 0;

    instants_of_resvs(&others, cl, now_s);
    for (size_t b = 0; b < n_bookings; b++)
        instants_add(&others, (struct instant){.at_s = bookings[b].to_s, .is_apart = true});
    instants_of_hours(&others, p, now_s);
    if (others.n > 0)
        qsort(others.a, others.n, sizeof *others.a, instants_by_time);

    l->n = 0;
    while (i < ends->n || k < others.n)
        if (k == others.n || (i < ends->n && ends->a[i].at_s <= others.a[k].at_s))
            instants_append(l, ends->a[i++], window_s);
        else
            instants_append(l, others.a[k++], window_s);
    instants_fini(&others);
}

void instants_fini(struct instants *l)
{
    free(l->a);
    *l = (struct instants){0};
}
