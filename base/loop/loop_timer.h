#ifndef LOOP_TIMER_H
#define LOOP_TIMER_H
/* Timers, for loop.c; their public functions are in loop.h. */
#include "loop.h"

/* Until the first timer of either kind is due, at most max_wait_ms; -1: for ever. A driven clock is not waited for. */
int64_t loop_timers_wait_ms(const struct loop *l, int64_t max_wait_ms);
/* Call those that are due now. */
void loop_timers_call(struct loop *l, enum loop_time which);

#endif
