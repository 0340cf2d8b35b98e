#ifndef OUTPUT_RELAY_H
#define OUTPUT_RELAY_H
/* The output of tasks that do not write to the job's files themselves: read from pipes, piece by piece, and handed on.
 *
 * A stream has at most one piece under way, so a slow reader slows the task down and nothing piles up. When the task
 * has ended, what stands in its pipes is still handed on before ^drained; what its children write later goes on being
 * handed on.
 */
#include <stdbool.h>

#include "err.h"

struct polls;
struct pumps;
struct task_pump;
struct tmx_output_args;

struct pumps_hooks {
    /* Hand a piece on; pump_done is called once when it has arrived (or nobody wants it), perhaps inside this. `args` is
     * borrowed, but for its bytes, which live until pump_done. */
    void (*send)(void *arg, struct task_pump *p, const struct tmx_output_args *args);
    void (*drained)(void *arg, unsigned task);
    void *arg;
};

struct pumps *pumps_create(const struct pumps_hooks *hooks);
void pumps_destroy(struct pumps *all); /* pieces under way must be forgotten by then */

struct pump_target {
    unsigned task;
    bool relay;
    unsigned host; /* where it goes */
};

/* A pump and the writing ends of its pipes, which the caller closes. NULL: e. */
struct task_pump *pump_create(struct pumps *all, const struct pump_target *to, int *out, int *err,
                              struct err *e);
void pump_destroy(struct task_pump *p); /* no piece may be under way */
const struct pump_target *pump_target(const struct task_pump *p);

void pump_done(struct task_pump *p, int stream);
void pump_task_ended(struct task_pump *p); /* ^drained follows, perhaps inside this */

void pumps_poll(struct pumps *all, struct polls *polls);
void pumps_turn(struct pumps *all, const struct polls *polls);

#endif
