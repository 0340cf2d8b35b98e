#ifndef PEER_RPC_H
#define PEER_RPC_H
/* Letters between the shepherds of a job, one step: from a shepherd here to its sister's MOM, and from there to a shepherd here.
 * For main to bind; `arg` is struct mom. */

struct rpc_request;
struct run;
struct shep_letter_args;

void peer_relay_out(void *arg, struct run *r, struct rpc_request *q); /* shepherds_hooks.letter */
void peer_relay_in(void *arg, struct run *r, const struct shep_letter_args *a,
                   struct rpc_request *q); /* sisters_parts.deliver */

#endif
