#ifndef CANDIDATES_H
#define CANDIDATES_H
/* Running jobs that may be stopped for another one, in the order in which PBS would take them.
 *
 * A search for victims (pick_pbs.c, gang.c) fills a struct preemptor for the asking job and collects;
 * explain collects as well, to tell why each of the others stays. Nothing is decided here. What is found
 * out about a job is noted in the job (level, cost, freed) and holds until the next collection. */
#include "reason.h"
#include "exclusion.h"
#include "sched_cluster.h"

/* A list of running jobs, borrowed from the cluster. {0} is empty. */
struct candidates {
    struct job **a;
    size_t n, cap;
    size_t all;     /* running jobs before preempt_targets was looked at */
    size_t targets; /* and after it */
};

/* The job that asks, and how it is to be asked. A value; all pointers are borrowed for the search. */
struct preemptor {
    const struct cluster *cl;
    const struct job *job;
    const struct request *request;
    int level;
    int64_t now_s;
    int64_t
        later_s;   /* 0, or the time for which it is placed: the trial has given back what ends until then */
    bool no_resvs; /* what is kept for reservations does not matter */
    bool by_start; /* whatever preempt_sort says, of one level the latest start goes first */
    /* ^ return true if this victim has failed to give way to the job before */
    bool (*has_failed)(void *arg, const struct job *preemptor, const struct job *victim);
    /* ^ a job that may not be stopped now may be at that time */
    void (*later)(void *arg, int64_t at_s);
    /* ^ this running job is left out, and why; EXEMPT: until when. May be NULL. */
    void (*excluded)(void *arg, struct job *j, enum exclusion why, int64_t until_s);
    void *arg;
};

/* Fill `l` (initialised to zero; candidates_fini frees): lowest level first, of these the latest start first.
 * Left out, for the reasons of exclusion.def: equal or higher levels, jobs that no method may be applied to, that are in
 * reservations, on vnodes that are down, or already giving way, and those that would not help with `why`. */
void candidates_collect(struct candidates *l, const struct preemptor *p, const struct reason *why);
void candidates_fini(struct candidates *l);

/* Parts of the question whether this one is a candidate: all its vnodes are up; one of them could, were it
 * empty, take one of the chunks, or it has some of an amount that vnodes share. */
bool candidates_nodes_are_up(const struct job *j);
bool candidates_are_useful(const struct preemptor *p, const struct job *j);

/* Return true for preempt_targets=NONE: the job never stops others. */
bool candidates_are_forbidden(const struct preemptor *p);

/* Return true if stopping jobs cannot mend this reason: the hours, the queue's state, vnodes that are away
 * or not there, what is kept for reservations and bookings, the job's own shares. */
bool candidates_are_hopeless(const struct reason *why);

/* Return true if the budget covers all of them together. */
bool candidates_budget_covers(const struct preemptor *p, const struct candidates *victims);

#endif
