#ifndef HOOK_POOL_H
#define HOOK_POOL_H
/* The workers: started when there is work, kept, killed at the alarm, replaced. And the work that waits for them.
 *
 * Work is a run of one hook for one event, or a check of what is to be imported. It is done by the first worker that is free: checks,
 * then runs that a client waits for, then others, each in the order in which they come; each is answered once. Loop thread only. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hooks.h"

struct loop;
struct hook_pool;

enum hook_result {
    HOOK_ACCEPT,
    HOOK_REJECT,
    HOOK_ERROR,    /* the script raised, or its process ended */
    HOOK_ALARM,    /* it took longer than its alarm */
    HOOK_INTERNAL, /* no script ran: there is no worker, or no memory */
    HOOK_DROPPED   /* the server ends: nothing is to be done any more */
};

struct hook_outcome {
    enum hook_result result;
    const char *message;  /* of reject(), or what a check found; NULL: none */
    const json_t *answer; /* the whole message; NULL: there is none */
};
/* Everything is borrowed for the call. */
typedef void hook_done_fn(void *arg, const struct hook_outcome *o);

struct hook_pool_options {
    struct loop *loop;
    const struct hooks *hooks;
    const char *program; /* libexec/pbs_hook_worker; texts are borrowed for life */
    const char *cwd;     /* hooks/tmp */
    char *const *env;    /* NULL terminated */
    const char *daemon;  /* "Server@host": the object of records of a hook */
    const char *action;  /* of its lines hook_perf_stat: "server_process_hooks", "mom_process_hooks" */
    json_t *(*hello)(void *arg); /* the hello message, new; NULL: no memory */
    /* A worker asks for objects. Answer by hook_pool_page with this ticket, perhaps inside the call. */
    void (*query)(void *arg, const json_t *query, int64_t ticket);
    unsigned (*resources_known)(void *arg); /* rises whenever resources are made, changed or removed */
    json_t *(*resources)(void *arg);        /* the message that says them, new; NULL: no memory */
    void *arg;
};

struct hook_pool *hook_pool_create(const struct hook_pool_options *o); /* NULL: no memory */
void hook_pool_destroy(struct hook_pool *p); /* all work is answered with HOOK_DROPPED */

struct hook_run {
    const char *hook;
    const char *event;
    uint32_t type;
    const char *requestor, *requestor_host;
    const char *user; /* whose rights it has; NULL: the daemon's */
    json_t *data;     /* a reference is taken */
    bool asked;       /* a client waits for it */
};
/* The page that answers a query, taken; NULL: no memory, the worker is ended. A ticket whose run is over is ignored. */
void hook_pool_page(struct hook_pool *p, int64_t ticket, json_t *page);

/* Run a hook. -1: no memory, or too much work waits; nothing will be answered. */
int hook_pool_run(struct hook_pool *p, const struct hook_run *r, hook_done_fn *done, void *arg,
                  struct err *e);

/* Ask whether a script (kind "script") or a configuration file ("config") is right: HOOK_ACCEPT, or HOOK_REJECT with the message. */
int hook_pool_check(struct hook_pool *p, const char *kind, const char *name, const char *bytes, size_t n,
                    hook_done_fn *done, void *arg, struct err *e);

#endif
