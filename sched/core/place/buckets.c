/* A hash by what matching sees of a vnode. Unlike ones with the same hash take the next number; when a bucket
 * between them empties the chain is cut, and like vnodes may then be in two buckets. That costs one look
 * more and nothing else.
 *
 * A trial empties and fills buckets all the time, so empty ones are kept with their bitmaps, all zero. A
 * vnode knows its bucket: leaving needs no hash, and a vnode that has none is out of the index (dirty, or
 * between out and in).
 *
 * Kinds, which say what could ever run, are counted again only when the shape of the cluster has changed. */
#include "buckets.h"

#include <stdlib.h>
#include <string.h>

#include "kept_sums.h"
#include "mem.h"

struct buckets {
    struct cluster *cl;
    struct bucket *all;
    struct bucket *idle; /* the first of those that may have room */
    struct stocks stocks;
    struct kept_sums *kept; /* as vnodes were when `kept_print` and the rest were these */
    uint64_t kept_print, kept_at;
    int64_t kept_now_s;
    uint64_t
        print; /* of all vnodes together: one that left a bucket and came back to it makes no difference */
    struct bucket **spare; /* empty ones, with bits all zero */
    size_t n_spare, cap_spare;
    size_t words;
    struct kind *kinds;
    uint64_t kinds_of; /* shape of the cluster when they were counted */
};

static uint64_t buckets_key_of(const struct node *n)
{
    uint64_t h = amounts_hash(&n->free, n->look);

    h ^= n->keeps_look;
    if (node_is_limited(n)) /* which jobs it takes depends on those that it has: it is like no other */
        h ^= mem_hash(n->name);
    return (h ^ (uint64_t)node_is_occupied(n) ^ (uint64_t)n->exclusive << 1) * 0x9E3779B97F4A7C15ull;
}

static bool is_alike(const struct node *a, const struct node *b)
{
    if (node_is_limited(a) && a != b)
        return false;
    return a->look == b->look && a->keeps_look == b->keeps_look &&
           node_is_occupied(a) == node_is_occupied(b) && a->exclusive == b->exclusive &&
           amounts_equal(&a->free, &b->free);
}

/* `bits` and `some` are one array. */
static uint64_t *bits_new(struct bucket *k, size_t words)
{
    uint64_t *bits = mem_new(words + words / 64 + 1, sizeof *bits);

    k->some = bits + words;
    return bits;
}

/* Bitmaps of all buckets have one length, so that matching can combine any of them word by word. */
static void widen(struct buckets *b, size_t words)
{
    for (struct bucket *k = b->all; k; k = k->hh.next) {
        uint64_t *old = k->bits, *old_some = k->some;
        k->bits = bits_new(k, words);
        memcpy(k->bits, old, b->words * sizeof *old);
        memcpy(k->some, old_some, (b->words / 64 + 1) * sizeof *old_some);
        free(old);
    }
    for (size_t i = 0; i < b->n_spare; i++) {
        free(b->spare[i]->bits);
        b->spare[i]->bits = bits_new(b->spare[i], words);
    }
    b->words = words;
}

/* Vnodes where a job that wants a processor may have room. All of a bucket are alike in this. */
static bool is_idle(const struct node *n)
{
    return !n->state && !n->exclusive && amounts_get(&n->free, RES_NCPUS) > 0;
}

static void idle_in(struct buckets *b, struct bucket *k)
{
    k->is_idle = is_idle(k->sample);
    if (!k->is_idle)
        return;
    k->prev_idle = NULL;
    k->next_idle = b->idle;
    if (k->next_idle)
        k->next_idle->prev_idle = k;
    b->idle = k;
}

static void idle_out(struct buckets *b, struct bucket *k)
{
    if (!k->is_idle)
        return;
    if (k->prev_idle)
        k->prev_idle->next_idle = k->next_idle;
    else
        b->idle = k->next_idle;
    if (k->next_idle)
        k->next_idle->prev_idle = k->prev_idle;
    k->is_idle = false;
}

static struct bucket *fresh(struct buckets *b, uint64_t key, struct node *n)
{
    struct bucket *k;

    if (b->n_spare)
        k = b->spare[--b->n_spare];
    else {
        k = mem_new(1, sizeof *k);
        k->bits = bits_new(k, b->words);
    }
    k->key = key;
    k->sample = n;
    k->n = 0;
    HASH_ADD(hh, b->all, key, sizeof k->key, k);
    stock_share_of(&b->stocks, &k->share, n);
    idle_in(b, k);
    return k;
}

/* Unlike nodes whose hashes are equal go to the next free number. */
static struct bucket *bucket_for(struct buckets *b, struct node *n)
{
    uint64_t key = buckets_key_of(n);

    for (;; key++) {
        struct bucket *k;
        HASH_FIND(hh, b->all, &key, sizeof key, k);
        if (!k)
            return fresh(b, key, n);
        if (is_alike(k->sample, n))
            return k;
    }
}

static uint64_t buckets_mix(uint64_t key)
{
    key = (key ^ key >> 32) * 0xC2B2AE3D27D4EB4Full;
    return key ^ key >> 29;
}

static void buckets_node_in(void *arg, struct node *n)
{
    struct buckets *b = arg;

    if (n->rank / 64 >= b->words)
        widen(b, (n->rank / 64 + 1) * 2);
    struct bucket *k = bucket_for(b, n);
    k->bits[n->rank / 64] |= 1ull << n->rank % 64;
    k->some[n->rank / 64 / 64] |= 1ull << n->rank / 64 % 64;
    k->n++;
    n->bucket = k;
    b->print += buckets_mix(k->key);
    stock_add(&b->stocks, &k->share, 1);
}

static void buckets_node_out(void *arg, struct node *n)
{
    struct buckets *b = arg;
    struct bucket *k = n->bucket;

    k->bits[n->rank / 64] &= ~(1ull << n->rank % 64);
    if (k->bits[n->rank / 64] == 0)
        k->some[n->rank / 64 / 64] &= ~(1ull << n->rank / 64 % 64);
    n->bucket = NULL;
    b->print -= buckets_mix(k->key);
    stock_add(&b->stocks, &k->share, -1);
    if (--k->n == 0) {
        HASH_DEL(b->all, k);
        idle_out(b, k);
        b->spare = mem_room(b->spare, b->n_spare, &b->cap_spare, sizeof *b->spare);
        b->spare[b->n_spare++] = k;
    } else if (k->sample == n) {
        size_t n_nodes;
        k->sample = cluster_nodes(b->cl, &n_nodes)[bucket_first(k)];
    }
}

struct buckets *buckets_create(struct cluster *cl)
{
    struct buckets *b = mem_new(1, sizeof *b);

    b->cl = cl;
    b->words = 1;
    b->kept = kept_sums_create();
    cluster_listen(
        cl, &(struct cluster_listener){.node_in = buckets_node_in, .node_out = buckets_node_out, .arg = b});
    return b;
}

static void drop_kinds(struct buckets *b)
{
    for (struct kind *k = b->kinds, *next; k; k = next) {
        next = k->hh.next;
        HASH_DEL(b->kinds, k);
        free(k);
    }
}

static void bucket_free(struct bucket *k)
{
    stock_share_fini(&k->share);
    free(k->bits);
    free(k);
}

void buckets_destroy(struct buckets *b)
{
    if (!b)
        return;
    for (struct bucket *k = b->all, *next; k; k = next) {
        next = k->hh.next;
        HASH_DEL(b->all, k);
        bucket_free(k);
    }
    for (size_t i = 0; i < b->n_spare; i++)
        bucket_free(b->spare[i]);
    stocks_fini(&b->stocks);
    kept_sums_destroy(b->kept);
    drop_kinds(b);
    free(b->spare);
    free(b);
}

struct bucket *buckets_next(const struct buckets *b, const struct bucket *after)
{
    return after ? after->hh.next : b->all;
}

struct bucket *buckets_next_for(const struct buckets *b, const struct chunk *k, const struct bucket *after)
{
    if (amounts_get(&k->use, RES_NCPUS) <= 0 || cluster_policy(b->cl)->unset_infinite)
        return buckets_next(b, after);
    return after ? after->next_idle : b->idle;
}

/* Made again only when asked for: while jobs are placed vnodes move, and no sums are wanted. */
static void buckets_list_kept(struct buckets *b, int64_t now_s)
{
    if (b->kept_print == b->print && b->kept_at == cluster_kept(b->cl) && b->kept_now_s == now_s)
        return;
    kept_sums_begin(b->kept, now_s);
    for (struct bucket *k = b->all; k; k = k->hh.next)
        if (k->share.is_kept)
            kept_sums_add(b->kept, k->share.stock, k->sample, k->n);
    b->kept_print = b->print;
    b->kept_at = cluster_kept(b->cl);
    b->kept_now_s = now_s;
}

bool buckets_sum_beside(struct buckets *b, const struct asker *a, struct amounts *free_now,
                        struct amounts *total)
{
    const struct amounts *want = &a->request->total;

    if (a->in_set || a->within || (a->span.by != SPAN_NOW && a->span.by != SPAN_NONE))
        return stocks_sum(&b->stocks, a, free_now, total);
    for (const struct stock *k = b->stocks.all; k; k = k->hh.next) {
        if (!stock_is_for(a, k))
            continue;
        amounts_add(total, &k->total);
        amounts_add(free_now, &k->free);
        if (k->n_kept == 0 || a->span.by == SPAN_NONE)
            continue;
        buckets_list_kept(b, a->span.begin_s);
        for (uint32_t i = 0; i < want->n; i++)
            amounts_plus(free_now, want->a[i].res,
                         -kept_sums_of(b->kept, k, want->a[i].res, a->span.until_s));
    }
    return true;
}

bool buckets_may_meet(struct buckets *b, const struct asker *a)
{
    if (a->span.by == SPAN_NONE)
        return false;
    if (a->span.by != SPAN_NOW)
        return stocks_are_kept(&b->stocks);
    for (const struct stock *k = b->stocks.all; k; k = k->hh.next) {
        if (k->n_kept == 0 || !stock_is_for(a, k))
            continue;
        buckets_list_kept(b, a->span.begin_s);
        if (kept_sums_any(b->kept, k, a->span.until_s))
            return true;
    }
    return false;
}

const struct stocks *buckets_stocks(const struct buckets *b)
{
    return &b->stocks;
}

size_t buckets_words(const struct buckets *b)
{
    return b->words;
}

void bucket_add_to(const struct buckets *b, const struct bucket *k, uint64_t *set)
{
    for (size_t i = 0; i <= b->words / 64; i++)
        for (uint64_t some = k->some[i]; some; some &= some - 1) {
            size_t w = i * 64 + (size_t)__builtin_ctzll(some);
            set[w] |= k->bits[w];
        }
}

uint32_t bucket_first(const struct bucket *k)
{
    size_t i = 0;

    while (k->some[i] == 0)
        i++;
    size_t w = i * 64 + (size_t)__builtin_ctzll(k->some[i]);
    return (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(k->bits[w]);
}

static void count_kinds(struct buckets *b)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(b->cl, &n);

    drop_kinds(b);
    for (size_t i = 0; i < n; i++) {
        struct kind *k;
        HASH_FIND(hh, b->kinds, &nodes[i]->look, sizeof k->look, k);
        if (!k) {
            k = mem_new(1, sizeof *k);
            k->look = nodes[i]->look;
            k->sample = nodes[i];
            HASH_ADD(hh, b->kinds, look, sizeof k->look, k);
        }
        k->n++;
    }
    b->kinds_of = cluster_shape(b->cl);
}

const struct kind *buckets_next_kind(struct buckets *b, const struct kind *after)
{
    if (!after && b->kinds_of != cluster_shape(b->cl))
        count_kinds(b);
    return after ? after->hh.next : b->kinds;
}
