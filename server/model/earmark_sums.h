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
 * changes, never stored. Whoever moves one of these calls earmark_sums_review. Loop thread only. */
#include "earmark.h"
#include "job.h"
#include "node.h"
#include "preempt_method.h"
#include "run_demand.h"

struct queue;
struct server_ctx;

/* Would this method free this resource, which the job has? A suspended job gives back what the list
 * restrict_res_to_release_on_suspend names, without such a list everything but memory; one of a queue with gang never
 * its memory. */
bool earmark_sums_method_frees(const struct server_ctx *s, const struct job *j, enum method_id m,
                               const struct resource *r);
bool earmark_sums_is_memory(const struct resource *r);
/* METHOD_RELEASE: has the job offered this vnode? */
bool earmark_sums_is_offered(const struct job *j, const struct node *n);
/* The method that a victim is to give way by: under way, or next; METHOD_DELETE for one that is about to end anyhow;
 * METHOD_NONE for a job that does not give way. */
enum method_id earmark_sums_method_of(const struct job *j);
/* How much of a resource this use will have given back when the method is done. */
int64_t earmark_sums_would_free(const struct server_ctx *s, const struct node_use *u, enum method_id m,
                                const struct resource *r);

/* The hold keeps `w` (amounts are taken out of it) on each of these vnodes. -1: no memory, nothing is kept. */
int earmark_sums_put(struct server_ctx *s, struct earmark_obj *h, struct run_demand *w, size_t n,
                     struct err *e);
void earmark_sums_drop(struct server_ctx *s, struct earmark_obj *h);
/* For its own job to claim: the hold does not count until it is switched on again. */
void earmark_sums_switch(struct server_ctx *s, struct earmark_obj *h, bool on);

/* Something on this vnode has changed: make node->held anew, tell ^room of the holds here. O(uses). */
void earmark_sums_review(struct server_ctx *s, struct node *n);
/* The same for all vnodes of a job that begins or ceases to give way. */
void earmark_sums_review_job(struct server_ctx *s, const struct job *j);

/* What is kept of a server-level resource (queue NULL) or one of this queue. O(victims) of holds that want it. */
int64_t earmark_sums_shared(const struct server_ctx *s, const struct queue *q, const struct resource *r);

/* Is all there now that the hold wants, on every vnode and at server and queue? *at remembers where it lacked
 * last, for the next time. */
bool earmark_sums_is_there(const struct server_ctx *s, const struct earmark_obj *h, size_t *at);

#endif
