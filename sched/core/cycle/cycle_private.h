#ifndef CYCLE_PRIVATE_H
#define CYCLE_PRIVATE_H
/* What cycle.c (one round of decisions) and cycle_answers.c (what came of them) share. Nobody else includes it. */
#include "cycle.h"
#include "reason.h"

struct backfill;
struct buckets;
struct class;
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
    bool rerate; /* the next cycle rates all jobs anew */
    struct buckets *buckets;
    struct classes *classes;
    struct trial *trial;
    struct placer *placer;
    struct plans *plans;
    struct gang *gang;
    struct backfill *backfill;
    struct class **heap; /* classes that may run, the next on top; of the cycle under way */
    size_t n, cap;
    const char **urged; /* jobs that somebody asked to be run, and was not answered yet; interned */
    size_t n_urged, cap_urged, n_refused;
    int64_t refused_s;   /* when refused jobs are tried again */
    int64_t forget_s;    /* when those who failed to give way may be tried again; 0: there are none */
    int64_t primetime_s; /* when prime or dedicated time begins or ends next; 0: never */
    int64_t now_s, attempts;
    struct decisions *d;
    cycle_elapsed_fn *elapsed; /* NULL: nobody looks at the time */
    void *elapsed_arg;
    cycle_step_fn *step; /* NULL: nobody asks for signs of life */
    void *step_arg;
};

/* ---- cycle_decide.c: what is decided about one job
 * Run it, or let it go on: the decision, and the order that takes the room. An array runs by its next subjob. */
void cycle_decide_run(struct cycle *c, struct job *j, const struct allocation *where);

/* What it will run for, where that is not its walltime as it stands: beside the decision about it, which stays borrowed. */
void cycle_decide_length(struct cycle *c, struct decision *x, const struct job *j);

/* A job that somebody asked for and that cannot run: they are told, and it waits like others again. */
void cycle_refuse(struct cycle *c, struct job *j, const char *text);

/* Not again before something changes. NULL: it is in no class. */
void cycle_note_failed(const struct cycle *c, struct class *k);

/* Nobody asks for it any more. */
void cycle_calm(struct cycle *c, struct job *j);

bool cycle_may_run(const struct job *j); /* it waits, or is suspended by a scheduler */

/* ---- cycle_others.c: the room of others */
struct preemptor cycle_preemptor(struct cycle *c, const struct class *k, const struct job *j);
/* The first of this class finds no room that is free. true: others are to make room, by turns or by preemption; it is decided.
 * `why` is what stands in the way, and what is said of it after. For an array it is the next subjob. */
bool cycle_others_give_way(struct cycle *c, struct class *k, struct reason *why);

/* ---- backfill.c: jobs that could not run, and what is kept for them */
struct backfill *backfill_create(struct cluster *cl);
void backfill_destroy(struct backfill *a);
void backfill_begin(struct backfill *a,
                    int64_t now_s);        /* a cycle begins: nothing is booked, nobody is stopped */
void backfill_end(struct cycle *c);        /* its last job was looked at */
void backfill_started(struct backfill *a); /* somebody was told to run */
/* Has a job gone, or is it another, that others had to wait for? Then they may run. */
bool backfill_has_changed(const struct backfill *a);
/* sched_preempt_enforce_resumption: is this one not to be kept waiting by jobs that come later? */
bool backfill_is_owed(const struct cluster *cl, const struct job *j);
/* May it not run since one before it could not? */
bool backfill_forbids(const struct backfill *a, const struct job *j);
/* As attempt_room, beside what is kept for others. */
bool backfill_find_room(struct cycle *c, const struct picker *picker, const struct preemptor *p,
                        struct allocation *where, struct reason *why);
/* Take out of the trial what a job that stops others must leave alone. The caller undoes it. */
void backfill_keep_from_victims(struct cycle *c, const struct job *urgent);
/* The first of this class could not run. true: it is booked in the calendar, and out of its class until backfill_end. */
bool backfill_failed(struct cycle *c, struct class *k, const struct picker *picker, const struct preemptor *p,
                     const struct reason *why);

/* ---- cycle_elsewhere.c: run jobs that await others where room has come free meanwhile, if they are of this level at least */
void cycle_try_elsewhere(struct cycle *c, int highest);

#endif
