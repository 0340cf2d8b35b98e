#ifndef EXEC_TAKE_H
#define EXEC_TAKE_H
/* Events of execution services: applied once, in order, and acknowledged when durable.
 *
 * An event is known by (job, run, service, seq). One of another run, or of a host that was given up, is
 * answered "unknown run": the service may drop it. A repeat is acknowledged again; a gap is not acknowledged,
 * so that the service sends again from there. */
#include <exec.h>

#include "job.h"

struct commit;
struct exec_take;
struct job_fsm;
struct rpc_request;
struct runs;
struct services;
struct server_ctx;

/* ^ what lies above: called after the run was changed, before anything else is applied. */
struct exec_take_hooks {
    void *arg;
    void (*ready)(void *arg, struct job *j);                         /* a host is prepared */
    void (*released)(void *arg, struct job *j, const char *service); /* a host is over, and perhaps the run */
    void (*suspended)(void *arg, struct job *j);                     /* one host more */
    void (*resumed)(void *arg, struct job *j);
    void (*checkpointed)(void *arg, struct job *j, const char *service, const exec_checkpointed_data *d);
    void (*no_image)(void *arg, struct job *j,
                     const char *why); /* it starts without the image that START named */
    void (*failed)(void *arg, struct job *j, const char *method, int code, const char *text);
    void (*noticed)(void *arg, struct job *j, const exec_notice_data *d); /* the job answers a notice */
    void (*files)(void *arg, struct job *j, const char *service,
                  const char *note);                                  /* some could not be delivered */
    void (*used)(void *arg, struct job *j);                           /* its usage was reported */
    void (*attention)(void *arg, const char *node, const char *note); /* the node needs a person */
};

struct exec_take *exec_take_create(struct server_ctx *s, struct services *sv, struct job_fsm *f,
                                   struct commit *c, const struct exec_take_hooks *hooks);
void exec_take_destroy(struct exec_take *t);

/* EXEC_EVENTS and EXEC_USAGE of a service whose HELLO was accepted. */
void exec_take_events(struct exec_take *t, const char *service, struct rpc_request *r);
void exec_take_usage(struct exec_take *t, const char *service, const exec_usage_args *u);

#endif
