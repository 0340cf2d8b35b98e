#ifndef HOOK_SAYS_H
#define HOOK_SAYS_H
/* What hooks of execution hosts ask of the server, done: changes of their job and of vnodes, a requeue, a deletion, vnodes offline, a
 * new cycle of the schedulers. Root of a host can make its MOM say anything: only its own vnodes, new ones, and the job of that run
 * are touched. Loop thread only. */
#include "hook_server.h"

struct rpc_request;
struct server_event;
struct service;
struct services;

struct hook_says;

struct hook_says *hook_says_create(struct hook_server *s, struct services *services); /* NULL: no memory */
void hook_says_destroy(struct hook_says *x);

/* Listener of EVENT_RUN_HOOK: of a run; arg is the struct hook_server. */
void hook_says_on_run(void *arg, const struct server_event *ev);
/* HOOK_SAYS: of the host itself. */
void hook_says_serve(void *arg, struct service *s, struct rpc_request *r);

#endif
