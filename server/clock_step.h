#ifndef CLOCK_STEP_H
#define CLOCK_STEP_H
/* Handles steps of the host's wall clock.
 *
 * The server uses a steady clock (clock.h), so what lasts some time (grace, exempt times, eligible time,
 * deadlines) is measured correctly in any case. Once a second it compares the system's clock with that. On a
 * step, times of jobs that are not over move by the same amount, so that each event remains as long ago as it
 * was, and the new time is used. Times that a user has set (Execution_Time) are not moved. doc/running.md
 */
#include "err.h"

struct server;
struct clock_step;

struct clock_step *clock_step_create(struct server *s, struct err *e); /* does nothing on a driven clock */
void clock_step_destroy(struct clock_step *w);

#endif
