#ifndef CONN_QUEUE_H
#define CONN_QUEUE_H
/* The calls of one connection, each in its turn.
 *
 * A call that changes something, or costs next to nothing, is made at once. One that only looks (a status) is made in
 * the background of the loop: hundreds of clients that poll have a share of the server's time, and who submits does
 * not stand behind them all (base/loop/turn_share.h). Nor does who looks seldom, four times on a connection and twice a
 * second from then on: such looks have a line of their own there. What comes on a connection behind a call that waits, waits
 * behind it, so the order on one connection is the order in which it was sent. A line can also be held, until the
 * caller's name is known.
 *
 * Loop thread only. A call may destroy the line that makes it. */
#include <stdbool.h>

struct conn_queue;
struct loop;

struct conn_queue_ops {
    void (*make)(void *arg, void *call); /* make this call; it is ours no more */
    void (*drop)(void *call);            /* it will not be made: the line is destroyed */
};

/* Held at first. `ops` is static. NULL: no memory. */
struct conn_queue *conn_queue_create(struct loop *l, const struct conn_queue_ops *ops, void *arg);
void conn_queue_destroy(struct conn_queue *n);

/* One more call (taken), now or when its turn comes. -1: no memory, it stays the caller's. */
int conn_queue_call(struct conn_queue *n, void *call, bool looks);
/* Make what waits, and what comes from now on. */
void conn_queue_open(struct conn_queue *n);

#endif
