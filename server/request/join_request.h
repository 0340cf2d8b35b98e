#ifndef JOIN_REQUEST_H
#define JOIN_REQUEST_H
/* Request 212, Join: a host that shows a token (ifl/rpc/tls/join_token.h) gets a certificate as mom:HOST, for
 * the key in its request, and the CA's; one that names no host gets the CA's alone. The rest of its request does not count. Loop
 * thread only. */

struct rpc_request;

/* certs: PBS_HOME/certs. Answered before this returns: a join writes two small files, and comes once in the life of a host. */
void join_request_serve(const char *certs, struct rpc_request *rpc);

#endif
