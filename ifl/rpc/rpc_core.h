#ifndef RPC_CORE_H
#define RPC_CORE_H
/* One RPC connection without I/O: bytes in, records out, calls in both directions (RFC 8167).
 *
 * Its driver (rpc_conn on the loop, rpc_sync on poll) passes what it has read to rpc_core_input and sends what
 * collects in rpc_core_output. xids are matched per direction: both sides may use the same at once. Records are never
 * interleaved: while a long record (endless answer) is under way, others wait behind it. Not safe for threads;
 * callbacks may call everything here but rpc_core_destroy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "rpc_match.h"
#include "rpc_msg.h"

struct rpc_core;

struct rpc_core_events {
    /* The peer calls. `h` and its bytes are borrowed for this call. The callee answers once, at any time, by xid. */
    void (*call)(void *arg, const struct rpc_call_hdr *h);
};

/* `limit` is that of a record coming in (RPC_LIMIT_*). NULL: no memory. */
struct rpc_core *rpc_core_create(const struct rpc_core_events *events, void *arg, size_t limit);
void rpc_core_destroy(struct rpc_core *c); /* calls under way are not told; long records are ended */

void rpc_core_set_limit(struct rpc_core *c, size_t limit);

/* Bytes came in. How many were used: all n, unless rpc_core_stop was called meanwhile. -1 EMSGSIZE, EBADMSG:
 * the peer broke the protocol, close the connection. */
ptrdiff_t rpc_core_input(struct rpc_core *c, const void *bytes, size_t n, struct err *e);
void rpc_core_stop(struct rpc_core *c,
                   bool stop); /* take no further record, of this input nor later; or again */
bool rpc_core_is_inside(const struct rpc_core *c); /* a record has come in part */

/* What is to be sent; the driver takes from the front with byte_buf_drop or byte_buf_swap. */
struct byte_buf *rpc_core_output(struct rpc_core *c);
size_t rpc_core_held(const struct rpc_core *c); /* bytes that wait behind a long record */

/* --- calling */
/* `p` (ops set; memory of the caller until its end) becomes a call under way. -1: EINVAL the arguments cannot
 * be encoded, ENOMEM; then nothing is sent and p is not under way. */
int rpc_core_call(struct rpc_core *c, struct rpc_pending *p, const struct rpc_proc_id *id, xdrproc_t xargs,
                  const void *args, struct err *e);
/* The same with arguments encoded before (n a multiple of 4), for one order to many peers. */
int rpc_core_call_bytes(struct rpc_core *c, struct rpc_pending *p, const struct rpc_proc_id *id,
                        const void *bytes, size_t n, struct err *e);
/* Procedure 0 with credential AUTH_TLS (RFC 9289). */
int rpc_core_call_starttls(struct rpc_core *c, struct rpc_pending *p, uint32_t prog, uint32_t vers,
                           struct err *e);
void rpc_core_forget(struct rpc_core *c, struct rpc_pending *p); /* its answer will be dropped */
size_t rpc_core_under_way(const struct rpc_core *c);             /* calls without an answer; for tests */
void rpc_core_fail(struct rpc_core *c, const struct err *why);   /* every call under way is lost */

/* --- answering, each once per call received. -1: EINVAL the result cannot be encoded (the peer has then got
 * SYSTEM_ERR), ENOMEM (it has got nothing: close). */
int rpc_core_reply(struct rpc_core *c, uint32_t xid, xdrproc_t xres, const void *result, struct err *e);
int rpc_core_reply_error(struct rpc_core *c, uint32_t xid, enum rpc_status status, uint32_t low,
                         uint32_t high, struct err *e);
int rpc_core_reply_starttls(struct rpc_core *c, uint32_t xid, struct err *e);

/* --- a record that is made fragment by fragment (rpc_entries) */
struct rpc_long {
    struct rpc_long *next; /* private */
    bool is_news;          /* not to wait behind other connections' long records */
    /* Append the contents of the next fragment. 1: done so; 0: nothing now; -1: cannot go on (close). */
    int (*fill)(struct rpc_long *l, struct byte_buf *out, bool *last);
    void (*end)(struct rpc_long *l); /* sent in whole, or the core is destroyed: free it */
};
void rpc_core_add_long(struct rpc_core *c, struct rpc_long *l); /* taken; sent after those added before */
/* Make one fragment into the output. 1: made; 0: no long record is left; -1: it has nothing now, or *failed */
int rpc_core_pull(struct rpc_core *c, bool *failed);
bool rpc_core_has_long(const struct rpc_core *c);
bool rpc_core_has_news(const struct rpc_core *c); /* the next long record has is_news */

#endif
