/* A guess at the most telling obstacle, from samples: one look at each bucket or kind. The best of each
 * resource may be on different vnodes, so "there is enough" proves nothing; "there is not enough" does.
 * Whether the job has a place was for placement to say, and has been said. */
#include "insufficiency.h"

#include <strings.h>

#include "pools.h"

/* Resources of one job among which one that is too little in total is looked for; jobs ask for fewer. */
enum { SUMS_MAX = 16 };

/* Shared amounts count where they are, even on vnodes where no job may run. */
static void add_to(struct amounts *sum, const struct node *n, const struct amounts *have, int64_t times,
                   bool is_open)
{
    for (uint32_t i = 0; i < have->n; i++) {
        const struct amount *x = &have->a[i];

        if (!pools_is_borrowed(n, x->res) && (is_open || pools_is_lent(n, x->res)))
            amounts_plus(sum, x->res, x->n * times);
    }
}

/* Would this amount fit into `have`, by the rules of matching (resource_unset_infinite)? One chunk that
 * wants nothing else. */
static bool covers(const struct asker *a, const struct amounts *have, const struct node *whole,
                   const struct amount *want)
{
    struct chunk one = {.use = {.n = 1, .a = (struct amount *)(uintptr_t)want}};

    return match_times(a, whole, have, &one, 1) > 0;
}

/* The same sums bucket by bucket, where the running ones of stocks.h do not say it. */
static void sums_by_bucket(struct buckets *all, const struct asker *a, struct amounts *free_now,
                           struct amounts *total)
{
    for (struct bucket *b = buckets_next(all, NULL); b; b = buckets_next(all, b)) {
        if (!match_pool(a, b->sample))
            continue;
        add_to(total, b->sample, &b->sample->total, (int64_t)b->n, true);
        struct amounts scratch = {0};
        add_to(free_now, b->sample, match_free(a, b->sample, &scratch), (int64_t)b->n,
               !b->sample->state && !b->sample->exclusive);
        amounts_fini(&scratch);
    }
}

/* Sums over all vnodes that the job may use: is there enough of each resource, now, ever? */
static void sums(struct buckets *all, const struct asker *a, struct reasons *why)
{
    const struct catalogue *c = cluster_catalogue(a->cl);
    struct amounts free_now = {0}, total = {0};

    if (!buckets_sum_beside(all, a, &free_now, &total)) {
        amounts_clear(&free_now);
        amounts_clear(&total);
        sums_by_bucket(all, a, &free_now, &total);
    }
    for (uint32_t i = 0; i < a->request->total.n && !reasons_full(why); i++) {
        const struct amount *want = &a->request->total.a[i];
        struct node whole = {.total = total};
        int64_t have = amounts_get(&free_now, want->res);
        if (covers(a, &free_now, &whole, want))
            continue;
        reason_lack(&why->a[why->n], REASON_LACK, c, want->res, want->n, have,
                    amounts_get(&total, want->res));
        why->a[why->n].never = !covers(a, &total, &whole, want);
        reasons_keep(why);
    }
    amounts_fini(&free_now);
    amounts_fini(&total);
}

/* All vnodes are for jobs only (resv_enable), and a reservation asks. */
static bool insufficiency_for_jobs_only(struct buckets *all, const struct asker *a, struct reason *why)
{
    bool is_any = false;

    for (const struct kind *x = a->job ? NULL : buckets_next_kind(all, NULL); x;
         x = buckets_next_kind(all, x)) {
        if (match_pool(a, x->sample))
            return false;
        is_any = is_any || x->sample->no_resv;
    }
    if (!is_any)
        return false;
    reason_set(why, REASON_NODE_NO_RESV, NULL, NULL);
    why->never = true;
    return true;
}

/* Which of several is named: the first that is too little in total, else the first. */
bool insufficiency_sums(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct reason room[SUMS_MAX];
    struct reasons found = {.a = room, .max = SUMS_MAX};
    size_t i = 0;

    if (insufficiency_for_jobs_only(all, a, why))
        return true;
    sums(all, a, &found);
    if (found.n == 0)
        return false;
    while (i < found.n && !found.a[i].never)
        i++;
    *why = found.a[i < found.n ? i : 0];
    return true;
}

res_id insufficiency_res(struct buckets *all, const struct asker *a)
{
    struct amounts free_now = {0}, total = {0};
    res_id first = RES_NONE;
    bool is_known = stocks_sum(buckets_stocks(all), a, &free_now, &total);
    struct node whole = {.total = total};

    for (uint32_t i = 0; is_known && i < a->request->total.n; i++) {
        const struct amount *want = &a->request->total.a[i];
        if (covers(a, &free_now, &whole, want))
            continue;
        if (!covers(a, &total, &whole, want)) {
            first = RES_NONE;
            break;
        }
        first = first == RES_NONE ? want->res : first;
    }
    amounts_fini(&free_now);
    amounts_fini(&total);
    return first;
}

/* The most that any vnode has of the first resource that this chunk lacks. */
static void chunk_lacks(const struct asker *a, const struct chunk *k, const struct amounts *free_now,
                        const struct amounts *total, struct reason *why)
{
    for (uint32_t i = 0; i < k->use.n; i++) {
        const struct amount *want = &k->use.a[i];
        int64_t have = amounts_get(free_now, want->res);
        if (have >= want->n)
            continue;
        reason_lack(why, REASON_LACK, cluster_catalogue(a->cl), want->res, want->n, have,
                    amounts_get(total, want->res));
        return;
    }
    reason_set(why, REASON_FEW_FREE_NODES, NULL, NULL);
}

/* Of each resource the larger amount. */
static void raise(struct amounts *best, const struct amounts *have)
{
    for (uint32_t i = 0; i < have->n; i++)
        if (have->a[i].n > amounts_get(best, have->a[i].res))
            amounts_set(best, have->a[i].res, have->a[i].n);
}

struct chunk_kinds { /* what all kinds of vnodes have for a chunk, were everything free */
    struct amounts best;
    int64_t fits;  /* copies */
    size_t n_like; /* vnodes that compare equal to what it asks for, or all, where it asks by name */
    const struct node *other; /* any vnode that its queue may use; NULL: there is none */
};

static void chunk_count_kinds(struct chunk_kinds *c, struct buckets *all, const struct asker *a,
                              const struct chunk *k)
{
    int64_t most = a->request->arrange == ARRANGE_FREE ? k->count : 1;
    bool is_named = k->host || k->vnode; /* a kind says nothing of names */

    for (const struct kind *x = buckets_next_kind(all, NULL); x; x = buckets_next_kind(all, x)) {
        if (!match_pool(a, x->sample))
            continue;
        c->other = x->sample;
        if (!is_named && !match_labels(a, x->sample, k))
            continue;
        c->n_like += x->n;
        c->fits += match_times(a, x->sample, &x->sample->total, k, most) * (int64_t)x->n;
        raise(&c->best, &x->sample->total);
    }
}

/* Could this chunk ever be placed, were everything free? Kinds speak for their vnodes. Where hosts have several vnodes a chunk may be
 * split, which this does not count: then it is true. */
static bool chunk_ever(struct buckets *all, const struct asker *a, const struct chunk *k, struct reason *why)
{
    struct chunk_kinds c = {.fits = 0};
    size_t n_big;

    cluster_big_hosts(a->cl, &n_big);
    chunk_count_kinds(&c, all, a, k);
    bool ever = c.fits >= k->count || n_big > 0 || (a->request->arrange == ARRANGE_PACK && c.fits > 0);
    if (!ever) {
        if (c.n_like == 0 && c.other)
            match_differs(a, c.other, k, why);
        else if (c.fits > 0 || c.n_like == 0)
            reason_set(why, REASON_FEW_NODES, NULL, NULL);
        else
            chunk_lacks(a, k, &c.best, &c.best, why);
        why->never = true;
    }
    amounts_fini(&c.best);
    return ever;
}

/* A chunk that names its host or vnode. */
static bool named_lacks(const struct cluster *cl, const struct chunk *k, struct reason *why)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);
    const char *what = k->vnode ? "vnode" : "host";
    bool is_there = false;

    if (!k->vnode && !k->host)
        return false;
    for (size_t i = 0; i < n; i++)
        is_there = is_there || (k->vnode && strcasecmp(nodes[i]->name, k->vnode) == 0) ||
                   (k->host && strcasecmp(nodes[i]->host_name, k->host) == 0);
    if (is_there) {
        reason_set(why, REASON_LACK, what, NULL);
        why->res = k->vnode ? RES_VNODENAME : RES_HOSTNAME;
    } else {
        reason_set(why, REASON_NO_SUCH, what, k->vnode ? k->vnode : k->host);
        why->never = true;
    }
    return true;
}

struct away {                 /* vnodes that could run a chunk, were they free */
    const struct node *first; /* of those that are away, in the order of filling */
    int64_t n;
    bool is_any_up;
};

/* Count `n` vnodes like this one, if they would take the chunk when free. */
static void away_count(struct away *x, const struct asker *a, const struct chunk *k, const struct node *like,
                       int64_t n)
{
    if (!match_pool(a, like) || !match_labels(a, like, k) || match_times(a, like, &like->total, k, 1) == 0)
        return;
    x->is_any_up = x->is_any_up || !like->state;
    if (!x->first || like->rank < x->first->rank)
        x->first = like;
    x->n += n;
}

/* Are all vnodes away (offline, down ...) that could run this chunk, were they free? Those of one kind are in one state; a
 * kind says nothing of names. */
static bool chunk_away(struct buckets *all, const struct asker *a, const struct chunk *k, struct reason *why)
{
    struct away x = {0};
    size_t n;
    struct node *const *nodes = cluster_nodes(a->cl, &n);

    for (size_t i = 0; (k->host || k->vnode) && i < n && !x.is_any_up; i++)
        away_count(&x, a, k, nodes[i], 1);
    for (const struct kind *like = k->host || k->vnode ? NULL : buckets_next_kind(all, NULL);
         like && !x.is_any_up; like = buckets_next_kind(all, like))
        away_count(&x, a, k, like->sample, (int64_t)like->n);
    if (x.first && !x.is_any_up)
        match_away(x.first, x.n - 1, why);
    return x.first && !x.is_any_up;
}

bool insufficiency_away(struct buckets *all, const struct asker *a, struct reason *why)
{
    for (size_t i = 0; i < a->request->n; i++)
        if (chunk_away(all, a, &a->request->chunks[i], why))
            return true;
    return false;
}

struct chunk_sight {            /* what can be seen of vnodes that might take a chunk */
    struct amounts best, total; /* of each resource the most that one of them has free, and has */
    int64_t fits;               /* copies, an upper bound */
    size_t n_open;
    const char *state; /* of one that takes no jobs; NULL: all do */
    enum reason_code limit;
};

/* One bucket, for all its vnodes. */
static void chunk_see(struct chunk_sight *x, const struct asker *a, const struct chunk *k,
                      const struct bucket *b)
{
    struct amounts scratch = {0};

    raise(&x->total, &b->sample->total);
    x->state = b->sample->state ? b->sample->state : x->state;
    if (!b->sample->state && x->limit == REASON_NONE)
        x->limit = match_limit(a, b->sample);
    if (!match_open(a, b->sample))
        return;
    x->n_open += b->n;
    const struct amounts *is_free = match_free(a, b->sample, &scratch);
    raise(&x->best, is_free);
    x->fits += match_times(a, b->sample, is_free, k, k->count) * (int64_t)b->n;
    amounts_fini(&scratch);
}

/* Find what this chunk lacks at this moment, from what all buckets that could take it have. What is named: a limit of vnodes, their state,
 * the resource of which no vnode has enough, or too few free vnodes. Return false if nothing can be seen. */
static bool chunk_now(struct buckets *all, const struct asker *a, const struct chunk *k, struct reason *why)
{
    struct chunk_sight x = {.limit = REASON_NONE};

    for (struct bucket *b = buckets_next(all, NULL); b; b = buckets_next(all, b))
        if (match_pool(a, b->sample) && match_labels(a, b->sample, k))
            chunk_see(&x, a, k, b);
    bool lacks = x.fits < k->count;
    if (lacks && x.fits == 0 && x.limit != REASON_NONE)
        reason_set(why, x.limit, NULL, NULL);
    else if (lacks && x.n_open == 0 && x.state)
        reason_set(why, REASON_NODE_STATE, x.state, NULL);
    else if (lacks && x.fits == 0 && x.n_open > 0)
        chunk_lacks(a, k, &x.best, &x.total, why);
    else
        reason_set(why, REASON_FEW_FREE_NODES, NULL, NULL);
    amounts_fini(&x.best);
    amounts_fini(&x.total);
    return lacks;
}

bool insufficiency_never(struct buckets *all, const struct asker *a, struct reason *why)
{
    if (insufficiency_for_jobs_only(all, a, why))
        return true;
    for (size_t i = 0; i < a->request->n; i++)
        if (!chunk_ever(all, a, &a->request->chunks[i], why))
            return true;
    return false;
}

/* Sums have named this resource: not once more for a chunk. */
static bool insufficiency_is_said(const struct reasons *l, res_id res)
{
    for (size_t i = 0; res != RES_NONE && i < l->n; i++)
        if (l->a[i].res == res)
            return true;
    return false;
}

void insufficiency_all(struct buckets *all, const struct asker *a, struct reasons *why)
{
    if (!reasons_full(why) && insufficiency_away(all, a, &why->a[why->n]))
        reasons_keep(why);
    sums(all, a, why);
    for (size_t i = 0; i < a->request->n && !reasons_full(why); i++) {
        const struct chunk *k = &a->request->chunks[i];
        struct reason *next = &why->a[why->n];
        if ((!chunk_ever(all, a, k, next) || named_lacks(a->cl, k, next) || chunk_now(all, a, k, next)) &&
            !insufficiency_is_said(why, next->res))
            reasons_keep(why);
    }
}

void insufficiency_now(struct buckets *all, const struct asker *a, struct reason *why)
{
    const struct request *q = a->request;

    for (size_t i = 0; i < q->n; i++)
        if (named_lacks(a->cl, &q->chunks[i], why))
            return;
    for (size_t i = 0; i < q->n; i++)
        if (chunk_now(all, a, &q->chunks[i], why))
            return;
    if (q->arrange == ARRANGE_PACK && q->n_chunks > 1)
        reason_set(why, REASON_PACK, NULL, NULL);
    else
        reason_set(why, REASON_FEW_FREE_NODES, NULL, NULL);
}
