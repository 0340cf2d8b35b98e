#ifndef PREEMPT_ORDER_H
#define PREEMPT_ORDER_H
/* The grammar of preempt_order, preempt_prio and preempt_sort, and what they parse to.
 *
 * The attribute types of ifl/def check values with these functions; server, scheduler and commands read values with
 * them. PBS Administrator's Guide, "Using Preemption". Pure; caller's memory; any thread.
 */
#include "err.h"
#include "preempt_method.h"

/* preempt_order: "METHODS [PERCENT METHODS]...", for example "SCR 80 SC 50 S". Percentages are whole numbers from 1 to 100
 * and fall from left to right. The methods of group i hold for jobs with more than group[i].above percent of their time
 * left; `above` of the last group is -1. */
enum { ORDER_MAX_GROUPS = 21 }; /* PBS: at most 20 percentages */
struct preempt_order {
    size_t n; /* 0: there is none */
    struct {
        int above;
        struct preempt_methods methods;
    } group[ORDER_MAX_GROUPS];
};

/* -1, PBSE_BADATVAL: the text names the word that is wrong and why. */
int order_parse(const char *text, struct preempt_order *out, struct err *e);

/* The methods for a job with this percentage of its time left (preempt_rules_percent_left). `o` has at least one group.
 * Borrowed from `o`. */
const struct preempt_methods *order_methods(const struct preempt_order *o, int percent_left);

/* preempt_prio: levels from high to low, "express_queue, normal_jobs, fairshare+queue_softlimits". A level is a set of
 * properties, joined by +. */
enum prio_bit {
    PRIO_NORMAL = 1,
    PRIO_EXPRESS = 2,
    PRIO_SERVER_SOFTLIMIT = 4,
    PRIO_QUEUE_SOFTLIMIT = 8,
    PRIO_FAIRSHARE = 16
};
enum { PRIO_MAX_LEVELS = 20 };
struct preempt_prio {
    size_t n;
    unsigned level[PRIO_MAX_LEVELS]; /* sets of enum prio_bit, the highest first */
};

int preempt_order_parse_prio(const char *text, struct preempt_prio *out,
                             struct err *e); /* -1, PBSE_BADATVAL */

/* Numeric preemption level of a job. */
enum {
    PRIO_TOP = 100000, /* of a job that an operator runs by qrun */
    PRIO_STEP = 1000   /* between two levels of preempt_prio */
};

/* The level of a job that has all properties of `mask` in a queue of this Priority. The level of preempt_prio with most
 * properties counts of those whose properties the job has all, the higher one where two have equally many; that of
 * normal_jobs where there is none, 0 where that is not listed either. A level with express_queue gains queue_priority. */
int preempt_order_prio_value(const struct preempt_prio *p, unsigned mask, long queue_priority);

/* preempt_sort: which of several candidates of one level is preempted first. */
enum preempt_sort {
    PREEMPT_LATEST, /* min_time_since_start, of PBS: the one that started last */
    PREEMPT_LEAST,  /* least_lost_work: the set that loses the least work */
    PREEMPT_FEWEST, /* fewest_jobs: the smallest set, of these the one that loses the least work */
    PREEMPT_SORT_COUNT
};
int preempt_order_parse_sort(const char *text, enum preempt_sort *out); /* -1: another word */

#endif
