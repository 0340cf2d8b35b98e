#ifndef SCHED_CLUSTER_H
#define SCHED_CLUSTER_H
/* The scheduler's mirror of everything that it decides about, fed change by change.
 *
 *   universe_change / universe_gone   as the stream brings them, in any order
 *   universe_settle                   when caught up: now names are looked up, sums are made, listeners told
 *
 * Between the two, looking at the universe is not allowed. Changes cost what they touch, never a walk over all
 * jobs or nodes; only changes of configuration (a queue's priority, the sched object, a vnode added) do more.
 *
 * Besides the server's word the universe holds this scheduler's own open orders (universe_order): the room of
 * a job that was told to run counts as taken before the stream says so.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"
#include "sched_job.h"
#include "sched_node.h"
#include "policy.h"
#include "sched_queue.h"

struct attrl;
struct universe;

enum universe_kind { /* numbers of ifl_kind */
                     UNIVERSE_SERVER,
                     UNIVERSE_QUEUE,
                     UNIVERSE_JOB,
                     UNIVERSE_NODE,
                     UNIVERSE_RESV,
                     UNIVERSE_RESOURCE,
                     UNIVERSE_SCHED,
                     UNIVERSE_HOLD,
                     UNIVERSE_KIND_COUNT
};

/* ^ Who keeps an index of the universe. Called while it settles, and by trial and orders. */
struct universe_listener {
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
struct universe *universe_create(const char *sched_name, struct policy *policy);
void universe_destroy(struct universe *u);
void universe_listen(struct universe *u, const struct universe_listener *l);

/* One object as it is now, all wanted attributes. Returns true when it is news that can matter. */
bool universe_change(struct universe *u, enum universe_kind kind, const char *name,
                     const struct attrl *attrs);
bool universe_gone(struct universe *u, enum universe_kind kind, const char *name);

/* Forget every object (the stream begins anew). Open orders are forgotten too; resources stay known. */
void universe_clear(struct universe *u);

/* What this job has used by now: news that the stream does not bring. Unknown jobs are nothing. */
void universe_used(struct universe *u, const char *id, const struct attrl *attrs);

/* The policy's settings of files are others: every job is looked at again when it settles. */
void universe_reconfigured(struct universe *u);

/* Make it whole. Returns false when what was read cannot be understood as it was read (a resource is new, or
 * changed its type after objects had used it): read everything again, after universe_clear. */
bool universe_settle(struct universe *u);

/* A job has been ordered to run: where vnodes are sorted by what is used of them they are so again. No trial is under way. */
void universe_resort(struct universe *u);

/* --- looking ------------------------------------------------------------------------------------- */
const struct policy *universe_policy(const struct universe *u);
struct catalogue *universe_catalogue(const struct universe *u);
struct queue *universe_server(const struct universe *u);
struct job *universe_job(const struct universe *u, const char *id); /* NULL: not there */
struct node *universe_node(const struct universe *u, const char *name);
struct queue *universe_queue(const struct universe *u, const char *name);

/* Has this scheduler anything to serve: another than the default one needs a partition. Is this queue its own? */
bool universe_has_partition(const struct universe *u);
bool universe_has_no_nodes(const struct universe *u);
bool universe_serves(const struct universe *u, const struct queue *q);

struct queue *universe_next_queue(const struct universe *u, const struct queue *after); /* NULL: first */

struct job *const *universe_running(const struct universe *u, size_t *n);  /* RUNS, in no order */
struct job *const *universe_ending(const struct universe *u, size_t *n);   /* ENDS, in no order */
struct job *const *universe_awaiting(const struct universe *u, size_t *n); /* AWAITS, in no order */
/* Told to run or go on, or waits for others to give way, and the stream does not show it: `claim` is their room. */
struct job *const *universe_ordered(const struct universe *u, size_t *n);
struct node *const *universe_nodes(const struct universe *u, size_t *n);     /* by rank */
struct host *const *universe_big_hosts(const struct universe *u, size_t *n); /* more than one vnode */
size_t universe_job_count(const struct universe *u);
struct job *universe_next_job(const struct universe *u, struct job *after); /* NULL: the first */

/* Changes when something may run that could not before: room came free, a limit or a state changed. */
uint64_t universe_news(const struct universe *u);
void universe_note_news(struct universe *u);
/* Changes when a running job may be preempted that could not be before: it is up, or goes on after a suspension. */
uint64_t universe_stoppable(const struct universe *u);
/* Changes with vnodes and their totals: "never" may be otherwise now. */
uint64_t universe_shape(const struct universe *u);

/* The rank from which on a job of one chunk is to be placed where they go round the hosts: behind the host that was
 * given to a job last. 0: from the first. O(nodes). */
uint32_t universe_round_from(const struct universe *u);

/* Does a vnode have a limit for users or groups? */
bool universe_limits_vnodes(const struct universe *u);

/* --- arrays --------------------------------------------------------------------------------------
 * An array waits like a job while it has queued indices. To run one of them it becomes a job here, provisional
 * until the stream shows it: */
struct job *universe_spawn(struct universe *u, struct job *array); /* of the lowest index; the array waits */
/* Of this very index, "41[7].svr1". NULL: there is no such array, or the index is not queued. */
struct job *universe_spawn_named(struct universe *u, const char *id);
/* It will not be run: an index again. */
void universe_unspawn(struct universe *u, struct job *sub);
/* Do as many of its subjobs run as max_run_subjobs allows? */
bool universe_array_is_full(const struct universe *u, const struct job *array);
/* An array in its class may have no index left that is no job here: then it leaves, and this is false. */
bool universe_array_is_open(struct universe *u, struct job *array);
/* The array that has this index queued, by the subjob's name; NULL: none has. */
struct job *universe_array_named(const struct universe *u, const char *id);
/* The array of a subjob, or NULL. */
struct job *universe_array(const struct universe *u, const struct job *sub);

/* --- orders -------------------------------------------------------------------------------------- */
/* The job has been ordered to run or resume (and takes the room `claim` at once), or to give way, or waits
 * until others have given way (and will then take `claim`). An order of another kind replaces it. `claim` is
 * copied; NULL: no room. */
void universe_order(struct universe *u, struct job *j, enum order_kind kind, const struct pieces *claim);
/* The server has taken the order: the job's next change ends it. */
void universe_order_taken(struct universe *u, struct job *j);
/* It did not happen, or is over. */
void universe_order_drop(struct universe *u, struct job *j);

/* Its class may be another now: out and in again. */
void universe_rejoin(struct universe *u, struct job *j);
/* What a job that AWAITS takes of the room that is free already; the rest comes from its victims. */
void universe_reserve(struct universe *u, struct job *j, const struct pieces *reserve);

/* For trial: tell listeners before and after the free amounts of a node move. */
void universe_node_out(struct universe *u, struct node *n);
void universe_node_in(struct universe *u, struct node *n);
/* Between these two: n->free moves by `times` times this, and what others share with it moves too. */
void universe_node_move(struct universe *u, struct node *n, const struct amounts *use, int64_t times);

#endif
