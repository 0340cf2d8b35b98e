#ifndef PREEMPT_JOBS_H
#define PREEMPT_JOBS_H
/* pbs_preempt_jobs: one request, one slot a job, one answer when no slot is open.
 *
 * A slot is filled at once for a job that is out of the way already (unknown or ended: D; queued: Q) or that
 * cannot be preempted (held, exiting by itself is waited for, waiting: 000), else by its victim's end. If the
 * client goes away the jobs still complete their preemption. The answer leaves when what it reports is durable.
 * Order of the answer: that of completion. Loop thread only. */
#include "request.h"

struct commit;
struct preempt_jobs;
struct sched_obj;
struct server_ctx;
struct victims;

struct preempt_jobs *preempt_jobs_create(struct server_ctx *s, struct victims *v, struct commit *c);
void preempt_jobs_destroy(struct preempt_jobs *p);

/* Serve an IFL_PREEMPT_JOBS request of this scheduler. */
void preempt_jobs_serve(struct preempt_jobs *p, struct request *r, const struct sched_obj *sched);

#endif
