#ifndef RPC_DIAL_H
#define RPC_DIAL_H
/* A client's socket for rpc_sync: dialling with a time limit, reading and writing, and TLS from a module.
 *
 * A deadline is a moment of the real monotonic clock in ms; RPC_NEVER waits for ever. The struct is the caller's
 * memory; fields are read only. One thread may read while another writes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "err.h"

struct rpc_transport;

struct rpc_dial {
    int fd;
    const struct rpc_transport *transport; /* NULL: plain */
    void *ctx;
    void *module; /* of dlopen */
};

#define RPC_NEVER INT64_MAX
int64_t rpc_dial_deadline_in(int64_t limit_ms); /* < 0: RPC_NEVER */
bool rpc_dial_deadline_is_over(int64_t deadline);
bool rpc_dial_deadline_spec(int64_t deadline, struct timespec *t); /* CLOCK_MONOTONIC; false: RPC_NEVER */

/* 0 with *d connected and non-blocking, or -1: ENOENT, ECONNREFUSED, ETIMEDOUT, EACCES, EHOSTUNREACH ... */
int rpc_dial_unix(struct rpc_dial *d, const char *path, int64_t limit_ms, struct err *e);
int rpc_dial_tcp(struct rpc_dial *d, const char *host, uint16_t port, int64_t deadline, struct err *e);
int rpc_dial_adopt(struct rpc_dial *d, int fd, struct err *e); /* takes fd, also on failure */
void rpc_dial_close(struct rpc_dial *d);

/* TLS from here on (rpc_transport.h). -1: EPROTONOSUPPORT the module cannot be loaded, or what it says. */
int rpc_dial_secure(struct rpc_dial *d, const char *module, const char *certs, const char *role,
                    const char *expect, int64_t deadline, struct err *e);

/* n > 0 bytes, waiting until the deadline (0: not at all). -1: EAGAIN nothing came, ECONNRESET the peer has
 * gone, others. */
ssize_t rpc_dial_read(struct rpc_dial *d, void *bytes, size_t n, int64_t deadline, struct err *e);
/* How many were taken; -1: EAGAIN, EPIPE ... Never waits. */
ssize_t rpc_dial_write(struct rpc_dial *d, const void *bytes, size_t n, struct err *e);
bool rpc_dial_is_readable(const struct rpc_dial *d);

#endif
