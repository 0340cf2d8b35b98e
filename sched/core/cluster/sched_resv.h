#ifndef SCHED_RESV_H
#define SCHED_RESV_H
/* A reservation as the scheduler sees it: what it asks for, and which vnodes are promised to it when.
 *
 * Before it begins nothing is charged to its vnodes: only the scheduler keeps its room free (reserve/keeps.h). While it runs the
 * server has charged its vnodes for all of it, and jobs in its queue take of that (reserve/inside.h).
 *
 * The first part is the server's word, decoded by resv_take; the second is the cluster's. Every part may read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "allocation.h"

struct attrl;
struct catalogue;
struct cluster;
struct request;

enum resv_state { /* reserve_state, and reserve_substate where it says more */
                  RESV_IS_UNCONFIRMED = 1,
                  RESV_IS_CONFIRMED = 2,
                  RESV_IS_RUNNING = 5,
                  RESV_IS_FINISHED = 6,
                  RESV_IS_BEING_DELETED = 7,
                  RESV_IS_DELETED = 8,
                  RESV_IS_DELETING_JOBS = 9,
                  RESV_IS_DEGRADED = 10,
                  RESV_IS_ALTERED = 11,
                  RESV_IS_IN_CONFLICT = 12
};

struct resv_time { /* one occurrence: when, and where */
    int64_t from_s, to_s;
    struct allocation where; /* as its exec_vnode says */
    struct allocation share; /* the same, each vnode once */
};

struct resv {
    const char *id; /* interned */
    int64_t state, substate;
    const char *queue_name, *select, *place, *partition; /* interned or NULL */
    const char *of_job;           /* interned or NULL: the waiting job that it is made for (qmove) */
    const char *nodes, *sequence; /* interned or NULL: of the next occurrence; "3#(n1:ncpus=1){0-2}" of all */
    const char
        *starts; /* interned or NULL: of a standing one, of the occurrences that are left, "1000,2000,3000" */
    int64_t start_s, end_s; /* of the occurrence that runs or is next */
    int64_t duration_s;     /* of those that follow, if later_s is 0 */
    int64_t later_s;        /* of those that follow one that was altered; 0: none was */
    int64_t first;          /* the occurrence, from 1, that index 0 of `sequence` is of */
    int64_t index, count;   /* of a standing one: which occurrence that is, from 1; how many; else 1 */
    int64_t retry_s;        /* when a degraded one is to be placed again; 0: not yet */
    int64_t rank;           /* the order in which they were asked for: the number of its identifier */
    bool is_asap;           /* it begins as soon as it can; start_s says nothing */
    bool is_of_hosts;       /* of maintenance: who asks for it confirms it */
    struct amounts want;    /* Resource_List, what is counted at the server */
    uint64_t look;          /* hash of all attributes */

    struct resv_time *times; /* of those that have vnodes, the one that runs or is next first */
    size_t n_times;
    bool is_charged; /* it runs: its vnodes are charged for it */
    bool is_asked; /* the server has been told to confirm it, or that this cannot be, and has not shown it */
    int64_t again_s; /* the server would not have it: not before that time; 0: at any time */
    bool is_out;     /* keeps.c: its room is not kept, since it is being placed again */
    bool dirty;
    struct job *jobs; /* that belong to it, by next_of_resv */
    UT_hash_handle hh;
};

struct resv *resv_create(const char *id);
/* This job belongs to it, and to no other one; NULL: to none. O(1). */
void resv_add_job(struct resv *r, struct job *j);
void resv_destroy(struct resv *r);

/* Is anything different from what we have? Then resv_take is to follow. */
bool resv_differs(struct resv *r, const struct attrl *attrs);
/* Read all attributes again. */
void resv_take(struct resv *r, struct catalogue *c, const struct attrl *attrs);

/* When occurrence `i` (0: the one that runs or is next) begins, and how long it lasts. */
int64_t resv_starts_s(const struct resv *r, size_t i);
int64_t resv_lasts_s(const struct resv *r, size_t i);
size_t resv_n_left(const struct resv *r); /* occurrences that are not over, at least 1 */

/* Its vnodes from the texts, of all occurrences that have some. */
void resv_find_vnodes(struct resv *r, struct cluster *cl);
/* These are its occurrences from now on: what was decided, before the server shows it. Takes them. */
void resv_set_times(struct resv *r, struct resv_time *times, size_t n);
void resv_times_free(struct resv_time *times, size_t n);
/* Fill `share` by `where`. */
void resv_time_sum(struct resv_time *t);

/* Return true if its room is promised: confirmed once, and not over. */
bool resv_is_promised(const struct resv *r);
/* Return true if the scheduler is to find vnodes for it at this time: it is new, altered, or has lost some. */
bool resv_needs_vnodes(const struct resv *r, int64_t now_s);
#endif
