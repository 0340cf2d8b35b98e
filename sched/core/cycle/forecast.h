#ifndef FORECAST_H
#define FORECAST_H
/* When a job that waits is expected to begin, where, and what that rests on; and which vnodes refuse it now.
 *
 * The jobs before it in the order are booked in the calendar, then the job itself, as a cycle books top jobs; of a top job only top jobs
 * before it count, so its forecast is what the cycle has told it. Nothing is decided, and no later cycle sees that it was asked.
 * Preemption is left out: explain.h tells that. Also left out are jobs that may come, and ends before the walltime.
 */
#include "cycle.h"
#include "refusal.h"

/* FORECAST_PLANNED_MAX: a job further behind waits for more jobs than walltimes predict well, and each booking costs a
 * look at the ends of all running jobs. FORECAST_ITEMS_MAX: of each kind; more are counted. */
enum { FORECAST_PLANNED_MAX = 32, FORECAST_ITEMS_MAX = 100 };

enum forecast_kind {
    FORECAST_RUNS, /* a job that runs there and ends before, or whose end mends the limit that is in the way */
    FORECAST_BEFORE, /* a job before it that waits, and is expected to have its place until then */
    FORECAST_RESV,   /* a reservation that has its place until then, or would meet it */
    FORECAST_KIND_COUNT
};

struct forecast_item {
    enum forecast_kind kind;
    const struct job *job;   /* of RUNS and BEFORE */
    const struct resv *resv; /* of RESV */
    int64_t from_s, until_s; /* expected; from_s 0 of RUNS */
    bool is_open;            /* RUNS: it has no walltime, so its end is not known */
};

enum forecast_unknown { /* why there is no time */
                        FORECAST_KNOWN,
                        FORECAST_NEVER,   /* it would find no place though all that run had ended */
                        FORECAST_OPEN,    /* a job in its way has no walltime */
                        FORECAST_STOPPED, /* a person suspended it */
                        FORECAST_SUBJOBS, /* as many subjobs of its array run as may, and they have no walltime */
                        FORECAST_INSIDE, /* it waits for room of its reservation */
                        FORECAST_UNKNOWN_COUNT
};

struct forecast {
    const struct job *job;
    enum forecast_unknown unknown;
    int64_t at_s;            /* now, or later; 0: unknown */
    int64_t alone_s;         /* the same without jobs before it; 0: unknown */
    struct allocation where; /* of at_s */
    size_t n_before;         /* jobs before it that wait */
    size_t n_planned; /* of them those that were booked; where they are fewer, at_s is the earliest time */
    bool is_top;      /* it is a top job: at_s is promised by the cycle */
    struct forecast_item *items;                          /* by kind, then by time */
    size_t n_items, cap_items, n_of[FORECAST_KIND_COUNT]; /* all, also those that are not listed */
    struct refusals refusals;
    struct request *request; /* chunks of `refusals` */
};

/* Fill `out`, which borrows jobs, vnodes and reservations of the cluster until its next change; forecast_fini frees the rest. The job
 * has a queue, and holds no vnodes unless it is suspended. O(vnodes + waiting jobs + jobs that run × log of that). */
void forecast_make(struct cycle *c, const struct job *j, int64_t now_s, struct forecast *out);
void forecast_fini(struct forecast *f);

const char *forecast_unknown_text(enum forecast_unknown u); /* a sentence; "" of FORECAST_KNOWN */

#endif
