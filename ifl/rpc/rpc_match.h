#ifndef RPC_MATCH_H
#define RPC_MATCH_H
/* Calls under way, found by xid. The entries are embedded in the caller's objects: no memory per call.
 */
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "rpc_msg.h"

struct rpc_pending;

/* ^ What becomes of a call. Exactly one of `reply`, or the last `piece`, or `lost` is the end: the entry is
 * out of the table before that call, and may be freed in it. */
struct rpc_pending_ops {
    void (*reply)(struct rpc_pending *p, const struct rpc_reply_hdr *r); /* borrowed for the call */
    /* If not NULL, an answer may be endless and `reply` is never used: contents of the record, header
     * included, as they come in. n may be 0 with `end`. */
    void (*piece)(struct rpc_pending *p, const char *bytes, size_t n, bool end);
    void (*lost)(struct rpc_pending *p, const struct err *why);
};

struct rpc_pending {
    struct rpc_pending *next; /* private */
    uint32_t xid;
    const struct rpc_pending_ops *ops;
};

struct rpc_match {
    struct rpc_pending **slots;
    size_t n_slots, n;
    uint32_t next_xid;
};

void rpc_match_init(struct rpc_match *m, uint32_t first_xid);
void rpc_match_fini(struct rpc_match *m); /* entries are not told */

/* Give it an xid that no call under way has, and remember it. -1: no memory. */
int rpc_match_add(struct rpc_match *m, struct rpc_pending *p);
struct rpc_pending *rpc_match_find(const struct rpc_match *m, uint32_t xid);
void rpc_match_remove(struct rpc_match *m, struct rpc_pending *p); /* must be in */
struct rpc_pending *rpc_match_any(const struct rpc_match *m);      /* borrow one, NULL: none */

#endif
