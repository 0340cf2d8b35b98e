#ifndef RUN_TERMINATE_H
#define RUN_TERMINATE_H
/* Telling the hosts of a run to end it: SIGTERM, then after the queue's kill_delay SIGKILL. Said again, it is
 * harder: the second time kills at once. Requeue and delete both use it; what becomes of the job afterwards is
 * its intent. */
#include "job.h"

struct exec_send;
struct server_ctx;
struct run_terminate;

struct run_terminate *run_terminate_create(struct server_ctx *s, struct exec_send *x);
void run_terminate_destroy(struct run_terminate *t);

/* ACT_TERMINATE of the machine: order it, as hard as the number of times says. */
void act_terminate(void *terminate, struct job *j);

/* enum exec_why: the wish, or that a host was lost. Hosts keep output and files by it: those of a job that comes back stay. */
int run_terminate_why(const struct job *j);

/* Seconds between TERM and KILL for this job, or EXEC_GRACE_OF_HOST where its queue says nothing. */
unsigned run_terminate_grace_s(const struct job *j);

#endif
