/* The sets are made for each search and thrown away: they are few beside what is searched, and a vnode may change its
 * value at any time. A set is not an object here, only a value that an asker carries; matching then passes over all other
 * vnodes. Vnodes are counted by buckets, since those of one bucket have equal values; host and vnode are the exception.
 *
 * That a job waits for a busy set and does not spread over all vnodes hangs on `ever`: whether any set could
 * take it if it were empty. */
#include "psets.h"

#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "mem.h"
#include "search_log.h"
#include "insufficiency.h"
#include "words.h"

enum { COUNTED = 2 }; /* ncpus, mem: by these a set is small or large, as in PBS */

struct psets_set {
    res_id res;
    const char *value; /* interned; NULL: not set */
    int64_t total[COUNTED], free[COUNTED];
    uint32_t first; /* the lowest rank of its vnodes */
};
struct sets {
    const struct asker *asker;
    res_id counted[COUNTED];
    size_t n, cap;
    struct psets_set *a; /* the smallest first */
};

static int by_amounts(const int64_t a[COUNTED], const int64_t b[COUNTED])
{
    for (size_t i = 0; i < COUNTED; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Of sets that are equally large the one whose vnodes are filled first, not the one that happens to be counted first. */
static int psets_by_rank(const struct psets_set *x, const struct psets_set *y)
{
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->res != y->res)
        return x->res < y->res ? -1 : 1;
    return strcmp(x->value ? x->value : "", y->value ? y->value : "");
}

/* The smallest in total first, then the one with less free, so that large sets stay free for large jobs. */
static int psets_by_size(const void *a, const void *b)
{
    const struct psets_set *x = a, *y = b;
    int c = by_amounts(x->total, y->total);

    c = c ? c : by_amounts(x->free, y->free);
    return c ? c : psets_by_rank(x, y);
}

/* So many vnodes, the first of which has this rank, and which are like this one. */
struct psets_alike {
    const struct node *sample;
    int64_t times;
    uint32_t first;
};

/* Takes the value. */
static void set_count(struct sets *l, res_id res, const char *value, const struct psets_alike *x)
{
    const struct node *n = x->sample;
    size_t i = 0;

    while (i < l->n && (l->a[i].res != res || l->a[i].value != value))
        i++;
    if (i == l->n) {
        l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
        l->a[l->n++] = (struct psets_set){.res = res, .value = intern_again(value), .first = x->first};
    }
    intern_unref(value);
    if (x->first < l->a[i].first)
        l->a[i].first = x->first;
    for (size_t k = 0; k < COUNTED; k++) {
        l->a[i].total[k] += amounts_get(&n->total, l->counted[k]) * x->times;
        l->a[i].free[k] += amounts_get(&n->free, l->counted[k]) * x->times;
    }
}

/* Count these vnodes into the sets that they belong to. */
static void count_like(struct sets *l, res_id res, const struct psets_alike *x)
{
    const struct node *n = x->sample;
    const struct cluster *cl = l->asker->cl;
    const char *value = match_set_of(n, res);
    struct words w;

    if (!match_pool(l->asker, n) || (!value && cluster_policy(cl)->explicit_sets))
        return;
    if (!value || catalogue_get(cluster_catalogue(cl), res)->type != RES_STRINGS) {
        set_count(l, res, intern_again(value), x);
        return;
    }
    words_init(&w);
    words_parse_commas(value, &w, NULL);
    for (size_t i = 0; i < w.n; i++)
        set_count(l, res, mem_intern(w.w[i]), x);
    words_fini(&w);
}

/* host and vnode differ between vnodes of one bucket, so these are counted one by one. */
static void count_all(struct sets *l, struct buckets *all, res_id res)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(l->asker->cl, &n);

    if (res == RES_HOSTNAME || res == RES_VNODENAME) {
        for (size_t i = 0; i < n; i++)
            count_like(l, res, &(struct psets_alike){nodes[i], 1, nodes[i]->rank});
        return;
    }
    for (struct bucket *b = buckets_next(all, NULL); b; b = buckets_next(all, b))
        count_like(l, res, &(struct psets_alike){b->sample, (int64_t)b->n, bucket_first(b)});
}

/* What the job is grouped by, a comma list; NULL: by nothing. */
static const char *keys_of(const struct asker *a)
{
    const struct queue *server = cluster_server(a->cl);

    if (a->within) /* its vnodes were chosen by sets */
        return NULL;
    if (a->request->group)
        return a->request->group;
    if (!server->sets_on)
        return NULL;
    return a->queue && a->queue->set_keys ? a->queue->set_keys : server->set_keys;
}

/* false: this job is not grouped. True without a set: no vnode has the resource, and only_explicit_psets is True. sets_fini
 * in any case. */
static bool sets_of(struct sets *l, struct buckets *all, const struct asker *a)
{
    const struct catalogue *c = cluster_catalogue(a->cl);
    const char *keys = keys_of(a);
    struct words w;
    bool grouped = false;

    *l = (struct sets){.asker = a, .counted = {RES_NCPUS, catalogue_find(c, "mem")}};
    if (!keys)
        return false;
    words_init(&w);
    words_parse_commas(keys, &w, NULL);
    for (size_t i = 0; i < w.n; i++) {
        res_id res = catalogue_find(c, w.w[i]);
        if (res != RES_NONE)
            count_all(l, all, res);
        grouped = grouped || res != RES_NONE;
    }
    words_fini(&w);
    if (l->n)
        qsort(l->a, l->n, sizeof *l->a, psets_by_size);
    return l->n > 0 || (grouped && cluster_policy(a->cl)->explicit_sets);
}

static void sets_fini(struct sets *l)
{
    for (size_t i = 0; i < l->n; i++)
        intern_unref(l->a[i].value);
    free(l->a);
}

/* The same asker, for the vnodes of one set. */
static struct asker set_asker(const struct sets *l, size_t i)
{
    struct asker one = *l->asker;

    one.in_set = true;
    one.set = l->a[i].res;
    one.set_value = l->a[i].value;
    return one;
}

/* Could the job ever be placed in this set? false: `why` says why not. */
static bool set_ever(struct buckets *all, const struct asker *a, struct reason *why)
{
    return !(insufficiency_sums(all, a, why) && why->never) && !insufficiency_never(all, a, why);
}

static const char *set_name(const struct sets *l, size_t i)
{
    return catalogue_get(cluster_catalogue(l->asker->cl), l->a[i].res)->name;
}

static void say_busy(const struct sets *l, size_t i, struct reason *why)
{
    reason_set(why, REASON_PSET_BUSY, set_name(l, i), l->a[i].value ? l->a[i].value : "\"\"");
}

/* Some set is large enough, but not now. */
static bool sets_lack(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct sets l;
    bool lacks = false;

    sets_of(&l, all, a);
    for (size_t i = l.n; i > 0 && !lacks; i--) {
        struct asker one = set_asker(&l, i - 1);
        lacks = set_ever(all, &one, why);
        if (lacks)
            say_busy(&l, i - 1, why);
    }
    sets_fini(&l);
    return lacks;
}

/* The job may not span sets, and no set is large enough. */
static bool sets_never(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct sets l;
    struct reason ignored;
    bool never;

    if (!cluster_policy(a->cl)->no_spanning)
        return false;
    never = sets_of(&l, all, a);
    for (size_t i = 0; i < l.n && never; i++) {
        struct asker one = set_asker(&l, i);
        never = !set_ever(all, &one, &ignored);
    }
    sets_fini(&l);
    if (!never)
        return false;
    reason_set(why, REASON_PSET_NEVER, NULL, NULL);
    why->never = true;
    return true;
}

/* Each set in turn, the smallest first; then all vnodes, unless a set could take the job when it is free,
 * or jobs may not span. */
bool psets_find(struct placer *p, struct buckets *all, const struct asker *a, struct allocation *out)
{
    struct sets l;
    struct reason why;
    bool done = false, ever = false, any;

    /* In the log each step of a search has its line, so there it is made. */
    if (!search_log_is_on(placement_log(p), a) &&
        !stocks_may_suffice(buckets_stocks(all), a, &(struct amounts){0}))
        return false;
    any = sets_of(&l, all, a);
    for (size_t i = 0; i < l.n && !done; i++) {
        struct asker one = set_asker(&l, i);
        search_log_set(placement_log(p), a, set_name(&l, i), l.a[i].value);
        done = placement_find(p, &one, out);
        if (done || ever)
            continue;
        ever = set_ever(all, &one, &why);
        if (!ever)
            search_log_small(placement_log(p), a, set_name(&l, i), l.a[i].value, &why);
    }
    sets_fini(&l);
    if (done || ever || (any && cluster_policy(a->cl)->no_spanning))
        return done;
    if (any)
        search_log_span(placement_log(p), a);
    return placement_find(p, a, out);
}

/* Is one of these vnodes kept for a reservation that begins before the job would end? */
static bool psets_meets(const struct asker *a, const struct allocation *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->a[i].node->n_keeps > 0 && match_is_kept(a, p->a[i].node))
            return true;
    return false;
}

/* Beside them first: where many vnodes are promised most places that are found without them meet one, so that search would be made
 * for nothing. Only of a job that finds none, and would meet one somewhere, it is asked whether they are in its way. */
bool psets_find_beside(struct placer *p, struct buckets *all, struct trial *t, const struct asker *a,
                       struct allocation *out, bool *meets)
{
    struct asker alone = *a;
    size_t mark = trial_mark(t);

    *meets = false;
    if (psets_find(p, all, a, out))
        return true;
    alone.span.by = SPAN_NONE;
    if (!buckets_may_meet(all, a) || !psets_find(p, all, &alone, out))
        return false;
    *meets = psets_meets(a, out);
    if (!*meets)
        return true; /* first fit is not monotonic: with less room a chunk may have left a vnode that another one needs */
    trial_undo(t, mark);
    allocation_fini(out);
    return false;
}

/* Find a place in the room of a reservation, for one of its jobs. */
static void within_why(const struct asker *a, struct reason *why)
{
    const struct allocation *share = &a->within->times[0].share;
    struct amounts have = {0}, total = {0};
    res_id res;

    for (size_t i = 0; a->within->n_times > 0 && i < share->n; i++) {
        amounts_add(&total, &share->a[i].use);
        if (match_open(a, share->a[i].node))
            amounts_add(&have, &share->a[i].node->free);
    }
    if (amounts_cover(&have, &a->request->total, &res))
        reason_set(why, REASON_NO_RESOURCES, NULL, NULL);
    else {
        int64_t want = amounts_get(&a->request->total, res);
        reason_lack(why, REASON_LACK, cluster_catalogue(a->cl), res, want, amounts_get(&have, res),
                    amounts_get(&total, res));
        why->never = want > amounts_get(&total, res);
    }
    amounts_fini(&have);
    amounts_fini(&total);
}

/* What can never be comes first, then vnodes that are away, then what is lacking now. */
void psets_why(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct reason sums;
    bool lacks;

    if (a->request->n == 0) {
        reason_set(why, REASON_INVALID, "without chunks", NULL);
        return;
    }
    if (a->within) {
        within_why(a, why);
        return;
    }
    lacks = insufficiency_sums(all, a, &sums);
    if (!(lacks && sums.never) && (sets_never(all, a, why) || insufficiency_never(all, a, why)))
        return;
    if (insufficiency_away(all, a, why))
        return;
    if (lacks)
        *why = sums;
    else if (!sets_lack(all, a, why))
        insufficiency_now(all, a, why);
}
