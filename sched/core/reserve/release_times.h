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
    bool moves; /* a second later it would be another time: it does not run yet, or is overdue */
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
/* Those alone that were ordered to run, or await room, in no order; O(these). Return true if the victims count as gone. */
bool release_times_gather_orders(struct release_times *l, const struct cluster *cl, int64_t now_s);
/* When a job that holds vnodes gives them back, as it would be listed; are_known is what release_times_gather_orders has returned. 0: it is not listed: it
 * belongs to a reservation, or gives way. */
int64_t release_times_of(const struct job *j, bool are_known, int64_t now_s);
void release_times_fini(struct release_times *l);

size_t release_times_until(const struct release_times *l, int64_t at_s); /* how many are over at that time */
#endif
