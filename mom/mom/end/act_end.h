#ifndef ACT_END_H
#define ACT_END_H
/* Actions that end a run (run_action_fn: ctx is struct mom). */
#include <stdbool.h>

struct mom;
struct run;
struct run_failure;
struct shep_ended;

void act_end_give_up(void *ctx, struct run *r);  /* nothing runs yet: as terminated */
void act_end_fail(void *ctx, struct run *r);     /* by r->failure */
void act_end_lost(void *ctx, struct run *r);     /* the shepherd is gone: kill what it has left */
void act_end_recorded(void *ctx, struct run *r); /* by the shepherd's end record */
void act_end_checkpointed(void *ctx,
                          struct run *r);    /* tell the server of the image; the end that waited for it */
void act_end_late(void *ctx, struct run *r); /* the checkpoint failed; the end that waited for it */

/* After FINISH, also once more after a restart of the MOM: the epilogue, unless it is done or not due. */
void act_end_again(struct mom *m, struct run *r);

/* The epilogue has answered. ran: there was a script. */
void act_end_epilogue_done(struct mom *m, struct run *r, bool ran);

/* The end record of a shepherd as Exit_status and reason: the exit code, or 256 and the signal, or for a job that could not begin the
 * code of its setup. Where the MOM ended the job for a limit the status is that of the limit: the job has died of the MOM's own signal,
 * which says nothing to its owner. exit_status.h has the numbers. Pure. */
void act_end_judge(const struct shep_ended *ended, struct run_failure *out);

#endif
