#ifndef MAINTENANCE_H
#define MAINTENANCE_H
/* Vnodes in maintenance: those on which a job was suspended by admin-suspend. They take no jobs until each such job
 * has been resumed by admin-resume, or has gone. The vnode's maintenance_jobs lists these jobs, and is stored with it.
 * Loop thread only. */
#include "job.h"
#include "job_fsm.h"

struct maintenance;
struct server_ctx;

struct maintenance *maintenance_create(struct server_ctx *s); /* NULL: no memory */
void maintenance_destroy(struct maintenance *m);
void maintenance_restore(struct maintenance *m); /* at start: the vnodes' state from what is stored */

/* Listener of the machine: a job that is suspended by admin-suspend, or no longer. */
void maintenance_listen(void *maintenance, struct job *j, enum job_state from, enum job_event ev);

#endif
