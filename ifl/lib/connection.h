#ifndef CONNECTION_H
#define CONNECTION_H
/* Connections by handle, and the calls under way on them by ticket.
 *
 * A handle (> 0) names a connection until pbs_disconnect(). It refers to a link, the counted rpc connection: a thread
 * in a call holds it, so that the handle may be closed, or given a new link after the server was lost, while others
 * still wait on the old one. Any thread; no lock is held while waiting.
 */
#include <stdbool.h>

#include "err.h"
#include "rpc_sync.h"

struct connection_link;

/* Borrow the rpc connection of handle c until connection_release. NULL: PBSE_NOCONNECTS not a handle. */
struct connection_link *connection_hold(int c, struct err *e);
struct rpc_sync *connection_rpc(const struct connection_link *l);
void connection_release(struct connection_link *l);

/* The server behind `old` was lost: connect to it again, or to the other of its pair, within limit_ms (of a pair,
 * which may have to take over: four times that), and put that link behind c for calls to come. Returns the new link, held. NULL: it could not be reached, or c has been closed. */
struct connection_link *connection_again(int c, struct connection_link *old, int64_t limit_ms, struct err *e);

/* --- tickets. `codec` tells how the answer is read, so that it is received by the function made for it. */
/* Take `call`, made on `l`. The ticket, or -1: no memory, the call is cancelled. */
int connection_add(int c, struct connection_link *l, struct rpc_sync_call *call, xdrproc_t codec,
                   struct err *e);

/* Take the call back for receiving: no other thread finds its ticket then. *l is held. NULL: PBSE_IVALREQ no
 * such ticket, or it answers another kind of call. codec NULL: any. */
struct rpc_sync_call *connection_take(int c, int ticket, xdrproc_t codec, struct connection_link **l,
                                      struct err *e);

#endif
