#ifndef RPC_SHARES_H
#define RPC_SHARES_H
/* How many connections each user has, so that one cannot keep the others out. Root and the user whom this process
 * runs as have no bound: they could do worse. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rpc_shares;

struct rpc_shares *rpc_shares_create(size_t each); /* NULL: no memory */
void rpc_shares_destroy(struct rpc_shares *s);     /* NULL is fine */

/* One more; counted in any case, for rpc_shares_give_back. false: it is more than his share, or there is no memory. */
bool rpc_shares_take(struct rpc_shares *s, uid_t uid);
void rpc_shares_give_back(struct rpc_shares *s, uid_t uid);

#endif
