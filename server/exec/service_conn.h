#ifndef SERVICE_CONN_H
#define SERVICE_CONN_H
/* Which connection is that of which service: a mark on the connection, from its first HELLO to its close.
 *
 * A HELLO that waits or is refused for now marks its connection too: when that closes, the vnodes that are being handed over to
 * the service stay where they are. When a bound connection closes, the service is away. Loop thread only. */
#include <stdbool.h>

struct node_watch;
struct rpc_conn;
struct server_ctx;
struct service;

struct service_conn {
    struct server_ctx *ctx;
    struct node_watch *watch;
    struct service *service;
    bool waits; /* its HELLO is not accepted yet */
};

/* The mark of this connection; NULL: it has said no HELLO. Owned by the connection. */
struct service_conn *service_conn_find(const struct rpc_conn *c);
/* The same, made if there is none: then it waits. NULL: no memory. */
struct service_conn *service_conn_get(struct rpc_conn *c, struct server_ctx *ctx, struct node_watch *watch,
                                      struct service *s);
/* The service speaks by `c` from now on; its HELLO is yet to be answered. An older connection is closed, without telling that the
 * service is away. Where the same program has said HELLO again (not another start of it), requests that wait on the older
 * connection wait for the answer to that HELLO: what was not answered there was not read. */
void service_conn_replace(struct service *s, struct rpc_conn *c, bool is_same_program);

#endif
