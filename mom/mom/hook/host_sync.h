#ifndef HOST_SYNC_H
#define HOST_SYNC_H
/* HOOKS of the server: get the files that differ, in pieces, then make them those of this host. A run that is to start meanwhile
 * waits for them, since its hooks may be among them. Loop thread only. */
#include <stdbool.h>

struct host_hooks;
struct host_sync;
struct mom;
struct rpc_request;

struct host_sync *host_sync_create(struct host_hooks *x); /* NULL: no memory */
void host_sync_destroy(struct host_sync *s);

/* The order EXEC_HOOKS; answered when the files are here. Another one before that takes its place. */
void host_sync_take(void *mom, const void *args, struct rpc_request *q);
/* Files are on their way. */
bool host_sync_is_busy(const struct mom *m);
/* ^ They are no longer: they are here, or do not come. One listener; arg is the struct mom. */
void host_sync_on_over(struct mom *m, void (*fn)(struct mom *m));

#endif
