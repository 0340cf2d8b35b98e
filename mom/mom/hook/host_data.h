#ifndef HOST_DATA_H
#define HOST_DATA_H
/* What hooks of this host see: a run's job and its vnodes, the vnodes and jobs of the host (doc/internals/hook-protocol.md, 5). Loop thread only. */
#include <jansson.h>
#include <stdint.h>

struct host_hooks;
struct mom;
struct run;

/* The data of an event of a run, new; NULL: no memory. That of execjob_launch has the job's program too. */
json_t *host_data_of_run(const struct mom *m, const struct run *r, uint32_t event);
/* vnode_list of this host, and with `jobs` its job_list. */
json_t *host_data_of_host(const struct mom *m, int jobs);

/* The configuration of the host is another one: look again what it offers. */
void host_data_forget(struct host_hooks *x);

#endif
