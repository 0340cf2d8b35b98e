#ifndef SCHED_NODE_H
#define SCHED_NODE_H
/* A vnode as the scheduler sees it.
 *
 * What is free is `total` less `used` (as the server says) less `claimed` (what this scheduler has ordered and
 * the server has not yet shown). Free amounts, n_jobs and exclusive move during a cycle, by trial and claims;
 * only sched_cluster.c and trial.c write them. Every part may read.
 */
#include <stdbool.h>
#include <uthash.h>

#include "amounts.h"
#include "sched_request.h"

struct attrl;
struct bucket;
struct job;
struct resv;

enum node_sharing {
    NODE_SHARED,
    NODE_EXCL,
    NODE_EXCLHOST,
    NODE_IGNORE,
    NODE_FORCE_EXCL,
    NODE_FORCE_EXCLHOST
};

struct host { /* vnodes with the same `host` resource */
    const char *name;
    struct node **nodes;
    size_t n, cap;
    unsigned mark; /* of the placement that used it last; placement.c */
    UT_hash_handle hh;
};

/* What reservations that begin later need of a vnode, from one change of that to the next; reserve/keeps.c. */
struct node_keep {
    int64_t from_s, to_s;
    struct amounts share; /* of all that are on at that time */
    struct amounts leave; /* the same less what ends between now and from_s */
    bool alone;           /* one of them has the vnode alone */
    uint64_t look;        /* hash of what is needed and left, and of `alone` */
};

struct node_end { /* a job, or a reservation, gives something back; reserve/keeps.c */
    int64_t at_s;
    struct amounts use;
    bool moves; /* a second later it would be another time */
};

struct node_loan { /* a resource that it has only as "@another" */
    res_id res;
    const char *lender; /* interned */
};

struct node {
    const char *name; /* interned */
    uint32_t rank;    /* 0, 1, ...: the order in which vnodes are filled; node_order.c */
    struct host *host;
    const char *host_name; /* interned */
    const char *queue;     /* only jobs of this queue; NULL: all queues without vnodes of their own */
    const char *partition; /* NULL: the default one */
    const char *state;     /* the word that makes it unusable, or NULL; a constant */
    const char *comment;   /* interned: why it is; NULL: no reason is known, or it is usable */
    int64_t priority;
    int64_t last_used_s; /* wall clock: when a job ended here last; 0: never */
    enum node_sharing sharing;
    bool no_multinode;
    bool no_resv;                             /* resv_enable is False: not for reservations */
    int64_t most_jobs, most_user, most_group; /* max_running, max_user_run, max_group_run; -1: any number */
    struct amounts total;
    struct nonconsumables nonconsumables; /* without host and vnode */
    struct node_loan *loans;
    size_t n_loans;
    struct pool **pools; /* amounts it shares with others, as lender or borrower; pools.c */
    size_t n_pools;
    struct amounts used;             /* or held for a job for which others give way */
    struct amounts kept;             /* of `used` what is held */
    bool said_exclusive;             /* job-exclusive, resv-exclusive */
    bool earmarked, earmarked_alone; /* for a job for which others give way; that one will have it alone */
    uint64_t look;                   /* hash of all that never moves in a cycle: total, labels, queue ... */

    struct amounts claimed;
    struct amounts free;
    int64_t n_alone; /* claims of jobs that want it alone */
    int64_t n_jobs;  /* jobs on it, running or ending or claimed */
    bool exclusive;
    struct job **jobs;
    size_t n_on, cap_on;

    unsigned mark;           /* placement.c */
    size_t listed;           /* calendar.c, of a list under way: its place there, from 1; 0: none */
    struct bucket *bucket;   /* buckets.c */
    struct node_keep *keeps; /* by time, none of them over; only keeps.c writes these */
    size_t n_keeps;
    uint64_t keeps_look; /* hash of keeps; 0: there are none */
    uint64_t keeps_of;   /* hash of what they were made of; 0: not known */
    struct node_end *ends;
    size_t n_ends, cap_ends;
    size_t keeps_at;         /* its place in the list of keeps.c, from 1; 0: it has none */
    const struct resv *lent; /* inside.c: what is free is the room of this reservation; NULL: no such trial */
    bool dirty;
    UT_hash_handle hh;
};

struct node *node_create(const char *name);
void node_destroy(struct node *n);

/* Read all attributes again. Return true if something but `used` and the exclusive word changed, or when
 * something became free: a job that did not fit before may fit now. */
bool node_take(struct node *n, struct catalogue *c, const struct attrl *attrs);

/* free and exclusive again from total, used, claimed. */
void node_settle(struct node *n);
/* exclusive again; `earmarked_alone` stays whichever job leaves, the rest goes with the last job. */
bool node_is_shut(const struct node *n);

/* Return true if a job is here, or will be: then no other job may have the vnode alone. */
bool node_is_occupied(const struct node *n);

/* Has it a limit on jobs? Then no other vnode is like it: which jobs it has matters. */
bool node_is_limited(const struct node *n);

/* Would a job whose place says this have the vnode, or all vnodes of its host, alone? */
bool node_is_alone_for(const struct node *n, enum sharing place);
bool node_is_host_alone_for(const struct node *n, enum sharing place);

void node_forget_keeps(struct node *n);

void node_join(struct node *n, struct job *j); /* j runs here; once for each of its parts */
void node_leave(struct node *n, struct job *j);

#endif
