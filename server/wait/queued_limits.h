#ifndef QUEUED_LIMITS_H
#define QUEUED_LIMITS_H
/* How many jobs, and how much of a resource, may be queued: max_queued, max_queued_res, queued_jobs_threshold,
 * queued_jobs_threshold_res of a queue and of the server, by entity. Who sets no limit pays nothing; jobs are counted
 * by the tally, a limit on an amount costs one walk over the jobs it counts. */
#include <stdbool.h>

#include "err.h"
#include "job.h"
#include "queue.h"

struct site;

/* May this job, which is not yet there, be one more in the queue (and, when it is new, in the server)? Its
 * euser, egroup, project and Resource_List are set. -1: PBSE_ENTLIMCT, PBSE_ENTLIMRESC. */
int queued_limits_check(const struct site *s, const struct queue *q, const struct job *j, bool new_job,
                        struct err *e);

/* The amounts alone, of a job that is there and has been altered. -1: PBSE_ENTLIMRESC. */
int queued_limits_check_amounts(const struct site *s, const struct job *j, struct err *e);

#endif
