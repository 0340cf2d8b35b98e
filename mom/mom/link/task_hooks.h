#ifndef TASK_HOOKS_H
#define TASK_HOOKS_H
/* Hooks of execjob_launch and execjob_attach for the tasks of a job, as its shepherd asks for them (SHEP_HOOK). Loop thread only. */

struct rpc_request;
struct run;

/* For struct shepherds_hooks; arg is the struct mom. The answer is refused, or what is to run: unchanged where no hook changes it. */
void task_hooks_take(void *arg, struct run *r, struct rpc_request *q);

#endif
