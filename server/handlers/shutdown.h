#ifndef SHUTDOWN_H
#define SHUTDOWN_H
/* Going down, as qterm says: quick leaves running jobs to their MOMs, delay waits for them, immediate sends
 * them back, with a checkpoint where that can be had, else those that can be rerun, and leaves the others. Meanwhile
 * changes are refused with PBSE_SVRDOWN. */
#include <stdbool.h>

#include "err.h"
#include "job_fsm.h"
#include "parts.h"
#include "server_events.h"

struct job;
struct request_row;
struct shutdown;

struct shutdown *shutdown_create(struct parts *p); /* ends by loop_stop(). NULL: no memory */
void shutdown_destroy(struct shutdown *s);

/* SHUT_* with the bits of pbs_terminate; a second one may only be quicker. Of two servers with one store the other is
 * told:
 * to take over at once, or to end (0x40, 0x100), or to idle (0x80). */
void shutdown_begin(void *shutdown, int manner);
/* Return true if only the standby server is to end (0x100), and this is not that one. */
bool shutdown_is_for_other(const struct parts *p, int manner);
/* Listener of EVENT_RUN_NOT_CHECKPOINTED: the job runs on. */
void shutdown_on_not_saved(void *shutdown, const struct server_event *ev);
/* dispatch_open_fn: may changes be taken? */
int shutdown_check(void *shutdown, const struct request_row *row, struct err *e);

/* Listener of the machine: one job less to wait for. */
void shutdown_listen(void *shutdown, struct job *j, enum job_state from, enum job_event ev);

#endif
