#ifndef RELEASE_TIMES_H
#define RELEASE_TIMES_H
/* When room is released: reservations that run, and jobs that run, end or were ordered to run, by their walltimes.
 *
 * A preemption that is under way is taken as done: its victims are not in the list, the job for which they give way is.
 * Where this scheduler does not know that job's place (it was started after it had been planned), victims count as if they
 * ran on. A job past its soft_walltime is taken to need as much again, and again, up to its walltime; one past its walltime to
 * end at once; one without any limit to run for five years.
 */
#include "sched_cluster.h"

struct release {
    int64_t at_s;
    struct job *job;             /* NULL: a reservation that runs; its jobs have no ends of their own */
    const struct resv *resv;     /* where `job` is NULL */
    const struct allocation *on; /* what comes free then; the job's */
};

struct release_times {
    struct release *a; /* by time */
    size_t n, cap;
    /* What is under way already, and of which the end is reckoned from: victims leave, and the jobs for which they do have
     * their places in the room that is kept for them and in that of the victims. */
    struct allocation leave, kept, come;
};

/* List all of them, as the cluster is now; O(jobs that run × log of that). Borrows from it. `l` is emptied before. */
void release_times_list(struct release_times *l, const struct cluster *cl, int64_t now_s);
/* The same in two steps, for who may not need their order: in no order, O(jobs that run); then by time. */
void release_times_gather(struct release_times *l, const struct cluster *cl, int64_t now_s);
void release_times_sort(struct release_times *l);
void release_times_fini(struct release_times *l);

size_t release_times_until(const struct release_times *l, int64_t at_s); /* how many are over at that time */
#endif
