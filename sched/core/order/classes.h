#ifndef CLASSES_H
#define CLASSES_H
/* Waiting jobs that are alike: where one does not fit, none does.
 *
 * Alike are jobs of one queue with equal select, place, counted needs and preemption targets, and of one
 * user, group or project where run limits speak of such, and of one walltime where it matters how long a
 * job runs. Arrays of which as many subjobs run as may are alike among themselves. A suspended job and one
 * that is run by request are classes of their own. Each class keeps its jobs in a heap, the next one on
 * top; so a cycle looks at classes, and at jobs only when they run.
 *
 * It listens to the cluster: a job is in the class of its key from job_waits to job_leaves. Whatever
 * changes a key while a job is in a class must take the job out first and back afterwards
 * (cluster_index_rejoin), or a change of policy makes all jobs dirty. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "reason.h"
#include "sched_cluster.h"

/* What makes jobs alike. A field is empty where it does not matter at this site, so that there are fewer
 * classes. */
struct
    class_key { /* interned texts, compared by address; memset before it is filled, since it is hashed as bytes */
    const char *queue, *select, *place, *needs, *targets, *job, *user, *group, *project;
    const struct share *share; /* the entity of the jobs, where there are shares */
    const char *dynamic;       /* amounts of server_dyn_res, "2:0:" */
    int64_t lasts_s, least_s;  /* where it matters how long they run */
    bool is_full;              /* arrays that have reached max_run_subjobs */
};

struct class
{
    struct class_key key;
    struct classes *of;
    struct request *request;
    struct queue *queue;
    struct job **heap; /* heap[0] is next; classes.c writes */
    size_t n, cap;
    int level;                 /* the cycle's: numeric preemption level of its jobs */
    uint64_t failed_at;        /* the cycle's: cluster_news() when it did not fit; 0: not tried */
    uint64_t failed_stoppable; /* the cycle's: cluster_stoppable() then */
    struct reason why;         /* of that failure */
    const char *comment;       /* interned: what its jobs shall say; NULL: nothing yet */
    bool told;                 /* all its jobs say so */
    bool has_new;              /* a job has come since the cycle looked at it */
    size_t cursor;             /* where the telling of comments has arrived */
    UT_hash_handle hh;
};

struct classes;

/* Never NULL. After fairshare_accrual and rating, whose fields of a job decide its class and its place. */
struct classes *classes_create(struct cluster *cl); /* becomes a listener of `cl` */
void classes_destroy(struct classes *c);

struct class *classes_next(const struct classes *c, const struct class *after); /* NULL: the first */
void classes_sweep(struct classes *c); /* free those without jobs; they stay until then */
/* For the rest of a cycle the next job of its class is looked at in place of this one. No listener is told;
 * it keeps its place in the class of that cycle, and must be put back before the cycle ends, unless it has
 * come into a class meanwhile. */
void classes_take_out(struct class *k, struct job *j);
void classes_put_back(struct class *k, struct job *j);

void classes_say(struct class *k, const char *comment); /* its jobs shall have this comment */

#endif
