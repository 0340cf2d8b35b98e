#ifndef CROWD_H
#define CROWD_H
/* A world of any size for the scheduler's core, without daemons: what costs a cycle how much, in steps (steps.h).
 *
 * Every job wants one processor; jobs are of ten users and of so many classes, which differ in select
 * and walltime. Jobs run when the core says so: the crowd answers its orders and tells it of the starts, as server and stream
 * would. Each function that does something returns what it cost the core, in steps. */
#include <stdbool.h>
#include <stdint.h>

#include "cycle.h"

struct crowd_size {
    int nodes, jobs, classes;
    int ncpus;   /* of a vnode; 0: one */
    int resvs;   /* to come, of ten vnodes each */
    bool strict; /* fair_share, strict_ordering, and a hundred top jobs */
};

struct crowd {
    struct policy policy;
    struct cycle *c;
    struct crowd_size size;
    int64_t now_s;
    int *at;                  /* of each job the vnode on which it runs, or -1 */
    int *used, *used_kb;      /* of each vnode: processors, memory */
    int n_running;            /* of them */
    int n_urgent;             /* jobs that crowd_urge has submitted */
    int n_started, n_victims; /* by the last cycle */
    size_t n_before;          /* the job that was explained: jobs before it */
};

struct crowd *crowd_create(struct crowd_size size); /* all jobs wait; no cycle has run */
void crowd_destroy(struct crowd *w);

uint64_t crowd_cycle(struct crowd *w); /* one cycle, if there is news, and the starts that it decides */
uint64_t crowd_ask(struct crowd *w);   /* the same, asked for: every class is tried */
/* A second has passed and the job that has run longest ends; cycles until there is no news. */
uint64_t crowd_end_one(struct crowd *w);
/* An urgent job of so many chunks comes; victims are chosen. Nothing comes of it: the server refuses the plan. */
uint64_t crowd_urge(struct crowd *w, int chunks);
/* The job that is behind all others is explained, as pbs_explain does. */
uint64_t crowd_explain(struct crowd *w);

#endif
