#ifndef JOIN_WAIT_H
#define JOIN_WAIT_H
/* A job that tolerates failures at its start does not wait forever for slow hosts: a sister that is not ready 30
 * seconds after the job was sent (PBS: $sister_join_job_alarm) is given up. Other jobs wait as long as the host is
 * there. */
#include "job.h"
#include "job_fsm.h"

struct job_end;
struct join_wait;
struct loop;
struct server_ctx;

struct join_wait *join_wait_create(struct loop *l, struct server_ctx *s, struct job_end *d);
void join_wait_destroy(struct join_wait *w);

/* Listener of the machine: a job was sent. After a restart the time of each starts again. */
void join_wait_listen(void *join_wait, struct job *j, enum job_state from, enum job_event ev);

#endif
