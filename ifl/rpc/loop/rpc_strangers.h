#ifndef RPC_STRANGERS_H
#define RPC_STRANGERS_H
/* The connections that have not authenticated yet, by the address that they come from.
 *
 * Their number is bounded. When all places are taken, the oldest connection of the address that has most is closed: a
 * host that opens many closes its own, and all others get in. Addresses that a daemon has come from have a few places
 * of their own before they count. The loopback network is one address; so is a network of IPv6 (64 bits): one host
 * has them all. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_conn;
struct rpc_strangers;

typedef uint64_t rpc_address_key; /* an address, as far as it tells hosts apart */

rpc_address_key rpc_strangers_key(int fd); /* of the peer; 0: it has none */

struct rpc_strangers *rpc_strangers_create(size_t max); /* NULL: no memory */
void rpc_strangers_destroy(struct rpc_strangers *s);    /* NULL is fine */

/* NULL: there is place for one more. Else the connection to close; it is counted until rpc_strangers_remove. */
struct rpc_conn *rpc_strangers_victim(const struct rpc_strangers *s);
void rpc_strangers_add(struct rpc_strangers *s, struct rpc_conn *c,
                       rpc_address_key from);                                 /* there is place */
void rpc_strangers_remove(struct rpc_strangers *s, const struct rpc_conn *c); /* fine if it is not in */
size_t rpc_strangers_count(const struct rpc_strangers *s);

/* Note that a daemon has come from the address of this connection, which is counted. */
void rpc_strangers_trust(struct rpc_strangers *s, const struct rpc_conn *c);

#endif
