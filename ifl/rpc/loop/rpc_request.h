#ifndef RPC_REQUEST_H
#define RPC_REQUEST_H
/* A call received: counted, answered once, now or in an hour, in any order.
 *
 * A handler borrows the request for its call; a handler that answers later takes a reference. When the connection
 * ends the answer is dropped silently and the work continues. A request whose last reference is dropped without an
 * answer is answered with SYSTEM_ERR and a log line. Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth.h"
#include "rpc_entries.h"
#include "rpc_msg.h"

struct rpc_conn;
struct rpc_request;

typedef void rpc_handler(void *arg, struct rpc_request *r);

struct rpc_proc {
    uint32_t proc;
    const char *name; /* for the log */
    xdrproc_t xargs;  /* NULL: none */
    size_t args_size;
    xdrproc_t xres; /* for information; rpc_reply gets its codec as an argument */
    rpc_handler *handler;
};

/* What a peer may call. Procedure 0 need not be listed: it always answers. */
struct rpc_program {
    uint32_t prog, vers;
    const char *name;
    const struct rpc_proc *procs;
    size_t n_procs;
    /* ^ Check what XDR cannot (NUL bytes, enums) in decoded arguments. May be NULL. false: GARBAGE_ARGS. */
    bool (*check)(const struct rpc_proc *p, const void *args);
    /* Return true if the program serves this peer. Called for each call before its arguments are decoded. false: the
     * call is denied and the connection closed, with one log line. NULL: it serves every peer that the connection
     * accepts. */
    bool (*serves)(const struct auth_peer *peer);
    /* ^ Called as each answer begins, with the microseconds since the call had come in whole: to count, nothing else. May be
     * NULL. `arg` is that of the handlers. */
    void (*answered)(void *arg, const struct rpc_proc *p, int64_t us);
};

/* A program bound to its handlers' first argument. An array of them, ended by {NULL, NULL}, is what a
 * connection serves; borrowed for life. */
struct rpc_served {
    const struct rpc_program *program;
    void *arg;
};

struct rpc_request *rpc_request_ref(struct rpc_request *r);
void rpc_request_unref(struct rpc_request *r);

/* Borrow until the last unref. The handler may change what args point at, as long as xdr_free finds it valid. */
void *rpc_request_args(struct rpc_request *r);
const struct rpc_proc *rpc_request_proc(const struct rpc_request *r);
struct auth_peer *rpc_request_peer(const struct rpc_request *r);
struct rpc_conn *rpc_request_conn(const struct rpc_request *r); /* NULL: it has died */
bool rpc_request_is_answered(const struct rpc_request *r);

/* ^ Called once if the connection ends before the answer, e.g. to give up a parked wait. NULL removes it. */
void rpc_request_on_dead(struct rpc_request *r, void (*dead)(void *arg, struct rpc_request *r), void *arg);

/* Answer. Calling a second one is a bug (assert). Never calls back. */
void rpc_reply(struct rpc_request *r, xdrproc_t codec, const void *result);
void rpc_reply_error(struct rpc_request *r, enum rpc_status status);
/* An endless answer; p->end is called in every case, at once if the connection is dead. */
void rpc_reply_entries(struct rpc_request *r, xdrproc_t xhead, const void *head, const struct rpc_producer *p,
                       void *arg);
void rpc_reply_wake(struct rpc_request *r); /* a producer that said RPC_LATER has something now */

#endif
