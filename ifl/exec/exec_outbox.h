#ifndef EXEC_OUTBOX_H
#define EXEC_OUTBOX_H
/* Sends a journal's events over a connection until they are acknowledged: a few calls of up to 256 events are
 * under way at once; when the server missed one, all come back, and it begins again with the oldest.
 */
#include "exec_service.h"

struct exec_outbox;

struct exec_outbox *exec_outbox_create(struct loop *l, const struct exec_service_journal *j, void *arg,
                                       const char *name); /* NULL: no memory. All borrowed for life. */
void exec_outbox_destroy(struct exec_outbox *o);

void exec_outbox_open(struct exec_outbox *o, struct rpc_conn *c); /* accepted: from the oldest one on */
void exec_outbox_close(struct exec_outbox *o); /* it has gone, or is destroyed right after this */
void exec_outbox_pump(struct exec_outbox *o);  /* there may be new ones */

#endif
