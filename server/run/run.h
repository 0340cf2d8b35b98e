#ifndef RUN_H
#define RUN_H
/* Starting a job: check, claim, tell its hosts. The server is the arbiter: a caller (a scheduler, qrun, an earmark)
 * that acted on old data gets PBSE_RESCUNAV, and nothing has changed. */
#include "err.h"
#include "job.h"
#include "server_events.h"

struct exec_send;
struct job_fsm;
struct runs;
struct services;
struct server_ctx;

struct runs *runs_create(struct server_ctx *s, struct job_fsm *f, struct services *sv, struct exec_send *x);
void runs_destroy(struct runs *r);

struct run_ask {
    const char *location; /* exec_vnode as text, or vnodes (run_where.h); borrowed */
    bool force;           /* qrun -H: may oversubscribe, and run what is held */
    bool unlimited;       /* a person asked for it: run limits and a stopped queue do not count */
    const char *by;       /* who asks, for log and comment */
};

/* Claim and post EV_RUN. 0, or -1 with nothing changed: PBSE_BADSTATE, PBSE_IVALREQ (location), and what
 * run_admission_check and assign_claim say. */
int runs_start(struct runs *r, struct job *j, const struct run_ask *ask, struct err *e);

/* After a restart: claim again what a running job uses, free or not. */
void runs_reclaim(struct runs *r, struct job *j);

/* A host holds this run again; orders that were under way are sent again, with their present content. */
void runs_renew(struct runs *r, struct job *j);

/* Listener of EVENT_RUN_LIMITS: its hosts are told, and told again when they were away. */
void runs_on_limits(void *runs, const struct server_event *ev);

/* Actions of the machine: ACT_START orders the hosts, ACT_STARTED notes the start. */
void act_start(void *runs, struct job *j);
void act_started(void *runs, struct job *j);

/* A host is ready; when all are, the first is told to launch. */
void runs_host_ready(struct runs *r, struct job *j);

/* Listeners of EVENT_RUN_READY and KEPT. */
void runs_on_ready(void *runs, const struct server_event *ev);
void runs_on_kept(void *runs, const struct server_event *ev);

#endif
