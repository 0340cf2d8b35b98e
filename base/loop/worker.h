#ifndef WORKER_H
#define WORKER_H
/* A thread behind a bounded queue, for what can block (disk, database, user lookups).
 *
 * Tasks run one after the other, in the order of submission. `work` runs in the thread and uses nothing but
 * `arg`, which belongs to the task from worker_submit to `done`. `done` is called on the loop thread, once
 * for each accepted task, in order, never inside worker_submit; it may submit more, but not destroy the
 * worker. */
#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct loop;
struct worker;

typedef void worker_fn(void *arg);
typedef void
worker_done_fn(void *arg, bool ran); /* ran is false only if the worker was destroyed before the task began */

/* A thread named `name` (15 characters show) with at most `max_queued` tasks waiting. NULL: errno in e. */
struct worker *worker_create(struct loop *l, const char *name, size_t max_queued, struct err *e);

/* Wait for the running task; tasks that have not begun are not run. `done` is called for all before this returns. */
void worker_destroy(struct worker *w);

/* -1: EAGAIN the queue is full, ENOMEM; then neither function is called. `done` may be NULL. Loop thread. */
int worker_submit(struct worker *w, worker_fn *work, worker_done_fn *done, void *arg, struct err *e);

/* Block until all accepted tasks have run, and call their `done`. For an orderly shutdown. */
void worker_drain(struct worker *w);

#endif
