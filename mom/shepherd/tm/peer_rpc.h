#ifndef PEER_RPC_H
#define PEER_RPC_H
/* Questions to the shepherds on other hosts of the job, by way of the MOMs.
 *
 * A letter is sent again, under its number, until it is answered, the other host has been out of reach for
 * PEER_RPC_LIMIT_MS, or it says that the run is not there: so a MOM in between may die at any moment.
 */
#include <stdint.h>

#include <tm.h>

struct peer_rpc;
struct mom_link;

enum { PEER_RPC_LIMIT_MS = 300000 };

struct peer_rpc *peer_rpc_create(struct mom_link *l); /* NULL: no memory */
void peer_rpc_destroy(struct peer_rpc *l); /* after the link; a caller that waits gets TM_ESYSTEM */

/* Ask `host`; fn is called once, perhaps inside this, with the answer, however late that is, or with TM_ESYSTEM and a text. */
typedef void peer_rpc_fn(void *arg, const struct tmx_answer *a);
void peer_rpc_send(struct peer_rpc *l, unsigned host, const struct tmx_ask *ask, peer_rpc_fn *fn, void *arg);

int peer_rpc_wait_ms(const struct peer_rpc *l); /* until peer_rpc_turn has something to do; -1: nothing */
void peer_rpc_turn(struct peer_rpc *l);

#endif
