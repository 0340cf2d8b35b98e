#ifndef RESTART_H
#define RESTART_H
/* A job that comes back from an image by the site's script ($action restart), instead of being started.
 *
 * Either the script's own process becomes the job, or it leaves the job's processes behind and exits 0; those are then
 * ours, since we are their subreaper, and their first is the one with the session's old number, else any. */
#include <errno.h>
#include <sys/types.h>

#include "err.h"

struct shep_order;
struct task;

enum {
    RESTART_PREVIOUS =
        ESTALE /* the image was damaged; the one before it has its name now: to be tried again */
};

/* The files of `t` are open. Blocks until the script is done (at most the order's limit) where it is not to become the
 * job. 0: *first is the job's first process. -1: it did not come back; what the script left is still there. e->code
 * may be RESTART_PREVIOUS. */
int restart_job(const struct shep_order *o, const struct task *t, pid_t *first, struct err *e);

#endif
