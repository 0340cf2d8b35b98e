#ifndef SCHED_QUEUE_H
#define SCHED_QUEUE_H
/* A queue, or the server itself, as the scheduler sees it: who may run, and what is used of what there is.
 *
 * Usage counts jobs that run or end or have been ordered to run; who changes it calls queue_count.
 */
#include <stdbool.h>
#include <uthash.h>

#include "ledger.h"
#include "amounts.h"
#include "catalogue.h"
#include "limit_list.h"
#include "policy.h"
#include "limit_usage.h"

struct attrl;
struct job;

struct queue {
    const char *name; /* interned; "" is the server */
    bool started, executes;
    const char *partition;    /* interned; NULL: the default one */
    struct amounts available; /* resources_available: counted ones that have a bound */
    struct amounts used;
    struct limit_list limits;        /* run limits */
    struct preempt_settings preempt; /* its own; texts are interned */
    bool gang;                       /* its jobs take turns; gang.c */
    int64_t timeslice_s;             /* length of a turn; 0: the scheduler's counts */
    struct ledger ledger;            /* core-seconds that preemptions for its jobs have destroyed */
    const char *set_keys;            /* node_group_key: interned; NULL: none */
    bool sets_on;                    /* of the server: node_group_enable */
    bool eligible_time;              /* of the server: eligible_time_enable */
    struct limit_usage *running;     /* by entity */
    int64_t n_running;
    int64_t depth;  /* backfill_depth; -1: not said */
    int64_t n_top;  /* the cycle's: jobs that count against it */
    bool is_shut;   /* the cycle's: no other job may run, since one before it could not */
    size_t n_nodes; /* vnodes that belong to it alone */
    int64_t rounds; /* the cycle's: how many of its jobs were looked at */
    uint64_t look;  /* hash of the attributes below, to tell news from repetition */
    UT_hash_handle hh;
};

struct queue *queue_create(const char *name);
void queue_destroy(struct queue *q);

/* This job runs here (times 1), or no longer does (-1). */
void queue_count(struct queue *q, const struct job *j, int64_t times);

/* Read all attributes again. Return false if nothing that matters is different. */
bool queue_take(struct queue *q, struct catalogue *c, const struct attrl *attrs);

#endif
