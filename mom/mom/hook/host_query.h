#ifndef HOST_QUERY_H
#define HOST_QUERY_H
/* What hooks of this host read of the server (pbs.server()): each question is a call, HOOK_QUERY. Loop thread only. */
#include <jansson.h>
#include <stdint.h>

/* For hook_pool_options.query; arg is the struct host_hooks. Without a server the script gets an error that says so. */
void host_query_ask(void *arg, const json_t *query, int64_t ticket);

#endif
