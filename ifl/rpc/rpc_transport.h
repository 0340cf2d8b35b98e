#ifndef RPC_TRANSPORT_H
#define RPC_TRANSPORT_H
/* The functions that rpc_sync reads and writes with, and the entry point of a module (libauth_tls.so) that adds TLS.
 *
 * All of it is non-blocking: -1 with EAGAIN when the descriptor must be waited for.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct rpc_transport {
    ssize_t (*read)(void *ctx, void *bytes, size_t n);        /* 0: end; -1: errno */
    ssize_t (*write)(void *ctx, const void *bytes, size_t n); /* -1: errno */
    /* n bytes that only the two ends of this connection know (RFC 5705). -1: e */
    int (*export)(void *ctx, const char *label, void *out, size_t n, struct err *e);
    void (*destroy)(void *ctx);
};

/* Symbol RPC_TRANSPORT_ENTRY of the module: handshake on `fd` (non-blocking; stays the caller's) as client,
 * within limit_ms. `role` NULL: no certificate is shown. `expect` is the role of the server's certificate; with
 * AUTH_TLS_ANY before it one of the complexes in peers.crt will do too. With AUTH_TLS_PIN and 64 hexadecimal digits before it,
 * and a colon, no file is read: the server shows its CA, whose certificate has this SHA-256. 0 with *t and *ctx set, or -1. */
#define AUTH_TLS_ANY        "any:"
#define AUTH_TLS_PIN        "pin:"
#define RPC_TRANSPORT_ENTRY "auth_tls_connect"
typedef int rpc_transport_connect_fn(int fd, const char *certs, const char *role, const char *expect,
                                     int64_t limit_ms, const struct rpc_transport **t, void **ctx,
                                     struct err *e);

#endif
