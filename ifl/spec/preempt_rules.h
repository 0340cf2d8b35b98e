#ifndef PREEMPT_RULES_H
#define PREEMPT_RULES_H
/* The policy of preemption: facts in, answers out.
 *
 * Server, scheduler and commands ask here how much of its time a job has left, which methods may be tried on it, what
 * protects it, what a method destroys, and what a queue may still destroy. Each of them fills the structs from its own
 * picture of the objects, so explain, plan, budget, accounting and report cannot differ in a rule. Rules of PBS: Big Book,
 * "Using Preemption"; rules of our own: doc/preemption.md. Pure; caller's memory; any thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "preempt_order.h"

/* A job that may be preempted. */
struct preempt_facts {
    int64_t soft_walltime_s, walltime_s, cput_s; /* of Resource_List; 0: not requested */
    int64_t used_walltime_s, used_cput_s;        /* of resources_used, as last reported in this run */
    int64_t start_s;             /* start of the run, seconds since 1970; 0: it has not started */
    int64_t paused_s;            /* time in which this run was suspended, a present suspension included */
    bool suspended;              /* now */
    int64_t cores;               /* ncpus that it has claimed; below 1 counts as 1 */
    int64_t count;               /* preempt_count */
    struct preempt_methods wish; /* preempt_methods; empty: it has none */
};

/* What a queue or a scheduler sets. PREEMPT_UNSET: it says nothing. */
enum { PREEMPT_UNSET = -1 };
struct preempt_settings {
    const char *name;           /* of the queue; NULL: of a scheduler */
    struct preempt_order order; /* n 0: not set */
    bool never;                 /* a queue's preempt_order is "none" */
    int64_t exempt_s;           /* preempt_exempt_time */
    int64_t max_count;          /* preempt_max_count */
    double budget;              /* preempt_budget, core-hours an hour */
    int64_t priority;           /* a queue's Priority; a scheduler's preempt_queue_prio */
    const char *preemptable_by; /* a queue's, NULL: not set */
    bool methods_enable;        /* a queue's preempt_methods_enable */
};

/* Nothing set, of a queue or, with name NULL, a scheduler (preempt_queue_prio 150, order SCR: PBS's defaults). */
void preempt_rules_init_settings(struct preempt_settings *s, const char *name);
/* Take a preempt_order; a scheduler's, or a queue's that may be "none". false: it is not one, and `s` stays as it was. */
bool preempt_rules_settings_order(struct preempt_settings *s, const char *text);

/* Percent of the requested time (soft_walltime, else walltime, else cput) that is left, 0 to 100. 1 for a job past its end;
 * 100 where nothing was requested or used. The used share is cut to whole percents, as PBS does. */
int preempt_rules_percent_left(const struct preempt_facts *f, int64_t now_s);

/* Core-seconds of work that this method would destroy now: cores times the seconds worked, by methods that lose work. */
double preempt_rules_loss(const struct preempt_facts *f, enum method_id m, int64_t now_s);

/* The methods that may be tried on the job, in order: the group of the queue's preempt_order, else of the scheduler's, for
 * the time left; where the queue allows it, only those that the job wishes, unless none were left then. Empty: the queue's
 * order is "none". */
void preempt_rules_methods(const struct preempt_facts *f, const struct preempt_settings *queue,
                           const struct preempt_settings *sched, int64_t now_s, struct preempt_methods *out);

/* What protects a job. */
enum preempt_exempt {
    EXEMPT_NOT,
    EXEMPT_NEVER, /* preempt_order of its queue is "none" */
    EXEMPT_COUNT, /* preempt_max_count is reached */
    EXEMPT_BY,    /* preemptable_by of its queue does not name the urgent job's queue */
    EXEMPT_TIME,  /* preempt_exempt_time since its start has not passed */
    EXEMPT_COUNT_OF
};

/* Is the job protected from a job of queue `urgent` (NULL: no queue was named)? *until_s: when EXEMPT_TIME ends, else 0. A
 * job that has not started counts as just started. */
enum preempt_exempt preempt_rules_exempt(const struct preempt_facts *f, const struct preempt_settings *queue,
                                         const struct preempt_settings *sched,
                                         const struct preempt_settings *urgent, int64_t now_s,
                                         int64_t *until_s);

/* Is this an express queue: is its Priority at least preempt_queue_prio? */
bool preempt_rules_is_express(const struct preempt_settings *queue, const struct preempt_settings *sched);

/* preemptable_by of the victim's queue: does it name the urgent job's queue, "express_queue" or "normal_jobs"? */
bool preempt_rules_is_preemptable_by(const struct preempt_settings *queue,
                                     const struct preempt_settings *urgent,
                                     const struct preempt_settings *sched);

/* A number that the queue sets, else the scheduler, else `unset`. */
int64_t preempt_rules_number(int64_t of_queue, int64_t of_sched, int64_t unset);

/* preempt_budget of jobs of this queue in core-seconds an hour; PREEMPT_UNSET: none. */
double preempt_rules_budget(const struct preempt_settings *urgent, const struct preempt_settings *sched);
/* May jobs of this queue destroy `loss` more core-seconds, if `spent` are in its ledger or agreed to? */
bool preempt_rules_affords(double budget, double spent, double loss);

#endif
