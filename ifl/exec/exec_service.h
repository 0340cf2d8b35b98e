#ifndef EXEC_SERVICE_H
#define EXEC_SERVICE_H
/* The serving end of PBS_EXEC_PROG, for MOM and simulator: one connection to the server, kept up.
 *
 *   connect (unix, or TLS as a daemon) -> HELLO with what the owner says -> accepted: decisions about each run
 *   -> orders come in, events go out from the journal until acknowledged -> lost: connect again, spread in time
 *
 * Orders reach the owner only from a server that was accepted, of the store and epoch it was accepted with; a
 * lower epoch is refused here. The owner answers each at once, taken or refused; what comes of it is an event.
 * Loop thread only; no hook is called inside exec_service_create, and none may destroy the service.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <exec.h>

#include "err.h"
#include "rpc_conn.h"
#include "rpc_request.h"

struct exec_service;
struct loop;
struct names;
struct ssl_ctx_st;

/* Where a server may be. */
struct exec_service_target {
    const char *unix_path; /* or: */
    const char *host;      /* numeric, or a name (then `names` is needed) */
    uint16_t port;
};

/* ^ The owner's events: kept by it, durably, until acknowledged. */
struct exec_service_journal {
    /* Up to `max` events not handed out since the last rewind, oldest first for each run, into `out`; how many.
     * What they point at stays until the next call of any of these. */
    size_t (*next)(void *arg, exec_event *out, size_t max);
    /* Begin again with the oldest one not acknowledged: a new connection, or the server missed one. */
    void (*rewind)(void *arg);
    /* Durable at the server up to ack->seq, or (EXEC_UNKNOWN_RUN) the server wants none of this run. */
    void (*acked)(void *arg, const exec_ack *ack);
};

struct exec_service_hooks {
    /* Fill in what we are, what we hold, the last store and highest epoch obeyed (`protocol` is set). What it
     * points at stays until hello_done. -1: not now, tried again later. */
    int (*hello)(void *arg, exec_hello_args *a);
    void (*hello_done)(void *arg, exec_hello_args *a); /* sent: free what hello made. May be NULL. */
    /* The server took us: keep store and epoch durably, obey the decisions about runs. Borrowed. Events are
     * asked for after this, from the oldest one not acknowledged. */
    void (*accepted)(void *arg, const exec_hello_result *r);
    void (*lost)(void *arg, const struct err *why); /* the accepted connection ended. May be NULL. */
    /* Fill in a heartbeat (load; nodes that changed); borrowed for the call. May be NULL: an empty one. */
    void (*heartbeat)(void *arg, exec_node_state_args *a);
    struct exec_service_journal journal;
};

/* One order the owner obeys. `args` is what exec.x says for `proc`; it is borrowed until the last unref of `r`.
 * Answer with exec_service_taken. */
struct exec_service_order {
    uint32_t proc; /* EXEC_START ... EXEC_PURGE; those without a row are refused with PBSE_NOSUP */
    void (*take)(void *arg, const void *args, struct rpc_request *r);
};

struct exec_service_options {
    const char *name;                          /* for the log: "mom:n1" */
    const struct exec_service_target *targets; /* tried in turn; copied */
    size_t n_targets;                          /* 1 or 2 */
    struct ssl_ctx_st *tls; /* for hosts: certs_context(…, CERTS_CLIENT); borrowed for life */
    struct names *names;    /* to resolve host names; NULL: numeric only */
    const struct exec_service_order *orders; /* static */
    size_t n_orders;
    const struct exec_service_hooks *hooks; /* static */
    void *arg;                              /* of hooks and orders */
    int64_t keepalive_ms; /* silence after which the server is asked whether it is there; 0: as usual */
    int64_t retry_ms;     /* longest pause between tries; 0: 5 s. The first ones are shorter */
};

/* Connecting begins with the next turn. NULL: e. */
struct exec_service *exec_service_create(struct loop *l, const struct exec_service_options *o, struct err *e);
void exec_service_destroy(struct exec_service *s); /* closes; no hook is called any more */

bool exec_service_is_accepted(const struct exec_service *s);
const struct exec_service_target *
exec_service_where(const struct exec_service *s); /* whom we talk to, or try next */
/* Borrow the accepted connection for calls of the owner's own (GET_SCRIPT, USAGE); NULL: there is none. */
struct rpc_conn *exec_service_conn(const struct exec_service *s);

/* How long nothing had been heard of the server when the last accepted connection ended. */
int64_t exec_service_silent_ms(const struct exec_service *s);

void exec_service_wake(struct exec_service *s); /* the journal has new events; sent at the end of this turn */

/* Answer an order: code 0 taken, else PBSE_* and a sentence (NULL: none). */
void exec_service_taken(struct rpc_request *r, int code, const char *text);
/* The same with an ext: an order that asks for something. */
void exec_service_answer(struct rpc_request *r, const struct exec_taken *t);

/* What is lossy: sent if there is an accepted connection, else dropped. */
void exec_service_send_usage(struct exec_service *s, const exec_usage_args *a);
void exec_service_send_nodes(struct exec_service *s, const exec_node_state_args *a);

/* Ask for a piece of a long script; fn gets an exec_script_result. -1: no accepted connection, fn not called. */
int exec_service_get_script(struct exec_service *s, const exec_script_args *a, rpc_outcome_fn *fn, void *arg,
                            struct err *e);

/* Say good-bye in order and stay away; `done` (may be NULL) is called when the server knows, or cannot be told
 * within two seconds. Events not acknowledged stay in the journal. */
void exec_service_bye(struct exec_service *s, const char *reason, bool back, void (*done)(void *arg),
                      void *arg);

/* What HELLO says has changed: say HELLO again at once to the server that has accepted us, on a new connection. The one before
 * is kept, unused, until that is accepted or has failed, so that the server does not take its end for a loss. Runs and events are
 * as after a loss. */
void exec_service_again(struct exec_service *s);

/* Go to the server now, without waiting for the pause to end (SIGHUP, tests). */
void exec_service_hurry(struct exec_service *s);

#endif
