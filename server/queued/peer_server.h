#ifndef PEER_SERVER_H
#define PEER_SERVER_H
/* A connection to the server of another complex: its host is looked up, TLS proves to each that the other is
 * trusted (our ca.crt is in its peers.crt, and its in ours), and procedure 0 confirms that it has accepted us.
 *
 *   peer_server_dial -> ready, then failed when it is lost -> peer_server_dial ...
 *             -> failed
 *
 * The owner decides when it is dialled again. Loop thread only. */
#include <stddef.h>

#include "err.h"

struct loop;
struct names;
struct peer_server;
struct peer_servers;
struct rpc_conn;

/* What all of them share. `certs`, PBS_HOME/certs, is read at each dialling, and borrowed for life; `port` is that of a
 * server which is named without one. `allowed`: the servers that may be named, host[:port] between commas, borrowed for life; NULL: any. Destroyed after `names`, when no peer is left. NULL: no memory. */
struct peer_servers *peer_servers_create(struct loop *l, struct names *n, const char *certs,
                                         const char *allowed, unsigned port);
void peer_servers_destroy(struct peer_servers *p);

struct peer_server_events {
    void (*ready)(void *arg, struct rpc_conn *c);
    /* There is none, or no more; of one that has never been ready the text is always the same, since any user names hosts and
     * ports; calls under way have had RPC_ST_LOST. It may be dialled again, or destroyed, here. */
    void (*failed)(void *arg, const struct err *why);
};

/* `server` is "host[:port]". NULL: its text (PBSE_IVALREQ ...), PBSE_PERM it is not allowed, or no memory. */
struct peer_server *peer_server_create(struct peer_servers *p, const char *server,
                                       const struct peer_server_events *ev, void *arg, struct err *e);
/* Hangs up; nothing is called any more. Before `names` goes. */
void peer_server_destroy(struct peer_server *x);

/* Not while it is dialled or connected. `failed` may be called inside. Each try goes to the next address of the host. */
void peer_server_dial(struct peer_server *x);
void peer_server_hang_up(struct peer_server *x); /* `failed` is not called */

#endif
