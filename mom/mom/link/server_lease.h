#ifndef SERVER_LEASE_H
#define SERVER_LEASE_H
/* $server_lease: a host that has had no server for so long ends its runs itself, since the server may have given them to
 * others. Off where the directive is not set (0). The server should wait longer than that (node_fail_requeue). */
#include <stdint.h>

#include "err.h"

struct server_lease;
struct mom;

/* From now on there is no server, until server_lease_renew. NULL: no memory. */
struct server_lease *server_lease_create(struct mom *m, struct err *e);
void server_lease_destroy(struct server_lease *l);

void server_lease_renew(struct server_lease *l); /* a server has accepted us */
void server_lease_start(struct server_lease *l,
                        int64_t silent_ms); /* it is lost, and was last heard of so long ago */

/* Silence after which the connection is tried out, so that its end is noticed before the lease is over; 0: as usual. */
int64_t server_lease_keepalive_ms(const struct mom *m);

#endif
