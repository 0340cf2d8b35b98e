#ifndef CYCLE_PRIVATE_H
#define CYCLE_PRIVATE_H
/* What the files of the cycle share; no other file includes it. cycle.c is one round of decisions, cycle_preempt.c takes the room
 * of running jobs, backfill.c keeps room for jobs that could not run, cycle_answers.c hears what came of the decisions, and
 * cycle_decide.c is what all of them call to decide about one job. */
#include "cycle.h"
#include "reason.h"

struct backfill;
struct inside;
struct keeps;
struct buckets;
struct calendar;
struct class;
struct class_heap;
struct classes;
struct gang;
struct allocation;
struct placer;
struct plans;
struct trial;

struct cycle {
    struct cluster *cl;
    struct accrual *accrual;
    struct rating *rating;
    bool rerate; /* the next cycle rates all jobs again */
    struct buckets *buckets;
    struct classes *classes;
    struct trial *trial;
    struct placer *placer;
    struct plans *plans;
    struct gang *gang;
    struct backfill *backfill;
    struct keeps *keeps;     /* for reservations */
    struct inside *inside;   /* the room of one that runs */
    struct class_heap *heap; /* of the cycle under way */
    const char **urged;      /* jobs that a request (qrun) is waiting for; interned */
    size_t n_urged, cap_urged, n_refused;
    int64_t refused_s;   /* when refused jobs are tried again */
    int64_t forget_s;    /* when those who failed to give way may be tried again; 0: there are none */
    int64_t primetime_s; /* when prime or dedicated time begins or ends next; 0: never */
    int64_t now_s, attempts;
    int64_t until_s; /* when the last job would end that could begin in this cycle */
    struct decisions *d;
    cycle_elapsed_fn *elapsed; /* NULL: no limit of time */
    void *elapsed_arg;
    cycle_step_fn *step; /* NULL: no signs of life are needed */
    void *step_arg;
};

/* ---- cycle_decide.c: what is decided about one job; it calls none of the others
 * Run it, or let it go on: the decision, and the order that takes the room. An array runs by its next subjob. */
void cycle_decide_run(struct cycle *c, struct job *j, const struct allocation *where);

/* Add to the decision `x` about a job the walltime that it will be given, where that differs from the one it has. */
void cycle_decide_length(struct cycle *c, struct decision *x, const struct job *j);

/* A job that a request asks for cannot run: the request is refused, and the job waits like others again. */
void cycle_decide_refuse(struct cycle *c, struct job *j, const char *text);

/* Do not try this class again before something changes. NULL is ignored. */
void cycle_decide_failed(const struct cycle *c, struct class *k);

/* No request asks for this job any more. */
void cycle_decide_withdraw(struct cycle *c, struct job *j);

bool cycle_decide_may_run(const struct job *j); /* it waits, or is suspended by a scheduler */

/* ---- cycle_preempt.c: the room of running jobs */
struct preemptor cycle_preemptor(struct cycle *c, const struct class *k, const struct job *j);
/* The first of this class finds no room that is free. true: others are to make room, by turns or by preemption; it is decided.
 * `why` is the obstacle, and what is said of it after. For an array it is the next subjob. */
bool cycle_preempt_for_class(struct cycle *c, struct class *k, struct reason *why);

/* The same for this job, before others are considered; it is in a class. */
bool cycle_preempt_for(struct cycle *c, struct job *j);

/* Run jobs that await room where other room has come free meanwhile, if their level is at least `highest`. */
void cycle_preempt_elsewhere(struct cycle *c, int highest);

/* ---- cycle_resv.c: reservations that need vnodes */
void cycle_confirm_resvs(struct cycle *c);
bool cycle_has_resvs(const struct cycle *c, int64_t now_s); /* is there one? */
int64_t cycle_resv_wakes_s(const struct cycle *c);          /* when there will be one; 0: that is not known */

/* ---- backfill.c: jobs that could not run, and what is kept for them */
struct backfill *backfill_create(struct cluster *cl);
void backfill_destroy(struct backfill *a);
void backfill_begin(struct backfill *a,
                    int64_t now_s);        /* a cycle begins: nothing is booked, no job is stopped */
void backfill_end(struct cycle *c);        /* its last job was looked at */
void backfill_started(struct backfill *a); /* a job was told to run */
/* Return true if a job that others had to wait for has gone or changed: then they may run. */
bool backfill_has_changed(const struct backfill *a);
/* sched_preempt_enforce_resumption: return true if later jobs must not keep this one waiting. */
bool backfill_is_owed(const struct cluster *cl, const struct job *j);
/* Return true if it may not run because a job before it could not. */
bool backfill_forbids(const struct backfill *a, const struct job *j);
/* As attempt_room, beside what is kept for others. */
bool backfill_find_room(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why);
/* Take out of the trial what a job that stops others must leave alone. The caller undoes it. */
void backfill_keep_from_victims(struct cycle *c, const struct job *urgent);
/* The first of this class could not run. true: it is booked in the calendar, and out of its class until backfill_end. */
bool backfill_failed(struct cycle *c, struct class *k, const struct picker *picker, const struct preemptor *p,
                     const struct reason *why);

/* For forecast.c, between cycles: the calendar, empty then; is the job a top job with a place; the order of jobs. */
struct calendar *backfill_calendar(const struct backfill *a);
bool backfill_is_booked(const struct cycle *c, const struct job *j);
bool backfill_is_before(const struct cycle *c, const struct job *a, const struct job *b);
/* The top jobs before this one, in their order; the caller frees. */
struct job **backfill_tops_before(const struct cycle *c, const struct job *j, size_t *n);

#endif
