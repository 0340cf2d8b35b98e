#ifndef RPC_SYNC_H
#define RPC_SYNC_H
/* An RPC client for programs without a loop (libpbs): the core on poll and read.
 *
 * Any number of threads may use one connection. A thread that waits for an answer reads for all; no lock is held
 * while waiting. Errors are errno values: ETIMEDOUT, ECONNRESET (the peer has gone), EPIPE (was gone before),
 * EPROTONOSUPPORT, EBADMSG, EIO (RPC errors, see rpc_msg_err), EINVAL (arguments not encodable), ENOENT,
 * ECONNREFUSED, EACCES ... of connecting. Time-outs are milliseconds, < 0: none. The peer's own calls are answered:
 * procedure 0 with success, others PROG_UNAVAIL.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "rpc_buf.h"
#include "rpc_entries.h"
#include "rpc_msg.h"

struct rpc_sync;
struct rpc_sync_call;

/* --- connections */
struct rpc_sync *rpc_sync_connect_unix(const char *path, int64_t limit_ms, struct err *e); /* any length */

struct rpc_sync_tls {
    const char *module;  /* path of libauth_tls.so */
    const char *certs;   /* PBS_HOME/certs */
    const char *role;    /* whose certificate we show: "sched"; NULL: none */
    const char *expect;  /* role the peer must have: "server" */
    uint32_t prog, vers; /* whose procedure 0 asks for TLS */
};
/* TCP with TLS 1.3 (RFC 9289); never in the clear. `host` is a name or address. EPROTONOSUPPORT: the module
 * cannot be loaded, or the peer offers no TLS; EACCES: certificates. */
struct rpc_sync *rpc_sync_connect_tcp(const char *host, uint16_t port, const struct rpc_sync_tls *tls,
                                      int64_t limit_ms, struct err *e);
/* On a connected socket, owned from now on, also on failure. For tests of peers that speak without TLS. */
struct rpc_sync *rpc_sync_adopt(int fd, struct err *e);

/* No thread may be in a call. Calls not received end here: their handles are invalid. */
void rpc_sync_destroy(struct rpc_sync *s);
bool rpc_sync_is_open(struct rpc_sync *s); /* nothing has broken it so far */
/* n bytes that TLS makes for this connection and both ends know. -1: there is no TLS. */
int rpc_sync_export(struct rpc_sync *s, const char *label, void *out, size_t n, struct err *e);
int rpc_sync_fd(const struct rpc_sync *s); /* readable: some answer may be there; borrow */

/* --- one call */
/* 0, or -1. `result` is zeroed by the caller and freed with xdr_free(xres, result), also after -1. */
int rpc_sync_call(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs, const void *args,
                  xdrproc_t xres, void *result, int64_t limit_ms, struct err *e);

/* --- split: send, look at the descriptor, receive. A call belongs to the caller until recv or cancel. */
struct rpc_sync_call *rpc_sync_send(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs,
                                    const void *args, struct err *e);
/* Return true if the answer (or the connection's end) has come. Reads what is there, never waits. */
bool rpc_sync_is_ready(struct rpc_sync_call *c);
/* Wait for it. Frees the call, but not with ETIMEDOUT: then it may be received again, or cancelled. */
int rpc_sync_recv(struct rpc_sync_call *c, xdrproc_t xres, void *result, int64_t limit_ms, struct err *e);
void rpc_sync_cancel(struct rpc_sync_call *c); /* the answer will be dropped */

/* --- endless answers: the call is sent so; then head, next ..., tail (rpc_entries.h) with these, and cancel at
 * any moment frees it (the rest is skipped as it comes). Memory: one piece of 64 KB and one entry; only when
 * another call is waited for meanwhile, what comes before its answer is kept. */
struct rpc_sync_call *rpc_sync_send_entries(struct rpc_sync *s, const struct rpc_proc_id *id, xdrproc_t xargs,
                                            const void *args, struct err *e);
int rpc_sync_head(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e);
int rpc_sync_next(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e);
int rpc_sync_tail(struct rpc_sync_call *c, xdrproc_t codec, void *value, int64_t limit_ms, struct err *e);

#endif
