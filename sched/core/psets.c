/* The sets are made for each search and thrown away: jobs that ask for one are rare, and a vnode may change
 * its value at any time. A set is no object here, only a value that an asker carries; matching then passes
 * over all other vnodes.
 *
 * That a job waits for a busy set and does not spread over all vnodes hangs on `ever`: whether any set could
 * take it if it were empty. */
#include "psets.h"

#include <stdlib.h>

#include "memory.h"
#include "shortage.h"

struct set {
    const char *value;
    int64_t ncpus;
};
struct sets {
    res_id res;
    size_t n, cap;
    struct set *a; /* the smallest first */
};

static int by_size(const void *a, const void *b)
{
    const struct set *x = a, *y = b;

    return x->ncpus < y->ncpus ? -1 : x->ncpus > y->ncpus;
}

static void set_count(struct sets *l, const struct node *n)
{
    const char *value = match_set_of(n, l->res);
    size_t i = 0;

    if (!value)
        return;
    while (i < l->n && l->a[i].value != value)
        i++;
    if (i == l->n) {
        l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
        l->a[l->n++] = (struct set){.value = value};
    }
    l->a[i].ncpus += amounts_get(&n->total, RES_NCPUS);
}

/* false: the job does not ask for one set. */
static bool sets_of(struct sets *l, const struct asker *a)
{
    size_t n;
    struct node *const *nodes = universe_nodes(a->u, &n);

    *l = (struct sets){0};
    if (!a->request->group)
        return false;
    l->res = catalogue_find(universe_catalogue(a->u), a->request->group);
    for (size_t i = 0; i < n && l->res != RES_NONE; i++)
        if (match_pool(a, nodes[i]))
            set_count(l, nodes[i]);
    if (l->n)
        qsort(l->a, l->n, sizeof *l->a, by_size);
    return l->n > 0;
}

static struct asker set_asker(const struct asker *a, const struct sets *l, size_t i)
{
    struct asker one = *a;

    one.set = l->res;
    one.set_value = l->a[i].value;
    return one;
}

/* Could the job ever be placed in this set? */
static bool set_ever(struct buckets *all, const struct asker *a)
{
    struct reason why;

    return !(shortage_sums(all, a, &why) && why.never) && !shortage_never(all, a, &why);
}

/* Some set is large enough, but not now. */
static bool sets_lack(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct sets l;
    bool lacks = false;

    if (!sets_of(&l, a))
        return false;
    for (size_t i = l.n; i > 0 && !lacks; i--) {
        struct asker one = set_asker(a, &l, i - 1);
        lacks = set_ever(all, &one);
        if (lacks)
            reason_set(why, REASON_PSET_BUSY, a->request->group, l.a[i - 1].value);
    }
    free(l.a);
    return lacks;
}

bool psets_find(struct placer *p, struct buckets *all, const struct asker *a, struct pieces *out)
{
    struct sets l;
    bool done = false, ever = false;

    if (!sets_of(&l, a))
        return placement_find(p, a, out);
    for (size_t i = 0; i < l.n && !done; i++) {
        struct asker one = set_asker(a, &l, i);
        done = placement_find(p, &one, out);
        ever = ever || done || set_ever(all, &one);
    }
    free(l.a);
    /* A job that fits into no set at all may span them. */
    return done || (!ever && placement_find(p, a, out));
}

void psets_why(struct buckets *all, const struct asker *a, struct reason *why)
{
    if (a->request->n == 0)
        reason_set(why, REASON_INVALID, "without chunks", NULL);
    else if (!shortage_sums(all, a, why) && !sets_lack(all, a, why) && !shortage_never(all, a, why))
        shortage_now(all, a, why);
}
