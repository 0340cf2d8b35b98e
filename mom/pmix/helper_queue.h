#ifndef HELPER_QUEUE_H
#define HELPER_QUEUE_H
/* From the threads of the PMIx library to our loop: upcalls and completions are queued there and done here, since nothing may
 * wait on those threads. */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct helper;
struct helper_queue;

/* Embedded in what is queued. `take` is called once in the loop, and owns it. */
struct helper_event {
    struct helper_event *next;
    void (*take)(struct helper *h, struct helper_event *ev);
};

struct helper_queue *helper_queue_create(struct err *e); /* NULL: e */
int helper_queue_fd(const struct helper_queue *q);       /* readable: there is something */

/* Any thread. */
void helper_queue_add(struct helper_queue *q, struct helper_event *ev);
/* A client's request: refused (false) where as many wait as a program that floods may have. Any thread. */
bool helper_queue_offer(struct helper_queue *q, struct helper_event *ev);

/* Do what is queued. Loop thread. */
void helper_queue_turn(struct helper_queue *q, struct helper *h);

#endif
