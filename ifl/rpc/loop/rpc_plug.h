#ifndef RPC_PLUG_H
#define RPC_PLUG_H
/* Sockets for rpc_conn and rpc_server: dialling without waiting, listening, options. Loop-free.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

struct rpc_conn_target;
struct ssl_ctx_st;

/* A socket on its way to the target: *done when it is connected already. -1: e. */
int rpc_plug_dial(const struct rpc_conn_target *t, bool *done, struct err *e);
void rpc_plug_tune(int fd); /* TCP: no delay, keepalive, user time-out; others: nothing */

/* Listening sockets, or -1: EADDRINUSE another program answers there. */
int rpc_plug_listen_unix(const char *path, mode_t mode, struct err *e);
int rpc_plug_listen_tcp(const char *address, uint16_t port, uint16_t *bound, struct err *e);

struct ssl_ctx_st *rpc_plug_ref_context(struct ssl_ctx_st *ctx); /* NULL stays NULL */
void rpc_plug_free_context(struct ssl_ctx_st *ctx);

#endif
