#ifndef POLICY_H
#define POLICY_H
/* The site's settings: the sched object's attributes and sched_config, as data.
 *
 * A policy is the caller's memory and is complete after policy_init; the sched object's attributes come by
 * policy_attribute (from the mirror), sched_config's are plain fields that sched/files.c fills. Many parts
 * read it while they decide; nothing is written during a cycle but policy_dynamic.taken. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "preempt_rules.h"

enum { POLICY_SORT_MAX = 20 };

enum sort_what {                /* of jobs */
                 SORT_PRIORITY, /* the job's Priority */
                 SORT_RESOURCE,
                 SORT_SHARE, /* what its owner is entitled to, whatever they have used */
                 SORT_LEVEL  /* its preemption level */
};
struct sort_key {
    enum sort_what what;
    const char *resource; /* of SORT_RESOURCE: interned */
    uint16_t id;          /* its number in the catalogue; the cluster's */
    bool high;            /* larger first */
};

enum node_what { NODE_BY_PRIORITY, NODE_BY_LAST_USE, NODE_BY_TOTAL, NODE_BY_ASSIGNED, NODE_BY_UNUSED };
struct node_key {
    enum node_what what;
    const char *resource; /* of a total, assigned or unused amount: interned */
    uint16_t id;          /* its number in the catalogue; the cluster's */
    bool high;            /* larger first */
};

enum share_entity { /* what fairshare_entity says */
                    SHARE_OF_USER,
                    SHARE_OF_GROUP,
                    SHARE_OF_ACCOUNT,
                    SHARE_OF_QUEUE,
                    SHARE_OF_GROUP_USER,
                    SHARE_OF_COUNT
};

struct policy_dynamic { /* server_dyn_res: a resource of which a script says how much there is */
    char *resource, *command;
    char *available; /* as the script said for this cycle; NULL: it has not been asked yet */
    int64_t taken;   /* by jobs that have been ordered to run since; the cluster's */
};

struct policy {
    /* attributes of the sched object */
    enum preempt_sort preempt_sort;
    struct preempt_settings preempt; /* of the scheduler: order, exemption, budget, preempt_queue_prio */
    struct preempt_prio prio;        /* levels */
    int64_t preempt_wait_s;          /* not where enough ends by itself within that time; 0: at once */
    int64_t fuzzy_s;                 /* opt_backfill_fuzzy: ends of jobs this close are taken together */
    int64_t timeslice_s;             /* length of a turn, where the queue does not say */
    bool preempt_targets;
    bool preempt_for_resv;   /* ASAP reservations of express jobs */
    bool enforce_resumption; /* sched_preempt_enforce_resumption */
    bool no_spanning;        /* do_not_span_psets: a job that fits into no placement set never runs */
    bool explicit_sets;      /* only_explicit_psets: vnodes whose resource is not set make up none */
    bool scheduling;
    int64_t iteration_s;
    int64_t cycle_length_s;  /* sched_cycle_length: longest main loop of a cycle */
    int64_t update_period_s; /* attr_update_period: from one telling of waiting jobs to the next */
    bool waits_for_hosts; /* job_run_wait execjob_hook: an order to run is answered when hosts have begun */
    int64_t dynamic_alarm_s; /* server_dyn_res_alarm: how long a script may take; 0: as long as it likes */
    unsigned log_mask;
    char partition[256];          /* "": the default one */
    char *sched_priv, *sched_log; /* directories; NULL: not set */

    double formula_threshold; /* job_sort_formula_threshold, where has_threshold */
    bool has_threshold;
    char *formula;           /* job_sort_formula of the sched object; NULL: the server's counts */
    unsigned formula_number; /* changes with both */

    /* of the server */
    char *server_formula;
    char *suspend_frees; /* restrict_res_to_release_on_suspend; NULL: no such list */

    /* sched_config */
    bool preemptive;
    int64_t preempt_attempts; /* per cycle; 0: as many as there are jobs */
    bool by_queue, round_robin;
    bool
        strict_ordering; /* the order of jobs is binding: the calendar keeps jobs from delaying those before them */
    bool strict_fifo; /* the first job of a queue that fails stops the rest of it */
    bool backfill;    /* false: with strict_ordering no job passes another one */
    bool round_hosts; /* smp_cluster_dist round_robin: a job of one chunk goes behind the last one's host */
    struct prime_calendar *times; /* holidays and dedicated_time; the policy's own */
    bool is_prime;                /* the options are those of prime time */
    bool backfill_prime;          /* no job hangs over a change of prime time by more than ... */
    int64_t prime_spill_s;
    bool resv_ignores_dedicated; /* resv_confirm_ignore */
    bool prime_exempt;           /* ... but jobs of queues that have nothing to do with it */
    char *prime_prefix, *nonprime_prefix, *dedicated_prefix; /* of queues; NULL: no queue is such */
    struct policy_dynamic *dynamic;
    size_t n_dynamic;
    bool update_comments;
    int64_t max_job_check; /* 0: all */
    struct sort_key job_sort[POLICY_SORT_MAX];
    size_t n_job_sort;
    struct node_key node_sort[POLICY_SORT_MAX]; /* in which order vnodes are filled; none: by name */
    size_t n_node_sort;
    bool fair_share;
    int64_t unknown_shares;
    enum share_entity share_entity;
    char *share_usage;     /* fairshare_usage_res, a formula; NULL: cput */
    int64_t share_decay_s; /* 0: never */
    double share_decay;
    bool share_enforce;   /* who has no shares never runs */
    char *resources;      /* comma list of what is checked; NULL: everything */
    char *unset_infinite; /* resource_unset_infinite; NULL: none */
};

void policy_init(struct policy *p); /* PBS's defaults */
void policy_fini(struct policy *p);

/* One attribute of the sched object; value NULL: back to its default. Unknown ones are nothing.
 * -1 with PBSE_BADATVAL and the default in force: the server would have refused it. */
int policy_attribute(struct policy *p, const char *name, const char *value, struct err *e);

/* The names that policy_attribute knows; NULL behind the last one. */
const char *policy_attribute_name(size_t i);

/* The job_sort_formula in force; NULL: none. */
const char *policy_formula(const struct policy *p);
void policy_server_formula(struct policy *p, const char *text); /* what the server's attribute says */

/* Does the order of jobs follow the shares of their owners, by fair_share or as a key of sorting? */
bool policy_orders_by_share(const struct policy *p);
/* Is what jobs use counted for their owners' shares: for fair_share, or for a formula that names usage? */
bool policy_counts_use(const struct policy *p);
/* Does the order of vnodes move with what is used of them? */
bool policy_sorts_by_use(const struct policy *p);
/* No server_dyn_res any more. */
void policy_forget_dynamic(struct policy *p);
/* No keys any more. */
void policy_forget_keys(struct policy *p);

/* May the fate of a job depend on those before it: are all looked at in each cycle? */
bool policy_is_strict(const struct policy *p);

/* The conditions in preempt_prio (PRIO_ bits) that come and go while a job waits or runs; 0: the level of a job is that of its queue. */
unsigned policy_moving_levels(const struct policy *p);

bool policy_is_memory(const char *resource);

/* Does a job give this resource back when it is suspended? What restrict_res_to_release_on_suspend lists; without
 * it everything but memory. */
bool policy_suspend_frees(const struct policy *p, const char *resource);

/* Is `name` in a comma list? NULL list: `otherwise`. */
bool policy_lists(const char *list, const char *name, bool otherwise);

#endif
