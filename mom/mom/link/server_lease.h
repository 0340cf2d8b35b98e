#ifndef SERVER_LEASE_H
#define SERVER_LEASE_H
/* $server_lease: a host that has had no server for so long ends its runs itself, since the server may have given them to
 * others. Off where the directive is not set (0). The server should wait longer than that (node_fail_requeue). */
#include <stdint.h>

#include "err.h"

struct lease;
struct parts;

/* From now on there is no server, until lease_kept. NULL: no memory. */
struct lease *lease_create(struct parts *m, struct err *e);
void lease_destroy(struct lease *l);

void lease_kept(struct lease *l);                    /* a server has accepted us */
void lease_runs(struct lease *l, int64_t silent_ms); /* it is lost, and was last heard of so long ago */

/* Silence after which the connection is tried out, so that its end is noticed before the lease is over; 0: as usual. */
int64_t lease_keepalive_ms(const struct parts *m);

#endif
