#ifndef CERT_WATCH_H
#define CERT_WATCH_H
/* What changes in PBS_HOME/certs while the server runs: connections whose certificate has been revoked are closed,
 * and the server's own certificate is renewed in time. Loop thread only. */
#include "err.h"

struct cert_watch;
struct loop;
struct rpc_server;
struct ssl_ctx_st;

/* All is borrowed for life. NULL: e. */
struct cert_watch *cert_watch_create(struct loop *l, struct ssl_ctx_st *tls, struct rpc_server *server,
                                     const char *certs, struct err *e);
void cert_watch_destroy(struct cert_watch *w);

#endif
