#ifndef RUN_TASKS_H
#define RUN_TASKS_H
/* The sessions of a run on this host that have not ended, by the shepherd's records: that of the script, and those of
 * tasks and of processes that were attached. */
#include <stdbool.h>

#include "procs.h"

struct run_tasks {
    struct procs_sessions sessions;
    unsigned *ids; /* of sessions.list; 0: the script */
    size_t cap;
    bool any; /* something of the job has run here, though it may have ended */
};

/* Read them for the run in this directory; what has no memory, or cannot be read, is left out. */
void run_tasks_read(struct run_tasks *t, const char *path);
void run_tasks_fini(struct run_tasks *t);

#endif
