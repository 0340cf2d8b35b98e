#ifndef EXEC_TAKE_H
#define EXEC_TAKE_H
/* Events of execution services: applied once, in order, and acknowledged when durable.
 *
 * An event is known by (job, run, service, seq). One of another run, or of a host that was given up, is
 * answered "unknown run": the service may drop it. A repeat is acknowledged again; a gap is not acknowledged,
 * so that the service sends again from there. What an event changes beyond the run is told as a run event, or posted to the
 * machine, before the next event is applied. */
#include <exec.h>

#include "job.h"

struct commit;
struct exec_take;
struct job_fsm;
struct rpc_request;
struct services;
struct server_ctx;

struct exec_take *exec_take_create(struct server_ctx *s, struct services *sv, struct job_fsm *f,
                                   struct commit *c);
void exec_take_destroy(struct exec_take *t);

/* EXEC_EVENTS and EXEC_USAGE of a service whose HELLO was accepted. */
void exec_take_events(struct exec_take *t, const char *service, struct rpc_request *r);
void exec_take_usage(struct exec_take *t, const char *service, const exec_usage_args *u);

#endif
