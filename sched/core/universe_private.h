#ifndef UNIVERSE_PRIVATE_H
#define UNIVERSE_PRIVATE_H
/* What universe.c (changes, settling, looking) and universe_order.c (open orders) share. Nobody else includes it.
 */
#include "universe.h"

struct array_count;
struct pools;
struct ranks;

enum { LISTENERS_MAX = 4 };

struct list { /* of objects that wait for universe_settle, or of running jobs */
    size_t n, cap;
    void **a;
};

struct universe {
    char *sched_name;
    struct policy *policy;
    struct catalogue *catalogue;
    struct queue *server, *queues;
    struct job *jobs;
    struct array_count *arrays; /* how many subjobs of an array run; universe_array.c */
    struct node *nodes;
    struct ranks *ranks;
    struct pools *pools; /* indirect amounts */
    struct list running, dirty_jobs, dirty_nodes;
    uint64_t news, stoppable, shape, sched_look;
    bool relink;  /* configuration changed: every job is looked at again */
    bool rerank;  /* vnodes came, went or changed priority or host */
    bool misread; /* see universe_settle */
    struct universe_listener listeners[LISTENERS_MAX];
    size_t n_listeners;
};

#define TELL(u, what, object)                                                                                \
    for (size_t tell_i = 0; tell_i < (u)->n_listeners; tell_i++)                                             \
        if ((u)->listeners[tell_i].what)                                                                     \
    (u)->listeners[tell_i].what((u)->listeners[tell_i].arg, object)

/* A job runs or no longer runs, for the counts of its queue and of the server. */
void universe_count(struct universe *u, struct job *j, int64_t times);

/* A job went out of the universe, in any way. */
void universe_drop_job(struct universe *u, struct job *j);

/* A subjob runs or no longer runs: its array may have reached max_run_subjobs, or have room again. */
void universe_count_subjob(struct universe *u, const struct job *sub, int64_t times);
/* Has this array an index that may be run? */
bool universe_array_waits(const struct universe *u, const struct job *array);

/* Is it one that a cycle may start? */
bool universe_may_wait(const struct universe *u, const struct job *j);

#endif
