#ifndef UNDER_WAY_H
#define UNDER_WAY_H
/* Preemptions under way as if they were done: victims have left, what is kept for the jobs that await their room is given back, and
 * these jobs are there (leave, kept and come of release_times.h).
 *
 * A vnode may be in all three, and is moved once: there may be ten thousand victims, and what the urgent job takes is mostly what they
 * leave. */
#include "release_times.h"
#include "trial.h"

struct under_way_part {
    struct node *node;
    struct amounts less;     /* what is free of it is less by so much; below 0: more */
    int64_t n_gone, n_comes; /* parts of jobs */
};

struct under_way {
    struct under_way_part *a; /* each vnode once */
    size_t n, cap;
};

/* Right for `l` until it is listed again. `u` is emptied before; O(parts). */
void under_way_list(struct under_way *u, const struct release_times *l);
/* Do it in the trial, which borrows from `u` until the caller undoes it. */
void under_way_end(const struct under_way *u, struct trial *t);
void under_way_fini(struct under_way *u);

#endif
