#ifndef MATCH_H
#define MATCH_H
/* One chunk against one node: would it go there, and if not, why.
 * Rules: reference/scheduler.md section 4.
 */
#include "reason.h"
#include "sched_cluster.h"

/* Who asks: the same for all chunks of a job. */
struct asker {
    const struct cluster *cl;
    const struct request *request;
    const struct queue *queue; /* the job's */
    const struct job *job;
    bool in_set; /* only vnodes whose resource `set` has the value `set_value` */
    res_id set;
    const char *set_value; /* interned; NULL: it is not set there */
};

/* What a vnode's resource says that sorts it into placement sets, of string_array all of its words; NULL: it is not set. */
const char *match_set_of(const struct node *n, res_id set);

/* May jobs of this queue use the node at all: its queue, its partition. */
bool match_pool(const struct asker *a, const struct node *n);

/* Does the node offer what the chunk compares: arch, booleans, names, uncounted numbers. */
bool match_labels(const struct asker *a, const struct node *n, const struct chunk *k);

/* Does it matter which vnode it is, and not only what it is like? */
bool match_is_named(const struct asker *a, const struct chunk *k);

/* Would this job have the node alone, and all vnodes of its host? */
bool match_wants_alone(const struct asker *a, const struct node *n);
bool match_wants_host(const struct asker *a, const struct node *n);

/* max_running, max_user_run and max_group_run of the vnode allow one job more: REASON_NONE, or which does not. A job that is run
 * by request is not asked. */
enum reason_code match_limit(const struct asker *a, const struct node *n);

/* State, use and limits allow a new job to come here (not the amounts). */
bool match_open(const struct asker *a, const struct node *n);

/* How many copies of the chunk fit into `have` (n->free, or n->total for "ever"), at most `most`. */
int64_t match_times(const struct asker *a, const struct node *n, const struct amounts *have,
                    const struct chunk *k, int64_t most);

/* REASON_NODE_AWAY: "node n1 is offline: disk swap", of a vnode whose state takes no jobs; `others`: so many more are
 * away that would do as well. */
void match_away(const struct node *n, int64_t others, struct reason *why);

/* The first thing compared that differs, as a reason. */
void match_differs(const struct asker *a, const struct node *n, const struct chunk *k, struct reason *why);

#endif
