#ifndef EARMARK_SUMS_H
#define EARMARK_SUMS_H
/* The arithmetic of holds: how much of a vnode, of the server or of a queue is kept from others.
 *
 * While a victim still has its room, that room covers the hold: nothing of what is free is kept. As victims
 * release, what they gave back is kept. So on each vnode, for each hold and resource,
 *
 *     kept = max(0, what the job will claim - what its victims here have yet to give back)
 *
 * and node->held is the sum over holds. It is derived, made anew whenever a use, a victim's method or a hold
 * changes, never stored. Whoever moves one of these calls held_review. Loop thread only. */
#include "earmark.h"
#include "job.h"
#include "node.h"
#include "preempt_method.h"
#include "run_demand.h"

struct queue;
struct site;

/* Would this method free this resource, which the job has? A suspended job gives back what the list
 * restrict_res_to_release_on_suspend names, without such a list everything but memory; one of a queue with gang never
 * its memory. */
bool held_method_frees(const struct site *s, const struct job *j, enum method_id m, const struct resource *r);
bool held_is_memory(const struct resource *r);
/* METHOD_RELEASE: has the job offered this vnode? */
bool held_is_offered(const struct job *j, const struct node *n);
/* The method that a victim is to give way by: under way, or next; METHOD_DELETE for one that is about to end anyhow;
 * METHOD_NONE for a job that does not give way. */
enum method_id held_method_of(const struct job *j);
/* How much of a resource this use will have given back when the method is done. */
int64_t held_would_free(const struct site *s, const struct node_use *u, enum method_id m,
                        const struct resource *r);

/* The hold keeps `w` (amounts are taken out of it) on each of these vnodes. -1: no memory, nothing is kept. */
int held_put(struct site *s, struct hold_obj *h, struct want *w, size_t n, struct err *e);
void held_drop(struct site *s, struct hold_obj *h);
/* For its own job to claim: the hold does not count until it is switched on again. */
void held_switch(struct site *s, struct hold_obj *h, bool on);

/* Something on this vnode has changed: make node->held anew, tell ^room of the holds here. O(uses). */
void held_review(struct site *s, struct node *n);
/* The same for all vnodes of a job that begins or ceases to give way. */
void held_review_job(struct site *s, const struct job *j);

/* What is kept of a server-level resource (queue NULL) or one of this queue. O(victims) of holds that want it. */
int64_t held_shared(const struct site *s, const struct queue *q, const struct resource *r);

/* Is all there now that the hold wants, on every vnode and at server and queue? *at remembers where it lacked
 * last, for the next time. */
bool held_is_there(const struct site *s, const struct hold_obj *h, size_t *at);

#endif
