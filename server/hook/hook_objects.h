#ifndef HOOK_OBJECTS_H
#define HOOK_OBJECTS_H
/* Objects as hooks see them (doc/hook-protocol.md, 5): everything that the server knows, as text. */
#include <jansson.h>

#include "hook_server.h"

struct object;

/* {"name": ..., "attrs": {...}}; NULL: no memory. */
json_t *hook_objects_make(const struct hook_server *s, const struct object *o);
/* A reservation by its identifier, with or without the server; NULL: there is none. */
struct resv *hook_objects_find_resv(const struct hook_server *s, const char *name);
/* Put one attribute into an `attrs`; value NULL removes it. -1: no memory. */
int hook_objects_put(json_t *attrs, const char *name, const char *resource, const char *value);

/* The answer to a query of a worker, for hook_pool_options; arg is the struct hook_server. */
json_t *hook_objects_query(void *arg, const json_t *query);
/* The hello message, the generation of resources, and the message that says them, for the same. */
json_t *hook_objects_hello(void *arg);
unsigned hook_objects_resources_known(void *arg);
json_t *hook_objects_resources_message(void *arg);

#endif
