#ifndef MOVE_H
#define MOVE_H
/* A waiting job goes to another queue: checked for that queue with that queue's defaults, then moved as a whole. For
 * qmove and for routing. */
#include <stdbool.h>

#include "err.h"
#include "job.h"
#include "queue.h"

struct server_ctx;

struct move_ask {
    struct queue *to;
    bool routed;  /* from a route queue: from_route_only lets it in */
    bool trusted; /* a manager's move: nothing but the job's state and its resources is asked */
};

/* Check that it may move. Changes nothing. -1: PBSE_BADSTATE it does not wait, PBSE_NEEDQUET the queue has no
 * type, and what defaults_complete and admit_check say. */
int move_check(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e);

/* Do it. 0, or -1 with nothing changed, as move_check. The job is at the end of the new queue. */
int move_job(struct server_ctx *s, struct job *j, const struct move_ask *ask, struct err *e);

#endif
