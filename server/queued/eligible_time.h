#ifndef ELIGIBLE_TIME_H
#define ELIGIBLE_TIME_H
/* Eligible time: how long a job could have run, as far as the job and its owner are concerned, and did not.
 * Kept while the server attribute eligible_time_enable is True.
 *
 *   new -> 2                    eligible, whether or not a scheduler looks at it; 0, initial, is only where it comes from
 *   held, waiting -> 1          ineligible
 *   queued again -> 2           eligible; a scheduler says 1 where limits of user, group or project stop it
 *   array that has begun -> 2   while subjobs wait, 1 when all have started
 *   starts, runs -> 3           ends -> 4
 *
 * Only time of kind 2 adds up. Loop thread only. Rule: reference guide, "eligible_time". */
#include "err.h"
#include "job.h"
#include "job_fsm.h"

struct eligible_time;
struct server_ctx;

struct eligible_time *eligible_time_create(struct server_ctx *s); /* NULL: no memory */
void eligible_time_destroy(struct eligible_time *g);

/* A scheduler, or the manager through it, says what kind of time passes (0 to 4). -1: PBSE_ETEERROR it is not kept. */
int eligible_time_check(const struct server_ctx *s, struct err *e);
void eligible_time_set(struct eligible_time *g, struct job *j, int kind);
/* An operator gives the job so much of it. */
void eligible_time_give(struct eligible_time *g, struct job *j, int64_t seconds);

/* eligible_time_enable was set or unset: begin from now. */
void eligible_time_switched(struct eligible_time *g);

/* Listener of the machine: another kind of time begins. */
void eligible_time_listen(void *eligible_time, struct job *j, enum job_state from, enum job_event ev);

#endif
