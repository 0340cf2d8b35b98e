#ifndef ACT_RUNNING_H
#define ACT_RUNNING_H
/* Actions of a run while its job runs (run_action_fn: ctx is struct mom). */
struct mom;
struct run;

void act_running_suspend(void *ctx, struct run *r);
void act_running_suspended(void *ctx, struct run *r); /* tell the server */
/* Run hooks of execjob_postsuspend again, which a MOM that was killed has left half done; nothing where there are none. */
void act_running_suspended_again(struct mom *m, struct run *r);
void act_running_resume(void *ctx, struct run *r);
void act_running_resumed(void *ctx, struct run *r); /* tell the server */
void act_running_checkpoint(void *ctx, struct run *r);
void act_running_failed(void *ctx, struct run *r); /* tell the server of the attempt that failed, and why */
void act_running_terminate(void *ctx,
                           struct run *r); /* by r->grace_s, stop_reason, stop_text; again is harder */
void act_running_withdraw(void *ctx, struct run *r); /* the last terminate */
void act_running_stayed(void *ctx, struct run *r);   /* it did not end the job: tell the server */

#endif
