#ifndef RPC_SERVER_H
#define RPC_SERVER_H
/* Listeners, and the connections they bring: unix sockets (identity by the kernel), TCP with TLS 1.3
 * (identity by a certificate of the complex; in the clear procedure 0 alone). Loop thread only.
 *
 * Too many connections, of all or of one user, or no descriptor left: a new one is closed at once. Too many that have
 * not authenticated: the oldest one of the address that has most of them is closed (rpc_strangers.h). One log line a
 * minute.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "rpc_conn.h"
#include "rpc_shares.h"

struct loop;
struct rpc_server;
struct ssl_ctx_st;

struct rpc_server_options {
    const char *name;                     /* for the log: "server" */
    const struct rpc_served *served;      /* ended by {NULL, NULL}; static */
    struct ssl_ctx_st *tls;               /* for TCP; counted up; NULL: strangers stay strangers */
    bool guests;                          /* a peer without a certificate is accepted as AUTH_GUEST */
    const struct rpc_conn_events *events; /* of every connection; may be NULL. `arg` with it. */
    void *arg;
    size_t max_connections; /* 0: 20,000; the limit of open files is raised towards it, and bounds it */
    /* The share of each user, except root and our own, and of each MOM. Defaults for 0: a quarter of max_connections
     * (also the most); 64 MB; 64 MB; no limit of calls. */
    struct rpc_share_limits each;
    int64_t unread_ms;    /* as in rpc_conn.h */
    size_t max_strangers; /* TCP connections without identity yet; 0: 256 */
    int64_t stranger_ms;  /* they have this long; 0: 10 s */
    int64_t keepalive_ms; /* of daemons, as in rpc_conn.h; clients may be silent for ever */
    size_t client_limit;  /* record of a local client; 0: RPC_LIMIT_CLIENT */
    size_t daemon_limit;  /* of a daemon; 0: RPC_LIMIT_DAEMON */
};

struct rpc_server_counts {
    size_t connections, strangers;
    uint64_t accepted, refused, calls, broken;
};

struct rpc_server *rpc_server_create(struct loop *l, const struct rpc_server_options *o, struct err *e);
void rpc_server_destroy(struct rpc_server *s); /* listeners and connections; `closed` is called for each */

/* A socket file on which no program answers is replaced; EADDRINUSE: a program does. `mode` as chmod. */
int rpc_server_listen_unix(struct rpc_server *s, const char *path, mode_t mode, struct err *e);
/* `address` numeric or NULL: all. Port 0: any. The port, or -1. */
int rpc_server_listen_tcp(struct rpc_server *s, const char *address, uint16_t port, struct err *e);

void rpc_server_each(struct rpc_server *s, void (*fn)(void *arg, struct rpc_conn *c), void *arg);
/* For tests, which wait for a number. */
struct rpc_server_counts rpc_server_get_counts(const struct rpc_server *s);

#endif
