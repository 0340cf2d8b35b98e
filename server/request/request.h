#ifndef REQUEST_H
#define REQUEST_H
/* One IFL request: its client, its arguments, and the one answer it gets, now or later.
 *
 * Counted. A handler borrows it for its call; a part that answers later takes a reference. The answer may be
 * given once; when the client has disconnected it is dropped and the work continues. Answers that promise
 * something are given from inside commit_then(). Loop thread only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "access.h"
#include "err.h"
#include "rpc_request.h"

struct job;
struct request;

enum request_kind {
    REQUEST_CHANGES, /* refused while the store cannot take changes, or the server goes down */
    REQUEST_ASKS,
    REQUEST_LOOKS /* shows objects: may be long, comes often, and is served in the background (conn_queue.h) */
};

/* A row of the request table (handlers/req_table.c). Every result struct begins with an ifl_result. */
typedef void request_handler(void *parts, struct request *r);

struct request_row {
    unsigned proc;
    const char *name; /* as logs print it: "QueueJob" */
    enum level
        least; /* USER, OPERATOR, MANAGER, SCHED; SERVER: of another complex. Checked before the handler runs */
    enum request_kind kind;
    const char *gate; /* hook event asked before the handler: "queuejob", or NULL */
    /* The answer's type: encoder and size. A new struct goes into union any_result of request.c too. */
    xdrproc_t xresult;
    size_t result_size;
    request_handler *handler;
};

struct request *request_create(struct rpc_request *rpc, const struct request_row *row, struct client *c);
struct request *request_ref(struct request *r);
void request_unref(struct request *r);

void *request_args(struct request *r);
const struct request_row *request_row(const struct request *r);
struct client *request_client(const struct request *r);
/* Log that the client may not do this to this object ("Job", "Queue" ...); the answer is the caller's. */
void request_log_unauthorized(const struct request *r, const char *kind, const char *name);

const char *request_who(const struct request *r);  /* "anna@login2" */
const char *request_user(const struct request *r); /* "anna" */
enum level request_level(const struct request *r);
/* Return true if the client owns this job. */
bool request_owns(const struct request *r, const struct job *j);

void request_ok(struct request *r);
void request_fail(struct request *r, const struct err *why);
int request_failf(struct request *r, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* As request_fail, naming the attribute at fault: it shows in pbs_get_attributes_in_error(). */
void request_fail_attr(struct request *r, const struct err *why, const char *name, const char *resource,
                       const char *value);
/* The same with several: n of ifl_attr_error, at most 64, borrowed. */
struct ifl_attr_error;
void request_fail_attrs(struct request *r, const struct err *why, struct ifl_attr_error *list, size_t n);
/* Any other result; `result` is borrowed. */
void request_reply(struct request *r, const void *result);

/* Take over the RPC request, for endless answers: the caller answers it, now or later, unless taking it over
 * fails. */
struct rpc_request *request_rpc(struct request *r);
/* ^ Called once if the client disconnects before the answer. For parked requests. */
void request_on_dead(struct request *r, void (*dead)(void *arg, struct request *r), void *arg);

#endif
