#ifndef SCHED_JOB_H
#define SCHED_JOB_H
/* A job as the scheduler sees it.
 *
 * The fields of the first part are the server's word, decoded by job_take; the second part is the cluster's
 * own. Every part may read; the comments say which file writes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "amounts.h"
#include "allocation.h"
#include "preempt_rules.h"

struct attrl;
struct class;
struct idset;
struct policy;
struct queue;
struct resv;
struct share;

enum sched_state {                      /* what a job is to the scheduler */
                   SCHED_STATE_OTHER,   /* held, waiting for its time, in transit ... */
                   SCHED_STATE_WAITING, /* may be run; of an array: some of its subjobs may */
                   SCHED_STATE_AWAITING_ROOM, /* the server holds room for it, and runs it when others have given way */
                   SCHED_STATE_RUNNING,   /* holds its vnodes, and is a victim of preemption if need be */
                   SCHED_STATE_ENDING,    /* still holds its vnodes */
                   SCHED_STATE_SUSPENDED, /* by a scheduler: may be resumed on its own vnodes */
                   SCHED_STATE_STOPPED    /* suspended by a person */
};

enum order_kind { /* what this scheduler has ordered and not yet seen in the stream */
                  ORDER_NONE,
                  ORDER_RUN,
                  ORDER_RESUME,
                  ORDER_STOP,   /* is being preempted */
                  ORDER_AWAITS, /* waits for the jobs that are being preempted for it */
                  ORDER_REFUSED /* the server would not run it: not again for a while, or until it changes */
};

enum job_picked { /* as a victim */
                  PICKED_NOT,
                  PICKED_CHOSEN,  /* stopped in the trial */
                  PICKED_EXCLUDED /* it would not do, which other jobs are stopped does not matter */
};

struct job {
    const char *id; /* interned */
    char state;
    bool is_array;
    int substate;
    const char *queue_name, *user, *group, *project, *account; /* interned */
    const char *select, *place, *exec_vnode, *targets, *resv;  /* interned or NULL */
    const char
        *released; /* interned or NULL: what a suspended job gave back, and needs again, as an exec_vnode */
    const char *needs;   /* interned: job-wide counted resources, "ncpus=2:mem=1gb:"; or NULL */
    const char *asks;    /* interned: every Resource_List item, ";walltime=60;ncpus=2;" */
    struct amounts want; /* Resource_List, what is counted at queue and server */
    int64_t priority, rank, run_version;
    int64_t start_s, preempted_s; /* wall clock; 0: never */
    int64_t paused_s; /* how long it has been suspended in this run, without a suspension that is not over */
    int64_t limit_s, cpu_limit_s; /* soft_walltime or walltime, cput; 0: none */
    int64_t most_s;               /* walltime; 0: none */
    int64_t least_s;              /* min_walltime; 0: none. While it waits max_walltime is its limit_s */
    int64_t used_s, cpu_used_s;   /* as of the last change */
    struct amounts used;          /* resources_used of its present run, numbers only; as last told */
    bool rerunable, can_checkpoint;
    bool room_held, gives_way; /* a hold is for it; it is a victim */
    int preempt_failures; /* how often it was seen in this run, since it was altered last, that no method was left to preempt it */
    int64_t preempt_failed_s; /* when that was seen; 0: never */
    int64_t eligible_s, accrue_type;
    int64_t preempt_count;              /* how often it gave way */
    struct preempt_methods wish;        /* preempt_methods; empty: not set */
    bool never_top;                     /* topjob_ineligible */
    enum preempt_result preempt_method; /* of its last preemption */
    const char *comment;                /* interned or NULL */
    uint64_t look;                      /* hash of all attributes but the comment */
    uint64_t rest_look;                 /* the same without the indices that are left of an array */
    const char *array_id, *remaining;   /* interned or NULL: a subjob's array; an array's queued indices */
    int64_t max_subjobs;                /* of an array: so many may run at once; 0: any number */

    enum sched_state sched_state;
    bool is_recounted;   /* of an array: cluster_settle.c will see whether it is full */
    bool is_full;        /* of an array that is in a class: as many subjobs run as may; cluster_index.c */
    bool is_provisional; /* a subjob that this scheduler made, to be run, and the stream has not shown */
    bool is_top;         /* the server has been told that it is a top job; backfill.c */
    struct queue *queue; /* NULL: not known */
    struct resv *within; /* the reservation whose room it uses, which runs; NULL: none */
    /* On the list of the reservation that it belongs to, since it was last linked: resv_add_job */
    struct job *next_of_resv, **link_of_resv;
    struct idset *queued; /* of an array: `remaining` without those that are jobs here; NULL: none */
    struct allocation on; /* where it runs, or is suspended */
    struct allocation
        freed;      /* what of `on` it gives back when all that may be done is to suspend it; empty: all */
    int64_t cost;   /* of candidates.c, while it is one: what it costs to stop it */
    double rating;  /* of job_sort_formula; rating.c writes it while the job is in no class */
    int64_t seen_s; /* when it was as it is now, as rating.c knows the time */
    struct share *share; /* its entity, of fairshare_accrual.c; NULL: there are no shares */
    int64_t turn_s;      /* of gang.c: when its turn began; 0: it does not run, or that is not known */
    int64_t since_s;     /* the same: since when it has been suspended; 0: it is not, or that is not known */
    unsigned
        promised;    /* the same: the cycle in which it is to give way to another one when its turn is over */
    unsigned listed; /* the same: a search's mark */
    enum job_picked picked; /* pick_pbs.c, of a search under way */
    int level;              /* of candidates.c, while it is one */
    size_t running_at;      /* its place in the list of running, ending or awaiting jobs */
    size_t ordered_at;      /* the same of those that are ordered to run, or await others */
    int64_t moved_s;        /* of cycle_preempt.c: when it was told to run elsewhere; 0: never */
    int64_t short_s; /* of shrink_to_fit.c: the walltime that it will be given, of less; 0: all of limit_s */
    struct class *class; /* while it waits; classes.c */
    size_t class_at;
    const struct class *left; /* classes.c: that it was in last, for comparing addresses only */
    uint64_t joined_look;     /* the same: rest_look when it came to it */

    enum order_kind order;
    bool answered;             /* the server has taken the order */
    bool heard;                /* there was news of the job since the order, and before its answer */
    bool urged;                /* qrun: its level is the highest */
    bool is_charged;           /* of ORDER_RUN, ORDER_RESUME: `claim` is taken from what is free */
    bool dirty;                /* no index has it: cluster_index.c */
    struct allocation claim;   /* of ORDER_RUN, ORDER_RESUME, ORDER_AWAITS */
    struct allocation reserve; /* of ORDER_AWAITS: the part of `claim` that is taken from what is free */
    struct allocation
        awaited; /* of one that AWAITS: its `claim` when the server took the plan; empty: not known */
    uint64_t taken_print; /* of a dirty one: what it took from others before, as a hash; cluster_index.c */
    uint64_t stop;        /* the same: how it could be stopped */
    UT_hash_handle hh;
};

struct job *job_create(const char *id);
void job_destroy(struct job *j);

/* A request (qrun) asks for it, or does so no longer. While it does, a job that is held or waits for its time counts as queued (PBS);
 * the caller puts it into its class, or takes it out (cluster_index_rejoin). */
void job_urge(struct job *j, bool urged);

enum job_news { JOB_SAME, JOB_COMMENT, JOB_CHANGED };
/* Is anything different from what we have? Cheap (a hash of the attributes); decides whether job_take is
 * worth it. A new comment is taken at once. */
enum job_news job_look(struct job *j, const struct attrl *attrs);
/* Read all attributes again. `c` learns of resources that it does not know (catalogue_expect). The job is
 * dirty: no index has it. */
void job_take(struct job *j, struct catalogue *c, const struct attrl *attrs);

/* Only what it has used is new. */
void job_take_used(struct job *j, const struct catalogue *c, const struct attrl *attrs);

/* How much it asks for in Resource_List: in the resource's unit, booleans 1 or 0; 0 where it does not. */
double job_asked(const struct job *j, const struct catalogue *c, const char *resource);
/* The same of a number, as an amount; 0 of another one. */
int64_t job_asked_amount(const struct job *j, const struct catalogue *c, const char *resource);

/* What a subjob of this array is before the stream shows it: like its array, waiting, provisional. */
struct job *job_of_array(const struct job *array, const char *id);
/* The indices of `remaining` into `queued` again. */
void job_read_remaining(struct job *array);

/* When it would have begun had it never been suspended, so that its walltime is the time since then; 0: it has not. */
int64_t job_begun_s(const struct job *j);

enum { JOB_FOREVER_S = 157680000 }; /* five years: the length of a job without a walltime, as in PBS */

/* How long a waiting or suspended job will run once it does. */
int64_t job_lasts_s(const struct job *j);

/* What the rules of preemption ask about it. */
struct preempt_facts job_preempt_facts(const struct job *j);
/* The methods that the policy allows for a running job, in order, whether they can be applied to it or not. */
void job_preempt_methods(const struct job *j, const struct policy *p, int64_t now_s,
                         struct preempt_methods *out);

/* Return true if its Resource_List has exactly this "name=value". */
bool job_asks(const struct job *j, const char *item);

/* The part of its allocation that comes free when it gives way. */
const struct allocation *job_freed(const struct job *j);

/* A hash of what others may see of a running job beside its room: how long it runs; and one of how it may be stopped, which
 * matters to those that may preempt it alone. */
uint64_t job_hold_look(const struct job *j);
uint64_t job_stop_look(const struct job *j);
bool job_holds_nodes(const struct job *j); /* runs or ends */
bool job_counts(const struct job *j);      /* for limits: holds nodes, or awaits them */
bool job_is_up(const struct job *j);       /* runs, and is past its start: any method may be tried on it */
/* Return true if this method can be applied to it at all, whatever the policy says. */
bool job_can(const struct job *j, enum method_id m);

#endif
