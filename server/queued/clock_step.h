#ifndef CLOCK_STEP_H
#define CLOCK_STEP_H
/* The wall clock of the host was set.
 *
 * The server lives on a steady clock (clock.h), so what lasts some time (grace, exempt times, eligible time, deadlines) is
 * measured rightly whatever happens. Once a second it looks how far the system's clock has gone away from that. Then all at
 * once: times that stand with jobs which are not over move along, so that everything is as long ago as it was, and the new
 * time holds. Times that a person has said (Execution_Time) are not moved. doc/running.md
 */
#include <stdint.h>

#include "err.h"

struct loop;
struct server_ctx;
struct start_time;
struct clock_step;

struct clock_step_parts {
    struct loop *loop;
    struct server_ctx *ctx;
    struct start_time *start_time;
    void (*stepped)(void *arg, int64_t by_s); /* ^ what lies above has times too */
    void *arg;
};

struct clock_step *clock_step_create(const struct clock_step_parts *p,
                                     struct err *e); /* does nothing on a driven clock */
void clock_step_destroy(struct clock_step *w);

#endif
