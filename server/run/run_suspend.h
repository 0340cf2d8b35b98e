#ifndef RUN_SUSPEND_H
#define RUN_SUSPEND_H
/* Method S, and its opposite: every host of the job is ordered to stop it, or to continue it.
 *
 * Suspended when every host says so; if one cannot, those that did are told to resume and the attempt has
 * failed. A resume first takes back what the suspension gave to others, and fails if that is in use. */
#include "err.h"
#include "job.h"
#include "stop_method.h"

struct exec_send;
struct job_fsm;
struct server_ctx;
struct run_suspend;

/* ^ An attempt to suspend it, or to resume it, has failed: requests that wait for it are answered. */
struct run_suspend_hooks {
    void *arg;
    void (*not_suspended)(void *arg, struct job *j, const struct err *why);
    void (*not_resumed)(void *arg, struct job *j, const struct err *why);
};

struct run_suspend *run_suspend_create(struct server_ctx *s, struct job_fsm *f, struct exec_send *x,
                                       struct stop_methods *m, const struct run_suspend_hooks *hooks);
void run_suspend_destroy(struct run_suspend *u);

/* Begin. PBSE_BADSTATE where the job is not running. `by` is remembered: substate 43 or 45. */
int run_suspend_begin(struct run_suspend *u, struct job *j, enum job_suspender by, struct err *e);
/* PBSE_BADSTATE not suspended; PBSE_RESCUNAV what it gave back is in use (unless `force`). */
int run_suspend_resume(struct run_suspend *u, struct job *j, bool force, struct err *e);

/* ^ of exec_take: one host more has answered, or could not. */
void run_suspend_host_answered(struct run_suspend *u, struct job *j);
void run_suspend_resumed(struct run_suspend *u, struct job *j);
void run_suspend_failed(struct run_suspend *u, struct job *j, int code, const char *text);

/* ACT_SUSPENDED: give back what a suspended job gives back. ACT_RESUMED. */
void act_suspended(void *suspend, struct job *j);
void act_resumed(void *suspend, struct job *j);

#endif
