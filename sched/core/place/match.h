#ifndef MATCH_H
#define MATCH_H
/* One chunk against one node: would it go there, and if not, why.
 *
 * Every question is about the vnode as it is now, trial included, and changes nothing. A caller asks in
 * this order, the cheap ones first: match_pool, match_labels, match_open, match_times of match_free. Where
 * it asks a sample of a bucket the answer holds for all its members (buckets.h), unless match_is_named. */
#include "reason.h"
#include "sched_cluster.h"

/* From when to when room is wanted. What reservations that begin meanwhile need must be left alone. */
enum span_by {
    SPAN_NONE,    /* reservations do not matter */
    SPAN_NOW,     /* it begins now */
    SPAN_NO_ENDS, /* it begins now, and no job that runs ends: for a job that would stop some of them */
    SPAN_LATER    /* it begins at that time, and the trial has given back what ends until then */
};
struct span {
    enum span_by by;
    int64_t begin_s, until_s;
};

/* Who asks: the same for all chunks of a job. */
struct asker {
    const struct cluster *cl;
    const struct request *request;
    const struct queue *queue; /* the job's */
    const struct job *job;     /* NULL: a reservation asks */
    struct span span;
    const struct resv *within; /* only the room of this one, where it is lent (inside.h); NULL: none */
    bool in_set;               /* only vnodes whose resource `set` has the value `set_value` */
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

/* What is free on the node beside reservations: n->free, or `scratch` (empty before, the caller's) filled. */
const struct amounts *match_free(const struct asker *a, const struct node *n, struct amounts *scratch);
/* Will a reservation be on the node, or have it alone, at any time of the span? */
bool match_is_kept(const struct asker *a, const struct node *n);
bool match_is_kept_alone(const struct asker *a, const struct node *n);

/* How many copies of the chunk fit into `have` (n->free, or n->total for "ever"), at most `most`. */
int64_t match_times(const struct asker *a, const struct node *n, const struct amounts *have,
                    const struct chunk *k, int64_t most);

/* The same beside reservations: match_times of match_free, without memory. */
int64_t match_times_beside(const struct asker *a, const struct node *n, const struct chunk *k, int64_t most);

/* REASON_NODE_AWAY: "node n1 is offline: disk swap", of a vnode whose state takes no jobs; `others`: so many more are
 * away that would do as well. */
void match_away(const struct node *n, int64_t others, struct reason *why);

/* The first thing compared that differs, as a reason. */
void match_differs(const struct asker *a, const struct node *n, const struct chunk *k, struct reason *why);

#endif
