#ifndef SHEPHERDS_PRIVATE_H
#define SHEPHERDS_PRIVATE_H
/* One shepherd as MOM has it: private to shepherds.c (its life), which uses shepherd_orders.c (what is said to it) and
 * shepherd_close.c (the end of its files). */
#include <stdbool.h>

#include <shep.h>

#include "rpc_request.h"
#include "shepherds.h"

struct shepherd_orders_asked;
struct zygote_link;
struct shepherd_orders_posted;

struct shepherds {
    struct loop *loop;
    const struct home *home;
    struct zygote_link *zygote;
    struct shepherds_hooks hooks;
    struct rpc_served served[2];
};

struct shepherd {
    struct shepherds *all;
    struct run *run;
    struct rpc_conn *conn;
    struct spawn *process; /* NULL: of the zygote, or found after a restart */
    struct loop_timer *again;
    bool open, leaving, by_zygote;

    struct shepherd_orders_posted *posted; /* letters, PEEK, SIGNAL, MESSAGE under way */
    struct shepherd_orders_asked *asked; /* orders under way: they are not answered after rpc_conn_destroy */
    bool terminate;                      /* to be said when it listens */
    struct shep_terminate_args terminating;
    unsigned attempt; /* SHEP_SUSPEND, SHEP_RESUME or SHEP_WITHDRAW, to be said when it listens; 0: none */
    struct shep_notice_args notice; /* to be said when it listens; text owned, NULL: none */
    shepherds_fn *notice_fn;
    void *notice_arg;
    shepherds_fn *attempt_fn;
    void *attempt_arg;

    struct spawn *errand; /* closing without a shepherd */
    int errand_out;
    struct shep_close_args closing;
    bool has_closing, close_said;
    shepherds_closed_fn *closed;
    void *closed_arg;
};

/* SIGTERM, SIGKILL: said as soon as it listens, if they are to be said. */
void shepherd_say_terminate(struct shepherd *sh);
/* SUSPEND, RESUME: likewise. */
void shepherd_say_attempt(struct shepherd *sh);
/* NOTICE: likewise. */
void shepherd_say_notice(struct shepherd *sh);
/* CLOSE: likewise, when the job has ended. False: it does not listen now; once it does, or once it is gone, this is done
 * again. */
bool shepherd_say_close(struct shepherd *sh);
/* The same by a program of its own, for one that is gone: `again` fires where that cannot be started. */
void shepherd_close_by_errand(struct shepherd *sh);
/* Its orders under way will not be answered. */
void shepherd_forget_orders(struct shepherd *sh);

#endif
