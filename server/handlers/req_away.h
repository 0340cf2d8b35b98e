#ifndef REQ_AWAY_H
#define REQ_AWAY_H
/* Requests about a job whose first host is not connected: the server cannot tell the host what is asked of the job.
 *
 * What ends a run (delete, rerun, hold with a checkpoint) is stored, given to the host when it is connected again, and answered
 * with an error nevertheless: the job may run for as long as its host is away. A signal is not stored. */
#include "err.h"
#include "job.h"
#include "parts.h"
#include "request.h"

/* The job has a run, and is the first host of the run connected? -1 if it is not: PBSE_NORELYMOM. 0 also for a job without a
 * run, and where the first host has released the run or has been given up. */
int req_away_check(const struct parts *p, const struct job *j, struct err *e);

/* Fail the request with `e` when everything changed so far is durable. */
void req_away_fail_when_durable(struct parts *p, struct request *r, const struct err *e);

#endif
