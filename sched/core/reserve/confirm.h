#ifndef CONFIRM_H
#define CONFIRM_H
/* Vnodes for a reservation: whether it has room at its time, and when it would have.
 *
 * It is placed as a job would be at its beginning, when jobs have ended by their walltimes, beside what is kept for other reservations
 * until its end. All occurrences have room, or none is confirmed. Dedicated time and amounts that are bounded at the server count; run
 * limits and prime time do not.
 *
 * One that runs keeps the vnodes on which its jobs are, and the others as far as they can be used.
 *
 * Nothing is decided here, and the trial is as before. No I/O, no clock.
 */
#include "keeps.h"
#include "psets.h"

struct confirm_ask {
    struct cluster *cl;
    struct trial *trial;
    struct placer *placer;
    struct buckets *buckets;
    struct keeps *keeps; /* it is made for these times, and again before confirm_try returns */
    struct resv *resv;
    int64_t now_s, until_s;
};

enum { CONFIRM_TEXT_MAX = 2 * REASON_TEXT_MAX }; /* a reason, and the job that it is about */

struct confirm_answer {
    struct resv_time *times; /* of all occurrences that are left; NULL: there is no room */
    size_t n;
    struct reason why; /* there is no room */
    char no_preemption
        [CONFIRM_TEXT_MAX]; /* of an ASAP reservation, by cycle_resv.c: why no job gives way; "": it is not asked */
    size_t failed;          /* which occurrence has none, from 0 */
    int64_t
        could_s; /* of one that has one occurrence: the first time found at which it would fit; 0: none was */
};

/* O(occurrences × (vnodes + jobs that end before)); where there is no room, a look for each of the times that are tried. */
void confirm_try(const struct confirm_ask *ask, struct confirm_answer *out);
void confirm_fini(struct confirm_answer *x);

/* What the server is told: an exec_vnode, of several occurrences "3#(n1:ncpus=1){0-1}(n2:ncpus=1){2}". The caller frees. */
char *confirm_text(const struct cluster *cl, const struct confirm_answer *x);

#endif
