#ifndef RPC_CALLS_H
#define RPC_CALLS_H
/* A call from a daemon: what is called, and what came of it. Making one is for rpc_conn.
 */
#include <stddef.h>

#include "err.h"
#include "rpc_match.h"
#include "rpc_msg.h"

struct rpc_outcome {
    enum rpc_status status;
    const struct err *why; /* text and errno unless RPC_ST_OK */
    const void *result;    /* decoded; borrowed for the call, freed after it; only with RPC_ST_OK */
};
typedef void rpc_outcome_fn(void *arg, const struct rpc_outcome *o);

struct rpc_call_spec {
    struct rpc_proc_id id;
    xdrproc_t xargs; /* NULL: none */
    const void *args;
    xdrproc_t xres; /* NULL: none */
    size_t res_size;
};

/* What is told besides, when the call is over: `arg` of the connection, and how much was asked. */
struct rpc_call_over {
    void (*fn)(void *arg, size_t asked);
    void *arg;
    size_t asked;
};

/* A call to be put under way with the core, which frees itself at its end. NULL: no memory. */
struct rpc_pending *rpc_calls_create(const struct rpc_call_spec *s, rpc_outcome_fn *fn, void *arg,
                                     struct err *e);
void rpc_calls_on_over(struct rpc_pending *p, const struct rpc_call_over *over);
void rpc_calls_drop(struct rpc_pending *p); /* one that is not under way */

#endif
