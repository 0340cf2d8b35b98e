#ifndef JOB_LIMITS_H
#define JOB_LIMITS_H
/* Limits of a whole job over several hosts: cput always, mem where the first host's MOM wants it ($enforce
 * complexmem). Each host limits its own part itself, without data of the others; the server adds the parts up
 * here. */
#include "server_events.h"

struct exec_send;
struct job_limits;
struct services;
struct server_ctx;

struct job_limits *job_limits_create(struct server_ctx *s, struct services *sv, struct exec_send *x);
void job_limits_destroy(struct job_limits *l);

/* Listener of EVENT_RUN_USED: the usage of a running job has changed. Over a limit, its first host gets one order, with the reason, to end it. */
void job_limits_on_used(void *limits, const struct server_event *ev);

#endif
