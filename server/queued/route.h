#ifndef ROUTE_H
#define ROUTE_H
/* Route queues: a job in one is moved to the first of its destinations that takes it.
 *
 *   it comes in, is released, its time has come, the queue is started or altered -> tried at once
 *   a destination would take it later (not enabled, full, over a limit, away)     -> every route_retry_time seconds
 *   a destination is at another server: it is asked (move_out.h)                  -> by its answer, as above
 *   all refuse it for good, or route_lifetime is over                             -> it is deleted
 *
 * Held and waiting jobs are routed only where route_held_jobs and route_waiting_jobs say so. Nothing but the queue
 * a job is in is stored; a restart tries all again. Loop thread only. */
#include "err.h"
#include "job.h"
#include "job_fsm.h"

struct loop;
struct move_out;
struct route;
struct server_ctx;

/* Tells EVENT_JOB_MOVED and EVENT_JOB_UNWANTED. NULL: no memory. */
struct route *route_create(struct loop *l, struct server_ctx *s);
void route_destroy(struct route *r);

/* Set the module, borrowed, that moves jobs to other servers. Once, before any job is routed; moves are stopped
 * before destroy. */
void route_reach(struct route *r, struct move_out *m);

/* Check that some destination would take this job, at once or later. Other servers are not asked, and count as
 * willing. For a submission, which is refused where none would. `j` waits, or arrives. -1: PBSE_ROUTEREJ. */
int route_check(struct route *r, struct job *j, const struct queue *q, struct err *e);

/* Find the execution queue that a job of no table would be routed to from `q`, and give it that queue's defaults and name. Other servers
 * are not asked. NULL: PBSE_ROUTEREJ no queue of this server would take it now. */
struct queue *route_find(struct route *r, struct job *j, struct queue *q, struct err *e);

/* Try this job now, if it is in a route queue and may go. It may be in another queue afterwards, or over, or on its way to
 * another server. */
void route_job(struct route *r, struct job *j);

/* The queue was started, or altered; NULL: all of them, at start. They are tried at the end of this iteration. */
void route_queue(struct route *r, struct queue *q);

/* Listener of the machine: a job that becomes free to go. */
void route_listen(void *route, struct job *j, enum job_state from, enum job_event ev);

#endif
