#ifndef QUEUED_LIMITS_H
#define QUEUED_LIMITS_H
/* How many jobs, and how much of a resource, may be queued: max_queued, max_queued_res, queued_jobs_threshold,
 * queued_jobs_threshold_res of a queue and of the server, by entity. Without limits this costs nothing; jobs
 * are counted by limit_counts.c, a limit on an amount costs one walk over the jobs it counts. */
#include <stdbool.h>

#include "err.h"
#include "job.h"
#include "queue.h"

struct server_ctx;

/* Check that this job, which is not yet there, may be added to the queue (and, when it is new, to the server). Its
 * euser, egroup, project and Resource_List are set. -1: PBSE_ENTLIMCT, PBSE_ENTLIMRESC. */
int queued_limits_check(const struct server_ctx *s, const struct queue *q, const struct job *j, bool new_job,
                        struct err *e);

/* The user, group, project and request of a job before it was altered; borrowed. */
struct queued_was {
    const char *euser, *egroup, *project; /* interned */
    const struct resc_list *asked;
};

/* The same of a job that is there and has been altered: only where it is another's now, or asks for more than
 * it did, so that asking for less is always allowed. While these differ from `was`, it is not counted in
 * limit_counts. -1: PBSE_ENTLIMCT, PBSE_ENTLIMRESC. */
int queued_limits_check_altered(const struct server_ctx *s, const struct job *j, const struct queued_was *was,
                                struct err *e);

#endif
