#ifndef QUEUE_H
#define QUEUE_H
/* A queue: its attributes, and the jobs in it by rank. Table of all queues. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object.h"
#include "type_resc.h"
#include "uthash.h"

struct job;
struct queues;
struct resv;

struct queue {
    struct object obj;
    UT_hash_handle hh;        /* queues */
    struct job *first, *last; /* by queue rank; jobs.c links them */
    size_t n_jobs;
    int64_t route_due_s;        /* when its jobs are tried again; 0: nothing to try (queued/route.c) */
    struct resv *resv;          /* whose queue it is; NULL: of no reservation */
    struct resc_list *assigned; /* amounts of its running jobs (assign) */
};

extern const struct object_kind queue_kind;

struct queues *queues_create(struct change *c);
void queues_destroy(struct queues *q);

/* A new queue, in the table and the change list. -1: PBSE_QUEEXIST, PBSE_QUENBIG, PBSE_IVAL_OBJ_NAME. */
int queues_add(struct queues *qs, const char *name, struct queue **out, struct err *e);
/* Take it out; it must be empty of jobs (PBSE_OBJBUSY). */
int queues_remove(struct queues *qs, struct queue *q, struct err *e);
struct queue *queues_find(const struct queues *qs, const char *name); /* or NULL */
struct queue *queues_first(const struct queues *qs);                  /* by creation */
struct queue *queues_next(const struct queue *q);

bool queue_is_execution(const struct queue *q);
bool queue_is_route(const struct queue *q);
bool queue_is_enabled(const struct queue *q);
bool queue_is_started(const struct queue *q);
bool queue_is_gang(const struct queue *q); /* its jobs run in time slices */
long queue_priority(const struct queue *q);

/* Seconds between SIGTERM and SIGKILL of its jobs, as its kill_delay says; 0 means SIGKILL at once. If it is
 * not set, or q is NULL: `if_unsaid`. */
unsigned queue_kill_delay_s(const struct queue *q, unsigned if_unsaid);

#endif
