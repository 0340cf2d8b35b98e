#ifndef OUTPUT_RELAY_H
#define OUTPUT_RELAY_H
/* The output of tasks that do not write to the job's files themselves: read from pipes, piece by piece, and handed on.
 *
 * A stream has at most one piece under way, so a slow reader slows the task down and nothing piles up. When the task
 * has ended, what is in its pipes is still handed on before ^drained; what its children write later continues to be
 * handed on.
 */
#include <stdbool.h>

#include "err.h"

struct poll_set;
struct output_relays;
struct task_relay;
struct tmx_output_args;

struct output_relays_hooks {
    /* Hand a piece on; output_relay_done is called once when it has arrived (or no receiver is left), perhaps inside this. `args` is
     * borrowed, but for its bytes, which live until output_relay_done. */
    void (*send)(void *arg, struct task_relay *p, const struct tmx_output_args *args);
    void (*drained)(void *arg, unsigned task);
    void *arg;
};

struct output_relays *output_relays_create(const struct output_relays_hooks *hooks);
void output_relays_destroy(struct output_relays *all); /* pieces under way must be forgotten by then */

struct output_relay_target {
    unsigned task;
    bool relay;
    unsigned host; /* where it goes */
};

/* A relay and the writing ends of its pipes, which the caller closes. NULL: e. */
struct task_relay *output_relay_create(struct output_relays *all, const struct output_relay_target *to,
                                       int *out, int *err, struct err *e);
void output_relay_destroy(struct task_relay *p); /* no piece may be under way */
const struct output_relay_target *output_relay_target(const struct task_relay *p);

void output_relay_done(struct task_relay *p, int stream);
void output_relay_task_ended(struct task_relay *p); /* ^drained follows, perhaps inside this */

void output_relays_poll(struct output_relays *all, struct poll_set *polls);
void output_relays_turn(struct output_relays *all, const struct poll_set *polls);

#endif
