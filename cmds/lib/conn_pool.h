#ifndef CONN_POOL_H
#define CONN_POOL_H
/* The connections of a command, one to each server that it talks to.
 *
 * A server is connected to when it is first needed; one that could not be reached is not tried again.
 */
#include "cmd.h"

enum { CONN_POOL_MAX = 64 };

struct conn_pool;

/* NULL: no memory, after a message. */
struct conn_pool *conn_pool_create(const struct cmd_args *a);
void conn_pool_destroy(struct conn_pool *p); /* disconnects */
void conn_pool_silence(struct conn_pool *p); /* print no reasons */
/* Disconnect from all servers: each is connected to again when it is next needed, also one that could not be reached. */
void conn_pool_forget(struct conn_pool *p);

/* Return a connection to `server` ("host[:port]"; "" or NULL: the default server). -1: the server cannot be reached;
 * pbs_errno is the number, and the reason has been printed, once for each server. */
int conn_pool_connect(struct conn_pool *p, const char *server);

#endif
