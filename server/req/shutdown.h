#ifndef SHUTDOWN_H
#define SHUTDOWN_H
/* Going down, as qterm says: quick leaves running jobs to their MOMs, delay waits for them, immediate requeues
 * those that can be rerun and leaves the others. Meanwhile changes are refused with PBSE_SVRDOWN. */
#include "err.h"
#include "job_fsm.h"
#include "parts.h"

struct request_row;
struct shutdown;

struct shutdown *shutdown_create(struct parts *p, void (*stop)(void *arg), void *arg);
void shutdown_destroy(struct shutdown *s);

void shutdown_begin(void *shutdown, int manner); /* SHUT_*; a second one may only be quicker */
/* dispatch_open_fn: may changes be taken? */
int shutdown_check(void *shutdown, const struct request_row *row, struct err *e);

#endif
