#ifndef TM_H
#define TM_H
/* Task management: a program inside a job starts, signals and watches tasks on all hosts of the job.
 *
 * A task is a process with a session of its own, started by the job's shepherd on the host of the node asked
 * for; it counts as part of the job in every way (limits, usage, suspension, end). Its standard output and
 * error go where the job's go. Nodes are the lines of PBS_NODEFILE, numbered from 0.
 *
 * Functions with an event return when the request is on its way; tm_poll then says when it is done and how.
 * A NULL for an event, for a name, or for what tm_nodeinfo, tm_atnode and tm_poll answer: TM_ESYSTEM. Other places may be NULL, and are
 * not written then.
 * Places given to such a function (tid, obitval, list ...) are written when the event is polled and must
 * live until then. All return TM_SUCCESS or an error number of tm_.h. One thread at a time.
 *
 * The connection leads to the shepherd of this host: a restart of pbs_mom or pbs_server breaks nothing;
 * a request for another host waits until the MOMs in between are there again.
 */
#include <sys/types.h>

#include "tm_.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tm_roots {
    tm_task_id tm_me;        /* this task */
    tm_task_id tm_parent;    /* who spawned it; TM_NULL_TASK: the system */
    int tm_nnodes;           /* nodes of the job */
    int tm_ntasks;           /* 0 */
    int tm_taskpoolid;       /* -1 */
    tm_task_id *tm_tasklist; /* NULL */
};

typedef struct tm_whattodo {
    int tm_todo;
    tm_task_id tm_what;
    tm_node_id tm_where;
} tm_whattodo_t;

/* Connect, by the variables of the environment (PBS_JOBID, PBS_JOBCOOKIE, PBS_NODENUM, PBS_TASKNUM, PBS_MOMPORT).
 * `info` is not used. TM_EBADENVIRONMENT, TM_BADINIT called twice, TM_ESYSTEM. */
int tm_init(void *info, struct tm_roots *roots);
int tm_finalize(void); /* requests under way are forgotten; tasks continue */

/* The nodes of the job in order, in an array for free(). */
int tm_nodeinfo(tm_node_id **list, int *nnodes);

/* Is a request done? `poll` is TM_NULL_EVENT. wait not 0: until one is. *result is its event, or TM_NULL_EVENT when
 * none is done (or, waiting, when none is under way: TM_ENOEVENT); *tm_errno is how it went. */
int tm_poll(tm_event_t poll, tm_event_t *result, int wait, int *tm_errno);
int tm_notify(int tm_signal);

/* Start a program. envp is laid over the job's environment and may be NULL. With *tid its number. */
int tm_spawn(int argc, char *argv[], char *envp[], tm_node_id where, tm_task_id *tid, tm_event_t *event);
int tm_kill(tm_task_id tid, int sig, tm_event_t *event);
/* Done when the task has ended: *obitval is its exit code, or 256 and the signal that ended it. */
int tm_obit(tm_task_id tid, int *obitval, tm_event_t *event);
/* The tasks that run on a node's host: at most lsize of them, *ntasks is how many there are. */
int tm_taskinfo(tm_node_id node, tm_task_id *list, int lsize, int *ntasks, tm_event_t *event);
int tm_atnode(tm_task_id tid, tm_node_id *node); /* of a task that this program has spawned or been told of */
/* "sysname nodename release version machine:resource=value,..." of a node's host. */
int tm_rescinfo(tm_node_id node, char *resource, int len, tm_event_t *event);

/* Named data of this task, and that of any task of the job. *amount may exceed len: the rest is cut. */
int tm_publish(char *name, void *info, int nbytes, tm_event_t *event);
int tm_subscribe(tm_task_id tid, char *name, void *info, int len, int *amount, tm_event_t *event);

/* Make a process that runs already, with its session, a task of a job of the caller on this host. jobid NULL: the one of
 * the environment, else the only one here. cookie must be NULL. host NULL: this one; port 0: the default. */
int tm_attach(char *jobid, char *cookie, pid_t pid, tm_task_id *tid, char *host, int port);

/* TM_ENOTIMPLEMENTED, as everywhere. */
int tm_alloc(char *resources, tm_event_t *event);
int tm_dealloc(tm_node_id node, tm_event_t *event);
int tm_create_event(tm_event_t *event);
int tm_destroy_event(tm_event_t *event);
int tm_register(tm_whattodo_t *what, tm_event_t *event);

#ifdef __cplusplus
}
#endif
#endif
