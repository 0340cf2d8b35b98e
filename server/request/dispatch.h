#ifndef DISPATCH_H
#define DISPATCH_H
/* From an RPC call to its handler: identify the user, check the rights, ask hooks at the gate, call the handler. Calls
 * that only look are made in the background (conn_queue.h).
 *
 * The first call of a connection waits until the user's name is known. A row's gate may park the request; after
 * the gate everything is looked up again by the handler. Loop thread only.
 */
#include <stddef.h>
#include <stdint.h>

#include "server_events.h"
#include "request.h"

struct client;
struct dispatch;
struct gate;
struct munge_login;
struct loop;
struct names;
struct histogram;
struct rpc_proc;
struct rpc_program;
struct server_ctx;

/* ^ Check that changes may be accepted now. -1 with the reason (server goes down, store is stuck). */
typedef int dispatch_open_fn(void *arg, const struct request_row *row, struct err *e);

struct dispatch_options {
    struct loop *loop;
    struct server_ctx *ctx;
    struct names *names;
    struct munge_login *munge_login; /* users over TCP; NULL: none are served */
    const struct request_row *rows;
    size_t n_rows;
    void *parts; /* first argument of every handler */
    dispatch_open_fn *open;
    void *open_arg;
    /* Check that the lists of the server (acl_hosts, acl_users) let this client ask for anything. -1 with the reason. */
    int (*serves)(const struct server_ctx *s, const struct client *c, struct err *e);
    /* ^ Hooks run at this request's gate: it is parked, and `pass` is called when they have accepted. NULL, or false: the handler is called at
     * once. `*gates` is 0 while there are none. */
    bool (*gate)(void *arg, struct request *r, void (*pass)(void *arg, struct request *r), void *pass_arg);
    void *gate_arg;
    const uint32_t *gates;
};

/* Tells EVENT_SCHED_HEARD and EVENT_CLIENT_GONE. */
struct dispatch *dispatch_create(const struct dispatch_options *o);
void dispatch_destroy(
    struct dispatch *d); /* after its connections have closed, before `names` are destroyed */

/* Listener of EVENT_SCHED_HUNG: its connection is closed; EVENT_CLIENT_GONE follows, not inside this call. */
void dispatch_on_hung(void *dispatch, const struct server_event *ev);

/* rpc_handler of every IFL procedure: bind with the dispatch as argument. */
void dispatch_call(void *dispatch, struct rpc_request *rpc);

/* rpc_program.answered: how long each request of the table took, until its answer began. */
void dispatch_answered(void *dispatch, const struct rpc_proc *p, int64_t us);
const struct histogram *dispatch_took(const struct dispatch *d, size_t row); /* row < n_rows */

#endif
