#ifndef RUN_SUSPEND_H
#define RUN_SUSPEND_H
/* Method S, and its opposite: every host of the job is ordered to stop it, or to continue it.
 *
 * Suspended when every host says so; if one cannot, those that did are told to resume and the attempt has
 * failed. A resume first takes back what the suspension gave to others, and fails if that is in use. */
#include "err.h"
#include "job.h"
#include "server_events.h"
#include "stop_method.h"

struct exec_send;
struct job_fsm;
struct server_ctx;
struct run_suspend;

struct run_suspend *run_suspend_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                       struct stop_methods *m);
void run_suspend_destroy(struct run_suspend *u);

/* Begin. PBSE_BADSTATE where the job is not running. `by` is remembered: substate 43 or 45. */
int run_suspend_begin(struct run_suspend *u, struct job *j, enum job_suspender by, struct err *e);
/* PBSE_BADSTATE not suspended; PBSE_RESCUNAV what it gave back is in use (unless `force`). */
int run_suspend_resume(struct run_suspend *u, struct job *j, bool force, struct err *e);

/* One host more has answered, or need not any more. */
void run_suspend_host_answered(struct run_suspend *u, struct job *j);
void run_suspend_resumed(struct run_suspend *u, struct job *j);

/* Listeners of EVENT_RUN_SUSPENDED, RESUMED; FAILED and REFUSED: one host could not, if it is about this method. An attempt that
 * has failed is told as NOT_SUSPENDED or NOT_RESUMED. */
void run_suspend_on_suspended(void *suspend, const struct server_event *ev);
void run_suspend_on_resumed(void *suspend, const struct server_event *ev);
void run_suspend_on_failed(void *suspend, const struct server_event *ev);

/* ACT_SUSPENDED: give back what a suspended job gives back. ACT_RESUMED. */
void act_suspended(void *suspend, struct job *j);
void act_resumed(void *suspend, struct job *j);

#endif
