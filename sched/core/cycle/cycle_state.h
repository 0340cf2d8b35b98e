#ifndef CYCLE_STATE_H
#define CYCLE_STATE_H
/* The fields of a cycle, for the files of this folder that decide; others ask cycle.h.
 *
 * Seven files include it, since a cycle is one decision made in parts: each part (class_heap, calendar,
 * gang, keeps ...) is a type of its own that sees none of this, and the files here say in which order the
 * parts are asked. The comments say which file writes a field; the other files only read it. */
#include "cycle.h"

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

/* A name of a job and a reason behind it; the server cuts comments at 255. */
enum { CYCLE_OWN_COMMENT_MAX = 512 };

struct cycle {
    /* cycle.c creates these; each is changed by its own functions */
    struct cluster *cl;
    struct accrual *accrual;
    struct rating *rating;
    struct buckets *buckets;
    struct classes *classes;
    struct trial *trial;
    struct placer *placer;
    struct plans *plans;
    struct gang *gang;
    struct backfill *backfill;
    struct keeps *keeps;       /* for reservations */
    struct inside *inside;     /* the room of one that runs */
    cycle_elapsed_fn *elapsed; /* NULL: no limit of time */
    void *elapsed_arg;
    cycle_step_fn *step; /* NULL: no signs of life are needed */
    void *step_arg;

    /* of the cycle under way: cycle.c */
    struct class_heap *heap;
    struct decisions *d; /* all append; between cycles cycle_answers.c and cycle_resv.c set it for the call */
    int64_t now_s;
    int64_t until_s;  /* when the last job would end that could begin in this cycle */
    int64_t attempts; /* searches for victims; cycle_preempt.c counts */

    /* when there is something to do though no news has come: cycle.c reads */
    bool rerate;         /* the next cycle rates all jobs again; cycle.c */
    int64_t primetime_s; /* when prime or dedicated time begins or ends next; 0: never; cycle.c */
    char own_comment[CYCLE_OWN_COMMENT_MAX]; /* of a suspended victim; cycle_decide.c */
    size_t n_refused;                        /* cycle_answers.c counts, cycle.c begins again at 0 */
    int64_t refused_s;                       /* when refused jobs are tried again; cycle_answers.c */
    int64_t
        forget_s; /* when those who failed to give way may be tried again; 0: there are none; cycle_preempt.c */

    /* jobs that a request (qrun) is waiting for; interned; cycle_decide.c */
    const char **urged;
    size_t n_urged, cap_urged;
};

#endif
