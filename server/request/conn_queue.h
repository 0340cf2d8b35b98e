#ifndef CONN_QUEUE_H
#define CONN_QUEUE_H
/* The calls of one connection, made in order.
 *
 * A call that changes something, or costs next to nothing, is made at once. A call that only looks (a status)
 * is made in the background of the loop: hundreds of clients that poll get a share of the server's time, and a
 * client that submits does not wait behind them (base/loop/turn_share.h). Nor does a client that looks seldom,
 * four times on a connection and twice a second from then on: such looks have a queue of their own there. A
 * call that comes after a waiting call of its connection waits behind it, so calls are made in the order in
 * which they were sent. A queue can also be closed, until the caller's name is known.
 *
 * Loop thread only. A call may destroy the queue that makes it. */
#include <stdbool.h>

struct conn_queue;
struct loop;

struct conn_queue_ops {
    void (*make)(void *arg, void *call); /* make this call and take it over */
    void (*drop)(void *call);            /* it will not be made: the queue is destroyed */
};

/* Closed at first. `ops` is static. NULL: no memory. */
struct conn_queue *conn_queue_create(struct loop *l, const struct conn_queue_ops *ops, void *arg);
void conn_queue_destroy(struct conn_queue *n);

/* Make one more call (taken over), now or after those before it. -1: no memory, it stays the caller's. */
int conn_queue_call(struct conn_queue *n, void *call, bool looks);
/* Open the queue: make the calls that wait, and those that come from now on. */
void conn_queue_open(struct conn_queue *n);

#endif
