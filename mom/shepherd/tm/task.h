#ifndef TASK_H
#define TASK_H
/* A process of a job: its files, its surroundings, its birth. The first one, and each task of TM.
 *
 *   task_prepare   directories, nodefile, output files            \ in this order, in the shepherd;
 *   task_fork      the process exists and waits                    } the record is written between
 *   task_go        it executes the program, or says why not       /  fork and go
 *
 * So no program ever runs that is not recorded.
 */
#include <sys/types.h>

#include <stdbool.h>

#include "err.h"

struct confine;
struct shep_order;

struct task_program { /* borrowed for the call */
    const char *path; /* looked for in the program's own PATH when it has no slash */
    char *const *argv;
    unsigned n_argv;
    char *const *env;
    unsigned n_env;
    const char *input; /* bytes for standard input; "": /dev/null */
    const char *cpus;  /* "0-3,8": the processors that it may run on; NULL or "": all that the job may */
    const char *cwd;   /* where it begins, if its owner may; NULL or "": where the job does */
};

struct task {
    int out, err; /* its output; -1: not open. That of the first process is kept for messages to the job. */
    bool append;  /* set by the caller: an errand writes behind what the job has written */
    int tty; /* of an interactive job: its terminal, by a descriptor (O_PATH) that does not keep it open; -1: none */
    int go, failed; /* pipes to the process while it waits */
    pid_t pid;
    struct confine
        *confine; /* borrowed: what the process enters before it executes anything; NULL: nothing */
};

void task_init(struct task *t);
void task_fini(struct task *t); /* closes; kills no process */

/* `path`: the run's directory. -1: e->code EACCES or the errno, and a text for people. */
int task_prepare(struct task *t, const char *path, struct shep_order *o, struct err *e);
int task_fork(struct task *t, const struct shep_order *o, struct err *e); /* the program of the order */
/* Another program with the job's identity, limits and directory; t->out and t->err are set by the caller. Why it cannot be
 * executed is also written to t->err. */
int task_fork_program(struct task *t, const struct shep_order *o, const struct task_program *p,
                      struct err *e);
/* 0: the program is executing; one that was stopped before is stopped again, at its beginning. -1: it could not be; the process has ended or is about to. */
int task_go(struct task *t, const struct shep_order *o, struct err *e);

/* A line of the caller's into the job's output (1) or error (2) file, or on its terminal. */
void task_message(const struct task *t, unsigned files, const char *text);

/* A line on the job's stderr: "=>> PBS: ...". Never fails visibly. */
void task_say(const struct task *t, const char *text);

#endif
