#ifndef EXEC_HELLO_H
#define EXEC_HELLO_H
/* HELLO: an execution service registers, and both sides agree about every run.
 *
 * HELLO is refused to a peer whose certificate does not name the service, to another protocol version, to one
 * that has obeyed a server of a higher epoch (then this server is the old one), and to a second service of a name
 * that is here. Until it is accepted nothing else is answered, and it is accepted when all that its answer rests
 * on is durable: what the answer says is applied, the service may forget. */
#include <exec.h>

#include "rpc_request.h"

struct commit;
struct exec_hello;
struct exec_send;
struct exec_take;
struct job;
struct node_watch;
struct store_reader;
struct service;
struct services;
struct server_ctx;
struct virtual_time;

/* ^ What is above exec has to do with the hooks of hosts; all of it may be NULL. */
struct exec_hello_hooks {
    /* Its HELLO was answered, and no order has left yet; `has` is the digest of its hook files. */
    void (*greeted)(void *arg, struct service *s, const wire_ext *has);
    /* GET_HOOK, HOOK_SAYS, HOOK_QUERY of it: to be answered, now or later. */
    void (*piece)(void *arg, struct service *s, struct rpc_request *r);
    void (*says)(void *arg, struct service *s, struct rpc_request *r);
    void (*query)(void *arg, struct service *s, struct rpc_request *r);
    void *arg;
};

struct exec_hello_parts {
    struct server_ctx *ctx;
    struct services *services;
    struct exec_send *send;
    struct exec_take *take;
    struct node_watch *watch;
    struct commit *commit;
    struct store_reader *store_reader; /* scripts */
    struct virtual_time *time;
    const char *certs; /* PBS_HOME/certs; borrowed for life */
    struct exec_hello_hooks hooks;
};

struct exec_hello *exec_hello_create(const struct exec_hello_parts *p);
void exec_hello_destroy(struct exec_hello *x);

/* What it was created with, for the calls that follow HELLO (exec_calls.c). */
const struct exec_hello_parts *exec_hello_parts(const struct exec_hello *x);

/* Return true for a program of this host that runs as this server does, or as root: both can read the server's key, so it needs
 * no certificate. */
bool exec_hello_is_ours(const struct auth_peer *peer);

/* The handler of EXEC_HELLO. */
void exec_hello_serve(void *exec_hello, struct rpc_request *r);

#endif
