#ifndef SITE_ACTION_H
#define SITE_ACTION_H
/* Scripts of `$action`: what a site does itself to checkpoint, restart or end a job.
 *
 * One at a time for a run, by an errand of the shepherd's program, as the MOM's own user, in a session of its own, with
 * an environment that the job's owner has no part in. The end comes as a call from the loop; a script that takes longer
 * than its limit is killed. Loop thread only.
 */
#include <stdbool.h>
#include <stdint.h>

#include "mom_config.h"
#include "err.h"
#include "words.h"

struct home;
struct loop;
struct run;
struct site_action;

struct site_action_end {
    enum config_event event;
    int code;         /* exit code; -1 killed by a signal, or its time was over */
    const char *text; /* the last line it wrote, or why it could not run */
    uint64_t bytes;   /* of the image, where there is one */
    unsigned took_ms;
};

typedef void site_action_fn(void *arg, struct run *r, const struct site_action_end *end);

/* Run the script of `ev` for the run. `path`: the image, "" has none; `session` replaces %sid. fn is called once, later.
 * -1: PBSE_NOSUP there is no such action; EBUSY another one is at work; EINVAL an unknown macro; ENOENT, EACCES of the
 * script. */
int site_action_run(struct loop *l, const struct home *h, struct run *r, enum config_event ev,
                    const char *path, int session, site_action_fn *fn, void *arg, struct err *e);
bool site_action_is_active(const struct run *r);
void site_action_stop(struct run *r); /* killed; there is no callback */

/* The script's argument vector with its macros replaced, appended to `out`. */
int site_action_argv(const struct config *c, const struct run *r, enum config_event ev, const char *path,
                     int session, struct words *out, struct err *e);

#endif
