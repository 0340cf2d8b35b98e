#ifndef CKPT_H
#define CKPT_H
/* Checkpoints of a run: by the site's scripts, on order of the server or as the job asked for by -c (checkpoint.md).
 *
 *   <checkpoint_path>/<job id>.CK/   ours, 0711
 *     00000001                       the image of the first task, written by the script; .new while it is written, .old
 *                                    while it is replaced
 *     00000001.sid                   the session it was
 *     app/                           of the job's owner, 0700: PBS_CHECKPOINT_DIR, for programs that save themselves
 */
#include <stdbool.h>

#include "err.h"

struct config;
struct exec_usage;
struct home;
struct parts;
struct run;
struct shep_order;
struct strbuf;

bool ckpt_is_offered(const struct config *c); /* there is a script for it */

/* Directory and restart of an order. -1, PBSE_CKPSHORT: START names an image that is not here. */
int ckpt_plan(const struct home *h, const struct run *r, struct shep_order *o, struct err *e);
/* The directory of a job's images onto `out`. */
void ckpt_dir(const struct home *h, const char *id, struct strbuf *out);

/* Begin the attempt that stands in the run. CHECKPOINTED or ATTEMPT_FAILED is posted, perhaps inside this. */
void ckpt_begin(struct parts *m, struct run *r);
void ckpt_say(struct parts *m, struct run *r); /* the event, for the server */

/* A sample of usage has come: is a checkpoint due that the job has asked for? */
void ckpt_look(struct parts *m, struct run *r, const struct exec_usage *used);

/* What a run leaves when it is forgotten: images stay until the server says so, a directory without image goes. */
void ckpt_forget(const struct home *h, const struct run *r);
/* The server has purged a job that has no run here: its images go. */
void ckpt_remove(const struct home *h, long long seq, int index);

#endif
