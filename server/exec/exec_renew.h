#ifndef EXEC_RENEW_H
#define EXEC_RENEW_H
/* EXEC_CERTIFICATE: what the CA has taken back, and for a MOM that asks for one a certificate of the name that it has. It
 * has shown the present one, which was not revoked. */

struct rpc_request;

/* certs: PBS_HOME/certs; service: of the connection. Answered before this returns; a host asks for a certificate once in some
 * months. */
void exec_renew_serve(const char *certs, const char *service, struct rpc_request *r);

#endif
