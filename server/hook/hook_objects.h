#ifndef HOOK_OBJECTS_H
#define HOOK_OBJECTS_H
/* Objects as hooks see them (doc/internals/hook-protocol.md, 5): everything that the server knows, as text. */
#include <jansson.h>

#include "hook_server.h"

struct request;
struct object;

/* {"name": ..., "attrs": {...}}; NULL: no memory. */
json_t *hook_objects_make(const struct hook_server *s, const struct object *o);
/* A reservation by its identifier, with or without the server; NULL: there is none. */
struct resv *hook_objects_find_resv(const struct hook_server *s, const char *name);

/* The answer to a query of a worker, for hook_pool_options; arg is the struct hook_server. */
void hook_objects_query(void *arg, const json_t *query, int64_t ticket);
/* The page that answers a query of any worker; NULL: no memory. `for_host`: root of a host reads it, and sees what an operator sees. */
json_t *hook_objects_page(const struct hook_server *s, const json_t *query, bool for_host);
/* The hello message, the generation of resources, and the message that says them, for the same. */
json_t *hook_objects_hello(void *arg);
unsigned hook_objects_resources_known(void *arg);
json_t *hook_objects_resources_message(void *arg);

/* "anna", "Scheduler": who a request is from, as hooks are told. */
const char *hook_objects_requestor(struct request *r);

#endif
