#ifndef DEPEND_H
#define DEPEND_H
/* Dependencies: what a job waits for, what waits for it, and what becomes of both when it starts or ends.
 *
 * A tie stands in the attribute "depend" of both jobs: afterok:A in B is beforeok:B in A. A job with an
 * "after" that is not satisfied, with "on:N" that is not used up, or whose runone group has a member that runs,
 * carries HOLD_DEPEND (shown as hold s, substate 22). Both sides change in one turn, hence in one batch of the
 * store: a restart at any moment finds them in step, and nothing is replayed.
 *
 *   satisfied            the tie goes from both jobs; the last one releases the job
 *   cannot be satisfied  the job is deleted, and what depends on it is judged in turn
 *
 * A target that has ended is judged at once, in memory or by what the store's history says (depend_past). An
 * array is a target by its parent: it has started with its first subjob and ends with its last one. Loop thread
 * only. Rule: reference guide, qsub -W depend. */
#include <stddef.h>

#include "depend_past.h"
#include "err.h"
#include "job.h"
#include "level.h"

struct depends;
struct job_fsm;
struct site;

struct depends *depends_create(struct site *s, struct job_fsm *f); /* listens to `f`; NULL: no memory */
void depends_destroy(struct depends *d);

/* ^ This job's dependency on `target` cannot be satisfied any more: delete it. */
void depends_on_unmet(struct depends *d, void (*unmet)(void *arg, struct job *j, const char *target),
                      void *arg);

/* Is this list right for the job (which need not be in the table yet)? `past`: ended jobs, from the store.
 * -1: PBSE_BADDEPEND a target is unknown, the job itself, another user's, has no "on" left, or waits for this
 * job; PBSE_HISTDEPEND a target has ended and did not satisfy; PBSE_BADATVAL the grammar. */
int depends_check(struct depends *d, const struct job *j, const char *text, const struct depend_past *past,
                  size_t n_past, struct err *e);

/* The job's list, checked in this turn, takes effect: ties are made in the other jobs, the hold is set. The job
 * is in the table. */
void depends_enter(struct depends *d, struct job *j, const struct depend_past *past, size_t n_past);

/* Its list was altered, and checked; `old` is the text before. What waits for this job goes on waiting. */
void depends_altered(struct depends *d, struct job *j, const char *old, const struct depend_past *past,
                     size_t n_past);

#endif
