#ifndef HOOK_SERVER_H
#define HOOK_SERVER_H
/* Hooks of this server: what its parts share. hook_server_life.h begins and ends it; gates of requests (hook_gate.h) and what qmgr asks
 * (hook_manage.h) are its doors. While no hook is enabled `*active` is 0, and nothing else is asked. Loop thread only. */
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
struct schedulers;
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
    struct hook_hosts *hosts; /* from hook_server_bind_hosts on */
    struct hook_says *says;
    struct attrib_render *render;
    const uint32_t *active; /* enum hook_event_bit: some hook runs at it */
    char *program, *dir, *tmp, *daemon;
    char **env;
};

#endif
