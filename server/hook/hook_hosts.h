#ifndef HOOK_HOSTS_H
#define HOOK_HOSTS_H
/* The hooks of execution hosts at the server: which files each MOM is to have, and their way there.
 *
 * A MOM is told the whole list (EXEC_HOOKS), asks for the files that differ (GET_HOOK), and answers when it has them. That is
 * done when a hook changes, when a MOM says HELLO with another digest than ours, and again until it has answered. While no
 * hook has an event of hosts, a MOM without hook files is told nothing. Loop thread only. */
#include <exec.h>

#include "hook_server.h"

struct hook_hosts;
struct job;
struct rpc_request;
struct service;
struct services;

struct hook_hosts *hook_hosts_create(struct hook_server *s, struct services *services); /* NULL: no memory */
void hook_hosts_destroy(struct hook_hosts *x);

/* Hooks were restored, and no MOM has said HELLO yet. */
void hook_hosts_begin(struct hook_hosts *x);
/* Hooks or resources have changed; arg is the struct hook_hosts. */
void hook_hosts_review(void *arg);

/* For exec_send_on_attrs: add to START what hooks see of a job beside what its host needs; nothing while there are no hooks of hosts. arg
 * is the struct hook_server, likewise below. */
void hook_hosts_add_attrs(void *arg, const struct job *j, wire_attrs *out);

/* For exec_send_before_start: a host that has not been told the list of now is told it, before the run that is sent next.
 * Where it has not answered for its files yet the log says so, with the job. */
void hook_hosts_precede(void *arg, struct service *s, struct job_key job);

/* For struct exec_hello_hooks. */
void hook_hosts_greeted(void *arg, struct service *s, const wire_ext *has);
void hook_hosts_piece(void *arg, struct service *s, struct rpc_request *r);
void hook_hosts_query(void *arg, struct service *s, struct rpc_request *r);

#endif
