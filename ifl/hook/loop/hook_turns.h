#ifndef HOOK_TURNS_H
#define HOOK_TURNS_H
/* The turns of periodic hooks: a timer for each hook of one event, every freq seconds; a turn that comes while the last one still runs is
 * left out. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>

#include "hooks.h"
#include "loop.h"

struct hook_turns;

struct hook_turn { /* one hook; the owner reads the first three, and `own` is the owner's */
    char name[HOOK_NAME_LONGEST + 1];
    int64_t freq_s;
    struct hook_turns *turns;
    void *own;
    struct hook_turn *next; /* the rest is private */
    struct loop_timer *timer;
    uint64_t serial;
    bool running, gone;
};

struct hook_turns_options {
    struct loop *loop;
    enum loop_time time;
    struct hooks *hooks;
    uint32_t event;
    /* ^ It is to run now. It runs until hook_turn_over(). */
    void (*due)(void *arg, struct hook_turn *t);
    /* ^ Its timer was set: freq_s from now. May be NULL. */
    void (*set)(void *arg, const struct hook_turn *t);
    /* ^ It is about to be freed: let go of what is in `own`. May be NULL. */
    void (*end)(void *arg, struct hook_turn *t);
    void *arg;
};

struct hook_turns *hook_turns_create(const struct hook_turns_options *o); /* NULL: no memory */
/* The owner of runs that are under way has ended them. */
void hook_turns_destroy(struct hook_turns *x);

/* Hooks have changed. One whose script or freq is another begins its time again; one that runs ends first. */
void hook_turns_review(struct hook_turns *x);

/* The run has ended; the turn may be gone after this. */
void hook_turn_over(struct hook_turn *t);

#endif
