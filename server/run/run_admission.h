#ifndef RUN_ADMISSION_H
#define RUN_ADMISSION_H
/* Could this job run now, as far as its queue and the limits of queue and server are concerned? The server's own
 * word, whatever a scheduler believes: two schedulers, or one with an old picture, cannot exceed a limit together. */
#include "err.h"
#include "job.h"

struct server_ctx;

/* -1, PBSE_RESCUNAV with the words of PBS's comments: the queue is stopped, or one more running job would exceed
 * max_run, max_run_res or the old max_running, max_user_run, max_group_run, max_user_res, max_group_res. In PBS's
 * order: group, project, all, user; jobs before amounts, the queue before the server. */
int run_admission_check(const struct server_ctx *s, const struct job *j, struct err *e);

/* Does it wait in an execution queue, so that a run could be asked for at all? -1: PBSE_BADSTATE. */
int run_admission_waits(const struct job *j, struct err *e);
/* The same of a job that a person runs (qrun), which may be held or wait for its time. */
int run_admission_may_be_asked(const struct job *j, struct err *e);

/* Is a scheduler too early with it? A job whose hosts could not start it several times is tried again after a pause, so that the reason
 * has time to go before it has been tried too often. -1: PBSE_TRYAGAIN with the reason of the last failure. */
int run_admission_pause(const struct server_ctx *s, const struct job *j, struct err *e);

#endif
