#ifndef MUNGE_LOGIN_H
#define MUNGE_LOGIN_H
/* Connections over TCP without a certificate. Users: inside TLS they show a MUNGE credential made for this
 * connection (request 95, Authenticate), and no other request is answered before. Hosts: with a token they get
 * their certificate (request 212, Join, join_request.h), and connect again with that.
 *
 * munged is asked by a worker, through libauth_munge.so, which is loaded at the first guest. Loop thread only. */
#include <stdbool.h>
#include <sys/types.h>

#include "err.h"

struct munge_login;
struct loop;
struct rpc_request;

struct munge_login_options {
    const char *module; /* path of libauth_munge.so; copied */
    const char *socket; /* munged's, or NULL; copied */
    const char *certs;  /* PBS_HOME/certs; copied */
    bool serves_all;    /* else only the server's own user is accepted */
};

/* NULL: no memory. */
struct munge_login *munge_login_create(struct loop *l, const struct munge_login_options *o, struct err *e);
void munge_login_destroy(struct munge_login *g);

/* Answer this call of a connection whose peer is AUTH_GUEST: Authenticate now or later, others with an RPC error. */
void munge_login_serve(struct munge_login *g, struct rpc_request *rpc);

#endif
