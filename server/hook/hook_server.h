#ifndef HOOK_SERVER_H
#define HOOK_SERVER_H
/* Hooks of this server: the parts of the room together, and its door.
 *
 * The assembly creates it and binds the doors: gates of requests (hook_gate.h), what qmgr asks (hook_manage.h). While no
 * hook is enabled `*active` is 0, and nothing else is asked. Loop thread only. */
#include <stdint.h>

#include "attrib_render.h"
#include "hook_chain.h"
#include "hook_pool.h"
#include "hook_store.h"
#include "hooks.h"
#include "server_ctx.h"

struct alter_parts;
struct commit;
struct conf;
struct loop;
struct request;
struct schedulers;
struct services;
struct store;

struct hook_server_options {
    struct loop *loop;
    struct server_ctx *ctx;
    struct commit *commit;
    const struct conf *conf;
    struct schedulers *schedulers;
    const struct alter_parts *alter; /* filled in before the first request */
};

struct hook_server {
    struct hook_server_options o;
    struct hooks *hooks;
    struct hook_store *store;
    struct hook_chains chains;
    struct hook_pool *pool;
    struct hook_periodic *periodic;
    struct hook_hosts *hosts; /* hook_server_bind_hosts */
    struct hook_says *says;
    struct attrib_render *render;
    const uint32_t *active; /* enum hook_event_bit: some hook runs at it */
    char *program, *dir, *tmp, *daemon;
    char **env;
};

struct hook_server *hook_server_create(const struct hook_server_options *o, struct err *e);
/* The services exist: hooks of hosts can be sent to them. -1: no memory. */
int hook_server_bind_hosts(struct hook_server *s, struct services *services);
void hook_server_destroy(struct hook_server *s);

/* "anna", "Scheduler": who a request is from, as hooks are told. */
const char *hook_server_requestor(struct request *r);

#endif
