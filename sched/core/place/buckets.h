#ifndef BUCKETS_H
#define BUCKETS_H
/* Nodes that are alike at this moment, put together: matching looks at one of each kind.
 *
 * Two nodes are in one bucket when nothing that matching asks of them differs but their names: what they
 * offer, what is free, whether they are in use. As amounts move, nodes move between buckets, in constant time.
 * The members are a bitmap over ranks, so that a union of buckets in the order of filling is a few words.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "sched_cluster.h"
#include "stocks.h"

struct bucket {
    uint64_t key;
    struct node *sample; /* one of the members */
    size_t n;            /* members */
    uint64_t *bits;      /* buckets_words() words; bit = rank */
    uint64_t *some;      /* behind them: which words are not 0, a bit each */
    struct stock_share share;
    struct bucket *next_idle, *prev_idle; /* of those that buckets_next_for does not pass over; buckets.c */
    bool is_idle;
    UT_hash_handle hh;
};

/* Nodes that are alike when they are empty; for what can never run. */
struct kind {
    uint64_t look;
    const struct node *sample;
    size_t n;
    UT_hash_handle hh;
};

struct buckets;

struct buckets *buckets_create(struct cluster *cl); /* becomes a listener of `cl`; made before any node */
void buckets_destroy(struct buckets *b);

struct bucket *buckets_next(const struct buckets *b, const struct bucket *after); /* NULL: the first */
/* The same of those that may have room now for a chunk like this: where it wants processors, only vnodes that have some free, are
 * up, and that no job has alone. The others are most on a full machine. */
struct bucket *buckets_next_for(const struct buckets *b, const struct chunk *k, const struct bucket *after);
/* Add up what this asker may use beside reservations, of the resources it asks for: as stocks_sum, and where reservations matter to
 * it too, if it begins now. false: it has to be asked vnode by vnode. O(resources), and O(buckets × keeps of a vnode) where vnodes have
 * changed since. */
bool buckets_sum_beside(struct buckets *b, const struct asker *a, struct amounts *free_now,
                        struct amounts *total);
/* May this asker be refused a vnode for a reservation? false: a search that asks without them finds what one beside them finds. The same
 * costs. */
bool buckets_may_meet(struct buckets *b, const struct asker *a);
const struct stocks *buckets_stocks(const struct buckets *b);
size_t buckets_words(const struct buckets *b);
const struct kind *buckets_next_kind(struct buckets *b, const struct kind *after);

/* Add the members to a set of buckets_words() words. O(words / 64 + words that have members). */
void bucket_add_to(const struct buckets *b, const struct bucket *k, uint64_t *set);

/* Lowest rank of the members; there is one. */
uint32_t bucket_first(const struct bucket *k);

#endif
