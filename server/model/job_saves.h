#ifndef JOB_SAVES_H
#define JOB_SAVES_H
/* Can a job that runs be saved (method C)? This is the one place where that is decided.
 *
 * Two things must meet: what its hosts can do (run_host.saves; server/run/run_checkpoint.c keeps it), and, where that needs the
 * help of the program, that the job has said or shown that it saves itself. All ways to say so meet here: -c with c, w or s;
 * `C` among its preempt_methods; and what its hosts report of its program (run.declared: a handler for the signal of ckpt-app is
 * seen, or it has said so through PMIx). */
#include <stdbool.h>

#include "job_run.h"

/* What says that the program saves itself: "-c", "preempt_methods", or run.declared ("handler", "pmix"). NULL: nothing does, or
 * the job wants no checkpoint (-c n). */
const char *job_saves_declared(const struct job *j);

/* false: the job wants no checkpoint (-c n), whatever its program can do. */
bool job_saves_wanted(const struct job *j);

/* For people and schedulers, of a job that is in a run: "host" (its hosts need no help of it), what job_saves_declared() says, or
 * "none". NULL: it is not in a run, or not all of its hosts have been heard of. */
const char *job_saves_by(const struct job *j);

/* Note what a host can do. true: it is other than before. */
bool job_saves_note(struct run *r, struct run_host *h, enum run_saves can);

/* Note what a host says of its programs: "handler", "pmix", or "" for nothing any more; need_s: seconds, 0: not said. */
void job_saves_declare(struct run_host *h, const char *how, unsigned need_s);
/* Put together what the hosts that stay have declared (run.declared, run.need_s): the weaker evidence, "handler", where one has no
 * other, and the longest time. A host that has declared nothing does not count, for it may run no program. true: it is other than before. */
bool job_saves_join(struct run *r);

#endif
