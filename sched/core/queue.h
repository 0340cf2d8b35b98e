#ifndef QUEUE_H
#define QUEUE_H
/* A queue, or the server itself, as the scheduler sees it: who may run, and what is used of what there is.
 *
 * Usage counts jobs that run or end or have been ordered to run; universe.c and trial.c write it.
 */
#include <stdbool.h>
#include <uthash.h>

#include "amounts.h"
#include "catalogue.h"

struct attrl;

struct queue {
    const char *name; /* interned; "" is the server */
    int64_t priority;
    bool started, executes;
    const char *partition;    /* interned; NULL: the default one */
    struct amounts available; /* resources_available: counted ones that have a bound */
    struct amounts used;
    int64_t max_running; /* old total limit; -1: none */
    int64_t n_running;
    size_t n_nodes; /* vnodes that belong to it alone */
    uint64_t look;  /* hash of the attributes below, to tell news from repetition */
    UT_hash_handle hh;
};

struct queue *queue_create(const char *name);
void queue_destroy(struct queue *q);

/* Take all attributes anew; false: nothing that matters is different. */
bool queue_take(struct queue *q, const struct catalogue *c, const struct attrl *attrs);

#endif
