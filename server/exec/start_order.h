#ifndef START_ORDER_H
#define START_ORDER_H
/* The START of one run for one host: user, program, place, environment and limits, as exec.x describes them.
 * Every string in `out` is its own malloc; start_order_free frees all. */
#include <exec.h>

#include "err.h"
#include "job_run.h"

struct exec_vnode;
struct services;
struct server_ctx;

/* `script`: its bytes where they are at hand, else NULL: the service then asks by GET_SCRIPT. */
int start_order_make(struct server_ctx *s, struct services *sv, const struct job *j, const char *service,
                     const void *script, size_t n_script, exec_start_args *out, struct err *e);
void start_order_free(exec_start_args *args);

/* Check whether START could be sent for a run there. Call it before anything is claimed or stopped for the run:
 * services of older versions take fewer chunks and hosts. O(chunks). -1: PBSE_IVALREQ which of them takes how many,
 * PBSE_SYSTEM. */
int start_order_check(const struct server_ctx *s, const struct exec_vnode *where, struct err *e);

/* What of a job may change while it runs and its hosts must know, for UPDATE: its limits, and where its output goes.
 * -1: no memory. */
int start_order_changes(const struct server_ctx *s, const struct job *j, wire_attrs *out);
void start_order_free_attrs(wire_attrs *attrs);

#endif
