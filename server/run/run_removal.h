#ifndef RUN_REMOVAL_H
#define RUN_REMOVAL_H
/* Methods R and D: the run is ended at its hosts and the job goes back into its
 * queue, or away. Complete only when the last host has released and the job is queued, or gone. */
#include "err.h"
#include "job.h"
#include "server_events.h"
#include "stop_method.h"

struct arrays;
struct job_fsm;
struct run_removal;
struct server_ctx;

struct run_removal *run_removal_create(struct server_ctx *s, struct job_fsm *f, struct arrays *a,
                                       struct stop_methods *m);
void run_removal_destroy(struct run_removal *r);

/* Requeue a running job. PBSE_NORERUN not rerunable; PBSE_BADSTATE it does not run. */
int run_removal_requeue(struct run_removal *r, struct job *j, struct err *e);
/* Delete a job in any state; a wish to requeue is overridden. Never fails for a job that still exists. An array
 * goes with its last subjob: those that wait are gone at once, those that run are ended. */
void run_removal_delete(struct run_removal *r, struct job *j);
/* Listener of EVENT_JOB_UNWANTED and EVENT_RESV_JOB: the job is deleted. */
void run_removal_on_unwanted(void *run_removal, const struct server_event *ev);
/* At once, whatever the hosts say; they are told to kill it when they are heard of. */
void run_removal_requeue_now(struct run_removal *r, struct job *j);
void run_removal_delete_now(struct run_removal *r, struct job *j);

#endif
