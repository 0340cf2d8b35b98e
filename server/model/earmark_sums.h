#ifndef EARMARK_SUMS_H
#define EARMARK_SUMS_H
/* The arithmetic of earmarks: how much of a vnode, of the server or of a queue is kept from other jobs.
 *
 * While a victim still has its room, that room covers the earmark, and nothing that is free is kept. As victims
 * release, what they gave back is kept. So on each vnode, for each earmark and resource,
 *
 *     kept = max(0, what the job will claim - what its victims here have yet to give back)
 *
 * and node->held is the sum over earmarks. It is derived and never stored; code that changes a use, a victim's
 * method or an earmark calls earmark_sums_review, which computes it again. Loop thread only. */
#include "earmark.h"
#include "job.h"
#include "node.h"
#include "preempt_method.h"
#include "run_demand.h"

struct queue;
struct server_ctx;

/* Return true if this method would free this resource, which the job has. A suspended job gives back what the
 * list restrict_res_to_release_on_suspend names; without such a list, everything but memory. A job in a gang
 * queue never gives back its memory. */
bool earmark_sums_method_frees(const struct server_ctx *s, const struct job *j, enum method_id m,
                               const struct resource *r);
bool earmark_sums_is_memory(const struct resource *r);
/* For METHOD_RELEASE: return true if the job has offered this vnode. */
bool earmark_sums_is_offered(const struct job *j, const struct node *n);
/* The method by which a victim gives way: under way, or next; METHOD_DELETE for a job that is about to end in
 * any case; METHOD_NONE for a job that does not give way. */
enum method_id earmark_sums_method_of(const struct job *j);
/* How much of a resource this use will have given back when the method is done. */
int64_t earmark_sums_would_free(const struct server_ctx *s, const struct node_use *u, enum method_id m,
                                const struct resource *r);

/* Earmark the amounts of `w` (moved out of it) on each of these vnodes. -1: no memory, nothing is kept. */
int earmark_sums_put(struct server_ctx *s, struct earmark_obj *h, struct run_demand *w, size_t n,
                     struct err *e);
void earmark_sums_drop(struct server_ctx *s, struct earmark_obj *h);
/* Switch it off for its own job to claim: the earmark does not count until it is switched on again. */
void earmark_sums_switch(struct server_ctx *s, struct earmark_obj *h, bool on);

/* Compute node->held again after a change on this vnode, and tell EVENT_EARMARK_ROOM of the earmarks here. O(uses). */
void earmark_sums_review(struct server_ctx *s, struct node *n);
/* The same for all vnodes of a job that begins or stops giving way. */
void earmark_sums_review_job(struct server_ctx *s, const struct job *j);

/* The amount kept of a server-level resource (queue NULL) or of one of this queue. O(victims) of the earmarks
 * that want it. */
int64_t earmark_sums_shared(const struct server_ctx *s, const struct queue *q, const struct resource *r);

/* Return true if all that the earmark wants is free now, on every vnode and at server and queue. *at remembers
 * what was missing last, to look there first the next time. */
bool earmark_sums_is_there(const struct server_ctx *s, const struct earmark_obj *h, size_t *at);

#endif
