#ifndef EXEC_ORDERS_H
#define EXEC_ORDERS_H
/* The way of an order from the server to a service, and of the answer back: private to exec_send.c, which knows
 * what the orders are. Loop thread only. */
#include <rpc/types.h>
#include <rpc/xdr.h>
#include <stddef.h>

#include "exec_send.h"

/* A host that is silent for 120 s is taken for lost; one that is heard of, and does not answer, is waited for no
 * longer. */
enum { ORDER_ANSWER_S = 120 };

/* Of orders that one service has not answered, with what the server keeps of each: twice what ending 65,536 runs at
 * once takes.
 * Beyond it the connection is closed. */
enum { ORDERS_BYTES_MAX = 128 << 20 };

struct loop;

struct exec_orders { /* of exec_send.c, which sets all but n_open */
    struct server_ctx *ctx;
    struct services *services;
    struct commit *commit;
    struct loop *loop;
    size_t n_open; /* given and not answered yet */
    exec_before_fn *before;
    void *before_arg;
};

/* Send procedure `proc` with `args` to this service as soon as all that has changed until now is durable. args are
 * encoded here and stay the caller's. fn, which may be NULL, is called once with what came of it, never inside
 * this: PBSE_NORELYMOM also where the service has not answered in ORDER_ANSWER_S; a service that is away by then
 * gets nothing (its HELLO renews orders). An order that the protocol cannot hold is told as refused, as if the
 * service had refused it. How many bytes wait for the answer; 0: it cannot be sent. */
size_t exec_orders_give(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                        xdrproc_t codec, void *args, exec_sent_fn *fn, void *arg);

/* Likewise, for an order whose answer is more than a number; fn is not NULL. */
size_t exec_orders_ask(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                       xdrproc_t codec, void *args, exec_told_fn *fn, void *arg);

/* An order that could not be made: told as refused after the same wait. */
void exec_orders_fail(struct exec_orders *x, struct job *j, const char *service, unsigned proc,
                      const struct err *why);

#endif
