#ifndef RUN_HOSTS_H
#define RUN_HOSTS_H
/* A run host by host: made from an exec_vnode, then ready, started, released or lost one by one.
 *
 * The only writer of struct run's hosts. A caller that changes a host notes it in the change list by jobs_touch. When
 * the last host is over, EV_RUN_OVER is posted, by job_end.c. */
#include "exec_vnode.h"
#include "job_run.h"

struct services;
struct server_ctx;

/* A new run of `j` on these vnodes: one host a service, the first chunk's host first.
 * -1: PBSE_RESCUNAV a vnode has no service, PBSE_UNKNODE, PBSE_SYSTEM. */
int run_hosts_make(struct server_ctx *s, struct job *j, const struct exec_vnode *where, unsigned version,
                   struct run **out, struct err *e);

bool run_hosts_all_ready(const struct run *r);     /* the first, and all others that are not given up */
bool run_hosts_all_suspended(const struct run *r); /* of those that hold it */
void run_hosts_clear_suspended(struct run *r);

/* The vnodes of `r` that this host's service serves are free again. */
void run_hosts_release(struct server_ctx *s, struct job *j, struct run_host *h, enum run_host_state how);

#endif
