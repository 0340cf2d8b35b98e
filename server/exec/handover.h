#ifndef HANDOVER_H
#define HANDOVER_H
/* Vnodes that change their execution service: from a MOM to a simulator, and back.
 *
 * Only a simulator may take a vnode whose service is here, and only when nothing runs on it: until then the vnode is
 * drained (offline_by_mom, with a comment), and the simulator is told to wait. When it leaves, its vnodes go back to
 * the services that had them, which are asked to send HELLO again. Loop thread only. */
#include <exec.h>

#include "err.h"
#include "node.h"
#include "services.h"

struct server_ctx;

/* Check whether `from` may have all the vnodes of its HELLO now. 0, or -1 with nothing bound:
 *   PBSE_NODE_BUSY  no: another one that is here serves a vnode, or one that is away has runs on it
 *   EAGAIN          not yet: some vnodes are being drained for it */
int handover_ask(struct server_ctx *s, struct service *from, const exec_hello_args *a, struct err *e);

/* `n` is about to be bound to `from`. */
void handover_take(struct server_ctx *s, struct service *from, struct node *n);
/* `from` will not take what is drained for it. */
void handover_stop(struct server_ctx *s, const struct service *from);
/* `from` has left: what it took and nothing runs on goes back. */
void handover_back(struct server_ctx *s, struct services *sv, struct service *from);

#endif
