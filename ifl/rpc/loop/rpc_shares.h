#ifndef RPC_SHARES_H
#define RPC_SHARES_H
/* The share of each user in the server: connections, calls and memory, so that one user cannot keep the others out. A
 * MOM is counted in the same way, by the name in its certificate. Root of this host, the user that this process runs
 * as, and other daemons have no share, since they could harm the server in other ways too. Root and that user have a
 * share for each address where MUNGE names them.
 *
 * A share that is over makes the connections of its user wait (rpc_conn takes no call in), until an answer is read, a
 * call is answered, or time has gone by; they are woken one after the other. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth.h"

struct loop;
struct rpc_share;
struct rpc_shares;

struct rpc_share_limits {
    size_t connections;
    size_t memory_bytes;  /* calls that are not over: what they take, not what they were on the wire */
    size_t output_bytes;  /* answers that are not read */
    unsigned calls_per_s; /* on the average; ten seconds' worth at once. 0: no limit */
};

struct rpc_shares *rpc_shares_create(struct loop *l,
                                     const struct rpc_share_limits *each); /* NULL: no memory */
void rpc_shares_destroy(
    struct rpc_shares *s); /* NULL is fine. Shares that are in use stay until they are not */

/* The share of this peer, counted up; NULL: it has none. *ok false: no memory. */
struct rpc_share *rpc_shares_get(struct rpc_shares *s, const struct auth_peer *p, bool *ok);
struct rpc_share *rpc_share_ref(struct rpc_share *u); /* NULL is fine, here and below */
void rpc_share_unref(struct rpc_share *u);

/* One more connection; false: it would be more than the share, and is not counted. */
bool rpc_share_connect(struct rpc_share *u);
void rpc_share_disconnect(struct rpc_share *u);

void rpc_share_add_memory(struct rpc_share *u, size_t n);
void rpc_share_drop_memory(struct rpc_share *u, size_t n);
void rpc_share_change_output(struct rpc_share *u, size_t before, size_t now);
void rpc_share_count_call(struct rpc_share *u, int64_t now_mono_ms);

/* Return true if its calls must wait. */
bool rpc_share_is_over(const struct rpc_share *u, int64_t now_mono_ms);

struct rpc_share_waiter { /* all zero: it does not wait */
    struct rpc_share_waiter *next, *prev;
    struct rpc_share *share;
    void (*wake)(void *arg); /* soon after this it asks again, and waits again or calls rpc_share_pass_on */
    void *arg;
};
void rpc_share_wait(struct rpc_share *u, struct rpc_share_waiter *w,
                    int64_t now_mono_ms);         /* fine if it waits */
void rpc_share_leave(struct rpc_share_waiter *w); /* it waits no more; fine if it does not wait */
void rpc_share_pass_on(struct rpc_share *u);      /* the next one that waits may ask */

#endif
