#ifndef FREED_BY_H
#define FREED_BY_H
/* What a running job would give back of its vnodes if it gave way. */
#include <stdbool.h>

#include "sched_cluster.h"

/* List what it would give back if it were suspended; `out` is empty before and the caller's. It keeps what
 * restrict_res_to_release_on_suspend does not name, without such a list its memory; one of a queue with gang keeps its
 * memory whatever the list says. */
void freed_by_suspension(const struct cluster *cl, const struct job *j, struct allocation *out);

/* Note it in the job, for job_freed(). `keeps`: all that may be done is to suspend it. What is noted
 * already and still true is left where it lies: candidates may be collected again while some are stopped in
 * the trial, whose steps point to it. */
void freed_by_note(const struct cluster *cl, struct job *j, bool keeps);

#endif
