#ifndef HOST_CHANGES_H
#define HOST_CHANGES_H
/* What hooks of this host have changed: kept here, and said to the server. Loop thread only. */
#include "hook_changes.h"

struct err;
struct exec_hello_args;
struct host_hooks;
struct mom;
struct run;

struct host_word {                   /* who says it; borrowed */
    const char *hook, *event, *user; /* user "": with the host's rights */
    unsigned wishes;                 /* EXEC_HOOK_* bits */
};

/* Take changes of the job into what this host has of it, its environment too, while nothing of it runs. */
void host_changes_take(struct run *r, const struct hook_changes *c);

/* Say them through the run's journal: they arrive once, in order with its other events. Without changes and wishes nothing is said. */
void host_changes_say(struct mom *m, struct run *r, const struct host_word *w, const struct hook_changes *c);
/* Of an event without a job: changes of vnodes. They are sent when there is a server. */
void host_changes_report(struct mom *m, const struct host_word *w, const struct hook_changes *c);
/* The same of job_list: each job's go its run's way. */
void host_changes_say_jobs(struct mom *m, const struct host_word *w, const struct hook_changes *c);
/* There is a server: send what waits. */
void host_changes_flush(struct mom *m);
/* Add the vnodes that hooks have spoken of to a HELLO, by name alone: those that the server has are still there. Names are allocated. -1: no
 * memory. */
int host_changes_add_vnodes(const struct host_hooks *x, struct exec_hello_args *a, struct err *e);
void host_changes_forget(struct host_hooks *x);

#endif
