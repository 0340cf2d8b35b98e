#ifndef ACT_LEAVE_H
#define ACT_LEAVE_H
/* Actions of a run whose end is said (run_action_fn: ctx is struct mom). */
struct run;

void act_leave_close(void *ctx, struct run *r);       /* the epilogue is over: deliver, clean */
void act_leave_release(void *ctx, struct run *r);     /* the last word to the server: its vnodes are free */
void act_leave_purge_later(void *ctx, struct run *r); /* PURGE of a run that still lives: kill it first */
void act_leave_forget(void *ctx, struct run *r);      /* the run is GONE afterwards */

#endif
