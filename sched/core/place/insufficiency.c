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

    if (!stocks_sum(buckets_stocks(all), a, &free_now, &total)) {
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

/* Which of several is named: the first that is too little in total, else the first. */
bool insufficiency_sums(struct buckets *all, const struct asker *a, struct reason *why)
{
    struct reason room[SUMS_MAX];
    struct reasons found = {.a = room, .max = SUMS_MAX};
    size_t i = 0;

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

/* Could this chunk ever be placed, were everything free? Kinds speak for their vnodes. Where hosts have
 * several vnodes a chunk may be split, which this does not count: then it is true. */
static bool chunk_ever(struct buckets *all, const struct asker *a, const struct chunk *k, struct reason *why)
{
    struct amounts best = {0};
    int64_t fits = 0, most = a->request->arrange == ARRANGE_FREE ? k->count : 1;
    size_t n_big, n_like = 0;
    const struct node *other = NULL;

    cluster_big_hosts(a->cl, &n_big);
    for (const struct kind *x = buckets_next_kind(all, NULL); x; x = buckets_next_kind(all, x)) {
        bool is_named = k->host || k->vnode;
        if (!match_pool(a, x->sample))
            continue;
        other = x->sample;
        if (!is_named && !match_labels(a, x->sample, k))
            continue;
        n_like += x->n;
        fits += match_times(a, x->sample, &x->sample->total, k, most) * (int64_t)x->n;
        raise(&best, &x->sample->total);
    }
    bool ever = fits >= k->count || n_big > 0 || (a->request->arrange == ARRANGE_PACK && fits > 0);
    if (!ever) {
        if (n_like == 0 && other)
            match_differs(a, other, k, why);
        else if (fits > 0 || n_like == 0)
            reason_set(why, REASON_FEW_NODES, NULL, NULL);
        else
            chunk_lacks(a, k, &best, &best, why);
        why->never = true;
    }
    amounts_fini(&best);
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

/* Find what this chunk lacks at this moment, from what all buckets that could take it have. What is named:
 * a limit of vnodes, their state, the resource of which no vnode has enough, or too few free vnodes. Return
 * false if nothing can be seen. */
static bool chunk_now(struct buckets *all, const struct asker *a, const struct chunk *k, struct reason *why)
{
    struct amounts best = {0}, total = {0};
    int64_t fits = 0;
    const char *state = NULL;
    enum reason_code limit = REASON_NONE;
    size_t n_open = 0;

    for (struct bucket *b = buckets_next(all, NULL); b; b = buckets_next(all, b)) {
        if (!match_pool(a, b->sample) || !match_labels(a, b->sample, k))
            continue;
        raise(&total, &b->sample->total);
        state = b->sample->state ? b->sample->state : state;
        if (!b->sample->state && limit == REASON_NONE)
            limit = match_limit(a, b->sample);
        if (!match_open(a, b->sample))
            continue;
        n_open += b->n;
        struct amounts scratch = {0};
        const struct amounts *is_free = match_free(a, b->sample, &scratch);
        raise(&best, is_free);
        fits += match_times(a, b->sample, is_free, k, k->count) * (int64_t)b->n;
        amounts_fini(&scratch);
    }
    bool lacks = fits < k->count;
    if (lacks && fits == 0 && limit != REASON_NONE)
        reason_set(why, limit, NULL, NULL);
    else if (lacks && n_open == 0 && state)
        reason_set(why, REASON_NODE_STATE, state, NULL);
    else if (lacks && fits == 0 && n_open > 0)
        chunk_lacks(a, k, &best, &total, why);
    else
        reason_set(why, REASON_FEW_FREE_NODES, NULL, NULL);
    amounts_fini(&best);
    amounts_fini(&total);
    return lacks;
}

bool insufficiency_never(struct buckets *all, const struct asker *a, struct reason *why)
{
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
