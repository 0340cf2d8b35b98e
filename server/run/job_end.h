#ifndef JOB_END_H
#define JOB_END_H
/* How a run ends: its last host has released, a verdict is found, and the job goes back or away.
 *
 * Every way out comes through here: own end, delete, requeue, refused start, lost host, force. */
#include "err.h"
#include "job.h"
#include "job_fsm.h"
#include "server_events.h"

struct commit;
struct exec_send;
struct host_loss;
struct job_end;
struct server_ctx;

struct job_end *job_end_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x, struct commit *c,
                               struct host_loss *l);
void job_end_destroy(struct job_end *d);

/* Listeners of EVENT_RUN_RELEASED: this host has sent its last release; REFUSED: if it refused START, nothing runs there; LOST. */
void job_end_on_released(void *job_end, const struct server_event *ev);
void job_end_on_refused(void *job_end, const struct server_event *ev);
void job_end_on_left(void *job_end, const struct server_event *ev);
void job_end_on_lost(void *job_end, const struct server_event *ev);
/* Give this host up: no event will come from it. */
void job_end_host_lost(struct job_end *d, struct job *j, const char *service);

/* Listener of the machine, bound after the listeners that still read the run: it drops the run. */
void job_end_listen(void *job_end, struct job *j, enum job_state from, enum job_event ev);

void act_finish(void *job_end, struct job *j);          /* note exit status */
void act_end(void *job_end, struct job *j);             /* the run is over: to history */
void act_drop(void *job_end, struct job *j);            /* never ran: to history */
void act_requeue(void *job_end, struct job *j);         /* back into its queue */
void act_abandon(void *job_end, struct job *j);         /* forget hosts, end */
void act_abandon_requeue(void *job_end, struct job *j); /* forget hosts, back */
void act_forget(void *job_end, struct job *j);          /* out of memory */

#endif
