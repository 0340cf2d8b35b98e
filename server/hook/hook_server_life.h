#ifndef HOOK_SERVER_LIFE_H
#define HOOK_SERVER_LIFE_H
/* Begin and end of the room of hooks; above all its parts. The assembly calls these. */
#include "hook_server.h"

struct services;

/* Hooks as the store has them. NULL: e. */
struct hook_server *hook_server_create(const struct hook_server_options *o, struct err *e);
/* The services exist: hooks of hosts can be sent to them. -1: no memory. */
int hook_server_bind_hosts(struct hook_server *s, struct services *services);
void hook_server_destroy(struct hook_server *s);

#endif
