#ifndef SCHEDULER_H
#define SCHEDULER_H
/* The turn of the scheduler: news come in, the cycle decides, orders go out, and when they are answered it
 * asks for more news.
 *
 * It never waits: a preemption that is under way is one open call among others, and jobs are started
 * meanwhile. main.c creates one and runs the loop; all of it is on the loop's thread. */
#include <stdbool.h>

#include "err.h"

struct loop;
struct policy;
struct scheduler;

struct scheduler_events {
    /* About to register: -1, there is a reason why it must not. It waits for the server. */
    int (*enter)(void *arg, int c, struct err *e);
    /* Are these, of its object (NULL: unset), the directories in use? If not, it registers again. */
    bool (*places_hold)(void *arg, const char *priv, const char *logs);
    /* Prime time begins or ends: the policy's options are to be those of these hours (policy->is_prime is set). */
    void (*hours_turn)(void *arg);
    void (*configure)(void *arg); /* the server asks for the files to be read again */
    void (*quit)(void *arg);
    void *arg;
};

/* Begins to connect in the first turn of the loop, and does so again for ever. `name`: the sched object,
 * copied. `policy` is borrowed; its file settings may be changed between turns (scheduler_reconfigured
 * tells). NULL: PBSE_SYSTEM, no memory for a timer or a thread. */
struct scheduler *scheduler_create(struct loop *l, const char *name, struct policy *policy,
                                   const struct scheduler_events *events, struct err *e);
void scheduler_destroy(struct scheduler *s);

/* The policy is another, and the files beside sched_config, in this directory, may be: they are read now. */
void scheduler_reconfigured(struct scheduler *s, const char *priv);

#endif
