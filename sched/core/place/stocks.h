#ifndef STOCKS_H
#define STOCKS_H
/* Running sums: what all vnodes of one queue and partition have, in total and free, as the buckets change.
 *
 * A job that asks for more than their sum finds no place, whatever the single vnodes have; most jobs that wait do. So this is
 * asked first: it costs a look at each stock that the job may use, of which there are as many as there are queues with vnodes of
 * their own, and nothing for each vnode or bucket. */
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "match.h"
#include "sched_cluster.h"

struct stock_key { /* interned texts, compared by address */
    const char *queue, *partition;
    bool no_resv;
};

struct stock {
    struct stock_key key;
    struct amounts total, free; /* as insufficiency_sums adds them up: see stock_share */
    size_t n;                   /* vnodes */
    size_t n_kept;    /* of them those that reservations to come need: how much is free depends on who asks */
    size_t n_special; /* those that share amounts with others, or have less than nothing free */
    UT_hash_handle hh;
};

/* What one vnode adds to its stock. Vnodes of one bucket add the same. */
struct stock_share {
    struct stock *stock;
    struct amounts total, free;
    bool is_kept, is_special;
};

struct stocks {
    struct stock *all;
};

void stocks_fini(struct stocks *s);

/* Fill the share of a vnode like this one; the stock is made if it is not there. `x` was zeroed once, and is filled again and again;
 * stock_share_fini frees what it has. */
void stock_share_of(struct stocks *s, struct stock_share *x, const struct node *n);
void stock_share_fini(struct stock_share *x);
/* One such vnode more (times 1) or less (-1). A stock without vnodes goes. */
void stock_add(struct stocks *s, const struct stock_share *x, int64_t times);

/* Does the amount of this resource on such a vnode count, if the vnode is open, or not? Shared amounts count where they are. */
bool stock_counts(const struct node *n, res_id res, bool is_open);
/* May the asker use vnodes of this stock? */
bool stock_is_for(const struct asker *a, const struct stock *k);

/* Add up what the asker may use. false: the sums do not say it, since it depends on the vnodes one by one: a set of vnodes, the
 * room of a reservation, or vnodes that are kept for others. `free_now` and `total` are empty before, and the caller's. */
bool stocks_sum(const struct stocks *s, const struct asker *a, struct amounts *free_now,
                struct amounts *total);

/* Return true if reservations to come need any vnode: else a place beside them is a place. */
bool stocks_are_kept(const struct stocks *s);

/* Return false if what the job asks for is certainly not free, all vnodes that it may use together, where `others` of that is needed. */
bool stocks_may_suffice(const struct stocks *s, const struct asker *a, const struct amounts *others);

#endif
