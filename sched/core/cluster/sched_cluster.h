#ifndef SCHED_CLUSTER_H
#define SCHED_CLUSTER_H
/* The scheduler's mirror of everything that it decides about, fed change by change.
 *
 *   cluster_change / cluster_gone    as the stream brings them, in any order (cluster_change.h, cluster_gone.h)
 *   cluster_settle                   when caught up: now names are looked up, sums are made, listeners told (cluster_settle.h)
 *
 * Between the two, looking at the cluster is not allowed. Changes cost what they touch, never a walk over all
 * jobs or nodes; only changes of configuration (a queue's priority, the sched object, a vnode added) do more.
 *
 * Besides the server's word the cluster holds this scheduler's own open orders (cluster_order): the room of
 * a job that was told to run counts as taken before the stream says so (cluster_order.h).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"
#include "sched_job.h"
#include "sched_node.h"
#include "sched_resv.h"
#include "policy.h"
#include "sched_queue.h"

struct attrl;
struct cluster;

enum cluster_kind { /* numbers of ifl_kind */
                    CLUSTER_SERVER,
                    CLUSTER_QUEUE,
                    CLUSTER_JOB,
                    CLUSTER_NODE,
                    CLUSTER_RESV,
                    CLUSTER_RESOURCE,
                    CLUSTER_SCHED,
                    CLUSTER_HOLD,
                    CLUSTER_KIND_COUNT
};

/* ^ A part that keeps an index of the cluster, or a fact of jobs. Called while the cluster settles, by
 * orders and by trials, on the caller's stack; a listener changes only what is its own. NULL: not told.
 * Told in the order in which they have come. */
struct cluster_listener {
    void (*node_in)(void *arg, struct node *n);   /* its free amounts are now these */
    void (*node_out)(void *arg, struct node *n);  /* its free amounts are about to change, or it goes */
    void (*job_waits)(void *arg, struct job *j);  /* WAITS or SUSPENDED, and nothing ordered */
    void (*job_leaves)(void *arg, struct job *j); /* no longer */
    void (*job_seen)(void *arg, struct job *j);   /* it is as it is now; before it waits */
    void (*job_gone)(void *arg, struct job *j); /* the server has it no longer: this is what was seen last */
    void (*job_comment)(void *arg, struct job *j); /* only its comment is another */
    void *arg;
};

/* sched_name: the sched object that is ours. `policy` is borrowed, and its attributes are written here. */
struct cluster *cluster_create(const char *sched_name, struct policy *policy);
void cluster_destroy(struct cluster *cl); /* cluster_gone_all has emptied it; NULL is ignored */
void cluster_listen(struct cluster *cl, const struct cluster_listener *l);

/* --- looking ------------------------------------------------------------------------------------- */
const struct policy *cluster_policy(const struct cluster *cl);
struct catalogue *cluster_catalogue(const struct cluster *cl);
struct queue *cluster_server(const struct cluster *cl);
struct job *cluster_job(const struct cluster *cl, const char *id); /* NULL: not there */
struct node *cluster_node(const struct cluster *cl, const char *name);
struct queue *cluster_queue(const struct cluster *cl, const char *name);

struct resv *cluster_resv(const struct cluster *cl, const char *id);                /* NULL: not there */
struct resv *cluster_next_resv(const struct cluster *cl, const struct resv *after); /* NULL: the first */

/* Has this scheduler anything to serve? Another than the default one needs a partition. */
bool cluster_has_partition(const struct cluster *cl);
bool cluster_has_no_nodes(const struct cluster *cl);
/* Is this queue in the scheduler's partition? */
bool cluster_serves(const struct cluster *cl, const struct queue *q);

struct queue *cluster_next_queue(const struct cluster *cl, const struct queue *after); /* NULL: first */

struct job *const *cluster_running(const struct cluster *cl, size_t *n);  /* RUNS, in no order */
struct job *const *cluster_ending(const struct cluster *cl, size_t *n);   /* ENDS, in no order */
struct job *const *cluster_awaiting(const struct cluster *cl, size_t *n); /* AWAITS, in no order */
/* Told to run or go on, or waits for others to give way, and the stream does not show it: `claim` is their room. */
struct job *const *cluster_ordered(const struct cluster *cl, size_t *n);
struct node *const *cluster_nodes(const struct cluster *cl, size_t *n);     /* by rank */
struct host *const *cluster_big_hosts(const struct cluster *cl, size_t *n); /* more than one vnode */
struct job *cluster_next_job(const struct cluster *cl, struct job *after);  /* NULL: the first */

/* Changes when something may run that could not before: room came free, a limit or a state changed. A class
 * that failed at one value is not tried again while the value is the same, so a part that makes something
 * possible and notes nothing leaves jobs waiting. Noted too often costs a cycle. */
uint64_t cluster_news(const struct cluster *cl);
void cluster_note_news(struct cluster *cl);
/* Changes when a running job may be preempted that could not be before: it is up, is resumed after a suspension, or levels of preemption
 * have moved. */
uint64_t cluster_stoppable(const struct cluster *cl);
void cluster_note_stoppable(struct cluster *cl);
/* Changes when what reservations have, or are to have, may have: these themselves, their vnodes, one that is left out; and when others
 * begin or cease to give way to a job. What jobs have of vnodes moves without that: cluster_listener.node_in tells. */
uint64_t cluster_promised(const struct cluster *cl);
void cluster_note_promised(struct cluster *cl);
/* Changes when the keeps of vnodes may have (reserve/keeps.h), also those of vnodes that stay alike. */
uint64_t cluster_kept(const struct cluster *cl);
void cluster_note_kept(struct cluster *cl);
/* Changes with vnodes and their totals: "never" may be otherwise now. */
uint64_t cluster_shape(const struct cluster *cl);

/* Does a vnode have a limit for users or groups? */
bool cluster_limits_vnodes(const struct cluster *cl);

/* The array of a subjob, or NULL. */
struct job *cluster_array(const struct cluster *cl, const struct job *sub);

/* For trial: tell listeners before and after the free amounts of a node move. */
void cluster_node_out(struct cluster *cl, struct node *n);
void cluster_node_in(struct cluster *cl, struct node *n);
/* Between these two: n->free moves by `times` times this, and what others share with it moves too. */
void cluster_node_move(struct cluster *cl, struct node *n, const struct amounts *use, int64_t times);

#endif
