#ifndef RPC_REQUESTS_H
#define RPC_REQUESTS_H
/* The requests of one connection, as rpc_conn sees them: each call becomes a request, and all are detached when the
 * connection ends.
 */
#include <stddef.h>

#include "auth.h"
#include "rpc_core.h"
#include "rpc_request.h"

struct rpc_share;

struct rpc_requests {
    struct rpc_core *core;
    struct rpc_conn *conn;
    const struct rpc_served *served;
    const struct rpc_program
        *program;            /* of the first call: the kind of the connection; NULL: none has come */
    struct auth_peer *peer;  /* borrowed: the connection's */
    struct rpc_share *share; /* of the peer, counted by the connection; NULL: it has none */
    struct rpc_request *first;
    size_t n;      /* not answered yet */
    size_t memory; /* of all requests that are not freed */
    /* ^ There is something to send; `fatal`: the connection cannot go on. */
    void (*answered)(struct rpc_conn *c, const struct err *fatal);
    void (*wake)(struct rpc_conn *c);
    void (*over)(struct rpc_conn *c); /* a request's memory was given back */
    /* ^ A call was denied that ends the connection. */
    void (*denied)(struct rpc_conn *c, const struct err *why);
};

/* Look up, decode, hand over, or answer with the RPC error that fits. */
void rpc_requests_call(struct rpc_requests *q, const struct rpc_call_hdr *h);
void rpc_requests_die(struct rpc_requests *q); /* on_dead is called for each */

#endif
