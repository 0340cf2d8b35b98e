#ifndef START_TIME_H
#define START_TIME_H
/* Jobs that wait for their Execution_Time: one timer for the first of them. Moves a job to QUEUED by EV_REVIEW
 * when its time has come. */
#include "job.h"
#include "job_fsm.h"

struct loop;
struct server_ctx;
struct start_time;

struct start_time *start_time_create(struct loop *l, struct server_ctx *s, struct job_fsm *f);
void start_time_destroy(struct start_time *t);

/* The attribute Execution_Time was set or unset: take it over. Posts nothing. */
void start_time_note(struct start_time *t, struct job *j);
/* ACT_WAIT: the job waits (again); arm the timer where it waits for a time. */
void act_wait(void *start_time, struct job *j);
/* ACT_WAIT_ON: it waits as it did when its row was written, which need not be written again. */
void act_wait_on(void *start_time, struct job *j);
/* The clock was set: check the waiting times again. */
void start_time_look(struct start_time *t);

/* Listener of the machine: a job that waits for a time, or no longer. */
void start_time_listen(void *start_time, struct job *j, enum job_state from, enum job_event ev);

#endif
