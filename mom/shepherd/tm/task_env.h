#ifndef TASK_ENV_H
#define TASK_ENV_H
/* The environment of a task: the job's on this host, over it what the spawner gave, over that what belongs to
 * this host and this task and cannot be given (PBS_JOBID, PBS_NODEFILE, TMPDIR, PBS_TASKNUM ...). Pure. */
#include "err.h"
#include "words.h"

struct task_env_facts {
    char *const *job; /* "NAME=value" of the order */
    unsigned n_job;
    char *const *given;
    unsigned n_given;
    unsigned task, node;
};

/* Into `out`, initialised by the caller. An entry of `given` without "=" is left out. -1: ENOMEM, E2BIG. */
int task_env_make(const struct task_env_facts *f, struct words *out, struct err *e);

const char *task_env_find(char *const *env, unsigned n, const char *name); /* its value, or NULL */

#endif
