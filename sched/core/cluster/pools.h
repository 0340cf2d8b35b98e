#ifndef POOLS_H
#define POOLS_H
/* Amounts that vnodes share: one has them, others have them as "@it" (indirect resources).
 *
 * What is free of such an amount is one number, and each member's `free` shows it: what is taken from one member is taken
 * from all. Members are moved out of the cluster's indices and back in as their number changes. A borrower's `total`
 * shows the lender's. Sites without indirect amounts pay one look; others O(vnodes) when what a vnode offers changes,
 * O(members) when one is used.
 */
#include "sched_node.h"

struct pools;

struct pool {
    res_id res;
    struct node **a; /* members; a[0] has it */
    size_t n, cap;
};

/* ^ A vnode's free amounts are about to change; they are now these. */
typedef void pools_fn(void *arg, struct node *n);
struct pools_hooks {
    pools_fn *out, *in;
    void *arg;
};

struct pools *pools_create(const struct pools_hooks *hooks);
void pools_destroy(struct pools *p);

/* The attributes of this vnode have been read again. If it is_other (it is new, or what it offers has changed) pools are no
 * longer right; else
 * `changed` is told of those it shares with. */
void pools_seen(struct pools *p, struct node *n, bool is_other, pools_fn *changed, void *arg);
/* This vnode goes. */
void pools_gone(struct pools *p, const struct node *n);
/* Make them again from these vnodes if they are not right, and tell `changed` of each member that there was or is. */
void pools_make(struct pools *p, struct node *nodes, pools_fn *changed, void *arg);

/* After node_settle of this member: what is free of what it shares. */
void pools_settle(struct node *n);

/* Has it this only by way of another? Do others have this by way of it? */
bool pools_is_borrowed(const struct node *n, res_id res);
bool pools_is_lent(const struct node *n, res_id res);

/* A sum of `free` over vnodes, this among them, has what they share several times: make it once. */
void pools_count_once(const struct node *n, struct amounts *sum);

/* n->free moves by `times` times these, and with it what is free at members of its pools. The caller has taken n itself
 * out of the indices. */
void pools_move(struct pools *p, struct node *n, const struct amounts *use, int64_t times);

#endif
