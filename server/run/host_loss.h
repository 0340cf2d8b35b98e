#ifndef HOST_LOSS_H
#define HOST_LOSS_H
/* A host of a run is gone before the script has ended: continue without it, or end the run.
 *
 * The run never continues without the first host: it has the script. It continues without a sister if the job's
 * tolerate_node_failures says so: "job_start" until the script is launched, "all" at any time. Else every other
 * host is ordered to end the run, and what is kept in the run (`lost`, `lost_host`) tells job_end.c that the job
 * goes back where Rerunable allows it, and ends with that exit status where not. */
#include "job.h"

struct run_checkpoint;
struct exec_send;
struct host_loss;
struct run;
struct run_host;
struct runs;
struct server_ctx;
struct run_suspend;

struct host_loss *host_loss_create(struct server_ctx *s, struct exec_send *x, struct runs *r,
                                   struct run_suspend *u, struct run_checkpoint *c);
void host_loss_destroy(struct host_loss *l);

/* `h` has been released or given up, and at least one host of the run is left. Does nothing once the script is over. */
void host_loss_judge(struct host_loss *l, struct job *j, const struct run_host *h);

/* The exit status of a run that is over because a host was lost; 0: none was, or its script was over before. */
int host_loss_status(const struct run *r);

#endif
