#ifndef SERVER_LINK_H
#define SERVER_LINK_H
/* What the exec service (ifl/exec) wants to know of this MOM: what we are and hold, what was decided, what there is to
 * send. `arg` of all is struct mom. */
#include "exec_service.h"

extern const struct exec_service_hooks server_link_hooks;

/* The outbox has something (wake of journal_outbox). */
void server_link_wake(void *arg);

/* Connect, for life. `tls` is borrowed. NULL: e. */
struct mom;
struct exec_service *server_link_create(struct mom *m, struct ssl_ctx_st *tls, struct err *e);

/* Dynamic resources have other amounts. */
void server_link_say_resources(struct mom *m);
/* Another adapter saves jobs here than before, or others could (ckpt_adapters.h). */
void server_link_say_checkpoint(struct mom *m);
/* The host is in use, or no more. */
void server_link_say_busy(struct mom *m);

#endif
