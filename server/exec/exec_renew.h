#ifndef EXEC_RENEW_H
#define EXEC_RENEW_H
/* EXEC_CERTIFICATE: what the CA has revoked, and for a MOM that asks for one a certificate of the name that it has. The
 * one that it has shown must not be revoked by now: the connection may be about to be closed for that. */

struct rpc_request;
struct service;

/* certs: PBS_HOME/certs; s: of the connection. Answered before this returns; a host asks for a certificate once in some
 * months, and gets one an hour at most. */
void exec_renew_serve(const char *certs, struct service *s, struct rpc_request *r);

#endif
