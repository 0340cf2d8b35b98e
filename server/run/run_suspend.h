#ifndef RUN_SUSPEND_H
#define RUN_SUSPEND_H
/* Method S, and its opposite: every host of the job is told to stop it, or to let it go on.
 *
 * Suspended when every host says so; if one cannot, those that did are told to resume and the attempt has
 * failed. A resume first takes back what the suspension gave to others, and fails if that is in use. */
#include "err.h"
#include "job.h"
#include "stop_method.h"

struct exec_send;
struct job_fsm;
struct site;
struct suspend;

/* ^ An attempt to suspend it, or to resume it, has failed: whoever waits for that is told. */
struct suspend_hooks {
    void *arg;
    void (*not_suspended)(void *arg, struct job *j, const struct err *why);
    void (*not_resumed)(void *arg, struct job *j, const struct err *why);
};

struct suspend *suspend_create(struct site *s, struct job_fsm *f, struct exec_send *x, struct methods *m,
                               const struct suspend_hooks *hooks);
void suspend_destroy(struct suspend *u);

/* Begin. PBSE_BADSTATE where the job is not running. `by` is remembered: substate 43 or 45. */
int suspend_begin(struct suspend *u, struct job *j, enum job_suspender by, struct err *e);
/* PBSE_BADSTATE not suspended; PBSE_RESCUNAV what it gave back is in use (unless `force`). */
int suspend_resume(struct suspend *u, struct job *j, bool force, struct err *e);

/* ^ of exec_take: one host more has answered, or could not. */
void suspend_host_answered(struct suspend *u, struct job *j);
void suspend_resumed(struct suspend *u, struct job *j);
void suspend_failed(struct suspend *u, struct job *j, int code, const char *text);

/* ACT_SUSPENDED: give back what a suspended job gives back. ACT_RESUMED. */
void act_suspended(void *suspend, struct job *j);
void act_resumed(void *suspend, struct job *j);

#endif
