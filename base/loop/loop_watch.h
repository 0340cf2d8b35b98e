#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H
/* Descriptors and signals, for loop.c; their public functions are in loop.h. */
#include "loop.h"

/* Wait at most wait_ms (-1: as long as it takes) for a descriptor or signal, and call what is ready. -1: the system refused. */
int loop_watches_call(struct loop *l, int wait_ms, struct err *e);
void loop_signals_close(struct loop *l); /* after all signals are destroyed */

#endif
