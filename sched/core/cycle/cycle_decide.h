#ifndef CYCLE_DECIDE_H
#define CYCLE_DECIDE_H
/* What is decided about one job: the line in the list of decisions, and the order that takes its room in
 * the cluster.
 *
 * The other files of the cycle (cycle.c, cycle_preempt.c, cycle_resv.c, cycle_answers.c) call this one; it
 * calls none of them. All of it belongs into cycle_run or the handling of an answer, where `c->d` is set. */
#include "cycle.h"

struct allocation;
struct class;

/* Run the job, or resume it, at `where` (borrowed, copied): add DECIDE_RUN or DECIDE_RESUME and take the
 * room. An array runs by its next subjob, which is made for that; the caller has seen that it has one
 * (cluster_array_is_open). A request that asks for the job is answered by the order's own answer. */
void cycle_decide_run(struct cycle *c, struct job *j, const struct allocation *where);

/* Add to the decision `x` about a job the walltime that it will be given (min_walltime, max_walltime),
 * where that differs from the one it has; log it. 0 otherwise. */
void cycle_decide_length(struct cycle *c, struct decision *x, const struct job *j);

/* A job that a request (qrun) asks for cannot run: add DECIDE_REFUSE with PBSE_RESCUNAV and `text`, and the
 * job waits like others again; a subjob that was made for the request is an index again, and `j` is gone. */
void cycle_decide_refuse(struct cycle *c, struct job *j, const char *text);

/* Do not try this class again before news comes, or a job becomes stoppable. NULL is ignored. */
void cycle_decide_failed(const struct cycle *c, struct class *k);

/* What the job says where its class says `comment`. A suspended victim says for whom it is (the server has written that),
 * and behind it why the server would not resume it, where that is the comment: the text is c->own_comment then. NULL: an
 * array that has begun, which says when. */
const char *cycle_decide_comment(struct cycle *c, const struct job *j, const char *comment);

/* A request (qrun) asks that this job be run at once, before all others, stopping what it must. `job`: an
 * identifier, also that of a subjob whose index is queued. Return false if there is no such job, it is in a
 * queue of another scheduler, or it cannot be run as it is. The next cycle_run decides: RUN, PREEMPT or
 * REFUSE. Asked twice it is one request. */
bool cycle_decide_urge(struct cycle *c, const char *job);

/* No request asks for this job any more. Nothing if none did. It is not put into its class again: callers
 * that need it do so. */
void cycle_decide_withdraw(struct cycle *c, struct job *j);

bool cycle_decide_may_run(const struct job *j); /* it waits, or is suspended by a scheduler */

#endif
