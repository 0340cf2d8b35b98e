#ifndef SHRINK_TO_FIT_H
#define SHRINK_TO_FIT_H
/* Jobs that take what time there is: a job with min_walltime runs for max_walltime (or its walltime) where it can, and where
 * a boundary or a booked job is in its way for as long as it can, but not for less than min_walltime.
 *
 * The length found is kept in job->short_s (0: all of its time), which counts for whatever asks how long it will run, until
 * the job runs or it is tried again. No I/O, no clock.
 */
#include "calendar.h"
#include "decisions.h"
#include "keeps.h"

/* Room for it, at the length that it has. As attempt_room. */
typedef bool shrink_try_fn(void *arg, struct allocation *where, struct reason *why);

struct shrink {
    struct cluster *cl;
    const struct calendar *calendar;
    const struct keeps *keeps;
    struct decisions *log;
    struct job *job;
    int64_t now_s;
    shrink_try_fn *try;
    void *arg;
};

/* Room for its longest time that has some. A job without min_walltime is tried as it is. true: `where`
 * (empty before, the caller's) has its place. false: `why` says why there is none, and the job is as short
 * as prime and dedicated time make it, so that others may give way to it so. Rule: doc/scheduling.md. At
 * most 3 + TRIES_MAX calls of `try`. */
bool shrink_to_fit_find(const struct shrink *s, struct allocation *where, struct reason *why);

/* The walltime that it is to be given before it runs; 0: the one that it has. */
int64_t shrink_to_fit_walltime_s(const struct job *j);

#endif
