#ifndef RPC_BACKLOG_H
#define RPC_BACKLOG_H
/* Calls that wait in the order in which they came, as bytes: received ones that are not taken in yet, and our own
 * that are not sent yet. */
#include <stdbool.h>
#include <stddef.h>

#include "rpc_msg.h"

struct rpc_pending;

struct rpc_backlog_call {
    struct rpc_backlog_call *next;
    struct rpc_call_hdr h; /* of a received call; `args` lie behind this struct. Of ours: id, args, n_args */
    struct rpc_pending *pending; /* of ours */
    _Alignas(8) char bytes[];
};

struct rpc_backlog { /* all zero: empty */
    struct rpc_backlog_call *first, *last;
    size_t n, bytes; /* what they take of memory */
};

/* The header and its arguments are copied. -1: no memory. */
int rpc_backlog_add(struct rpc_backlog *b, const struct rpc_call_hdr *h, struct rpc_pending *p);
struct rpc_backlog_call *
rpc_backlog_take(struct rpc_backlog *b); /* the first one; free() it. NULL: there is none */

#endif
