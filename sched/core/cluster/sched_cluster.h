#ifndef SCHED_CLUSTER_H
#define SCHED_CLUSTER_H
/* The scheduler's mirror of everything that it decides about, fed change by change.
 *
 *   cluster_change / cluster_gone   as the stream brings them, in any order
 *   cluster_settle                   when caught up: now names are looked up, sums are made, listeners told
 *
 * Between the two, looking at the cluster is not allowed. Changes cost what they touch, never a walk over all
 * jobs or nodes; only changes of configuration (a queue's priority, the sched object, a vnode added) do more.
 *
 * Besides the server's word the cluster holds this scheduler's own open orders (cluster_order): the room of
 * a job that was told to run counts as taken before the stream says so.
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

/* ^ Who keeps an index of the cluster. Called while it settles, and by trial and orders. */
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
void cluster_destroy(struct cluster *cl);
void cluster_listen(struct cluster *cl, const struct cluster_listener *l);

/* One object as it is now, all wanted attributes. Returns true when it is news that can matter. */
bool cluster_change(struct cluster *cl, enum cluster_kind kind, const char *name, const struct attrl *attrs);
bool cluster_gone(struct cluster *cl, enum cluster_kind kind, const char *name);

/* Forget every object (the stream begins again). Open orders are forgotten too; resources stay known. */
void cluster_clear(struct cluster *cl);

/* What this job has used by now: news that the stream does not bring. Unknown jobs are nothing. */
void cluster_change_used(struct cluster *cl, const char *id, const struct attrl *attrs);

/* The policy's settings of files are others: every job is looked at again when it settles. */
void cluster_change_policy(struct cluster *cl);

/* Make it whole. Returns false when what was read cannot be understood as it was read (a resource is new, or
 * changed its type after objects had used it): read everything again, after cluster_clear. */
bool cluster_settle(struct cluster *cl);

/* A job has been ordered to run: where vnodes are sorted by what is used of them they are so again. No trial is under way. */
void cluster_resort(struct cluster *cl);

/* --- looking ------------------------------------------------------------------------------------- */
const struct policy *cluster_policy(const struct cluster *cl);
struct catalogue *cluster_catalogue(const struct cluster *cl);
struct queue *cluster_server(const struct cluster *cl);
struct job *cluster_job(const struct cluster *cl, const char *id); /* NULL: not there */
struct node *cluster_node(const struct cluster *cl, const char *name);
struct queue *cluster_queue(const struct cluster *cl, const char *name);

struct resv *cluster_resv(const struct cluster *cl, const char *id);                /* NULL: not there */
struct resv *cluster_next_resv(const struct cluster *cl, const struct resv *after); /* NULL: the first */

/* Has this scheduler anything to serve: another than the default one needs a partition. Is this queue its own? */
bool cluster_has_partition(const struct cluster *cl);
bool cluster_has_no_nodes(const struct cluster *cl);
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

/* Changes when something may run that could not before: room came free, a limit or a state changed. */
uint64_t cluster_news(const struct cluster *cl);
void cluster_note_news(struct cluster *cl);
/* Changes when a running job may be preempted that could not be before: it is up, or is resumed after a suspension. */
uint64_t cluster_stoppable(const struct cluster *cl);
/* Changes with vnodes and their totals: "never" may be otherwise now. */
uint64_t cluster_shape(const struct cluster *cl);

/* The rank from which on a job of one chunk is to be placed where they go round the hosts: behind the host that was
 * given to a job last. 0: from the first. O(nodes). */
uint32_t cluster_order_round_from(const struct cluster *cl);

/* Does a vnode have a limit for users or groups? */
bool cluster_limits_vnodes(const struct cluster *cl);

/* --- arrays --------------------------------------------------------------------------------------
 * An array waits like a job while it has queued indices. To run one of them it becomes a job here, provisional
 * until the stream shows it: */
struct job *cluster_array_spawn(struct cluster *cl,
                                struct job *array); /* of the lowest index; the array waits */
/* Of this very index, "41[7].svr1". NULL: there is no such array, or the index is not queued. */
struct job *cluster_array_spawn_named(struct cluster *cl, const char *id);
/* It will not be run: an index again. */
void cluster_array_unspawn(struct cluster *cl, struct job *sub);
/* Do as many of its subjobs run as max_run_subjobs allows? */
bool cluster_array_is_full(const struct cluster *cl, const struct job *array);
/* An array in its class may have no index left that is not a job here: then it leaves, and this is false. */
bool cluster_array_is_open(struct cluster *cl, struct job *array);
/* The array that has this index queued, by the subjob's name; NULL: none has. */
struct job *cluster_array_named(const struct cluster *cl, const char *id);
/* The array of a subjob, or NULL. */
struct job *cluster_array(const struct cluster *cl, const struct job *sub);

/* --- orders -------------------------------------------------------------------------------------- */
/* The job has been ordered to run or resume (and takes the room `claim` at once), or to give way, or waits
 * until others have given way (and will then take `claim`). An order of another kind replaces it. `claim` is
 * copied; NULL: no room. */
void cluster_order(struct cluster *cl, struct job *j, enum order_kind kind, const struct allocation *claim);
/* The server has taken the order: the job's next change ends it. */
void cluster_order_taken(struct job *j);
/* It did not happen, or is over. */
void cluster_order_drop(struct cluster *cl, struct job *j);

/* Its class may be another now: out and in again. */
void cluster_index_rejoin(struct cluster *cl, struct job *j);
/* What a job that AWAITS takes of the room that is free already; the rest comes from its victims. */
void cluster_order_reserve(struct cluster *cl, struct job *j, const struct allocation *reserve);

/* --- reservations ---------------------------------------------------------------------------------
 * The server is told to confirm it at these times (taken over), or, n 0, that this cannot be. Until the server shows it they are its
 * own, and it is not looked at again. */
void cluster_resv_promise(struct cluster *cl, struct resv *r, struct resv_time *times, size_t n);
/* The server's answer: again_s 0: taken; else refused, and it may be tried again at that time. */
void cluster_resv_answered(struct cluster *cl, struct resv *r, int64_t again_s);

/* For trial: tell listeners before and after the free amounts of a node move. */
void cluster_index_node_out(struct cluster *cl, struct node *n);
void cluster_index_node_in(struct cluster *cl, struct node *n);
/* Between these two: n->free moves by `times` times this, and what others share with it moves too. */
void cluster_index_node_move(struct cluster *cl, struct node *n, const struct amounts *use, int64_t times);

#endif
