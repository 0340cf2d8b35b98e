#ifndef WORLD_H
#define WORLD_H
/* A mix of jobs played in virtual time through the scheduler's core. Ordinary jobs start by its cycles; where an urgent one
 * finds no room, the player says which jobs give way. */
#include "cycle.h"
#include "mix.h"

struct world;

struct choice { /* of victims for one urgent job */
    int *victims;
    size_t n;
    char *where; /* exec_vnode of the urgent job; NULL: it waits on */
};

/* Who gives way for job `j` (number `urgent` of the mix)? `out` is empty before; choice_fini is the caller's. */
typedef void world_choose_fn(struct world *w, const struct job *j, int urgent, struct choice *out);

struct world {
    const struct mix *mix;
    struct policy policy;
    struct cycle *c;
    struct mine *jobs;
    int *used; /* cores of each vnode */
    int64_t now_s;
    world_choose_fn *choose;
    void *arg; /* of choose */
    bool over; /* choose may set it: nothing comes any more */
    double lost_s, done_s;
    int n_victims, n_urgent;
};

struct world *world_create(const struct mix *x, uint64_t seed, enum preempt_sort sort, world_choose_fn *fn,
                           void *arg);
void world_destroy(struct world *w);

/* From the first job to the last one's submission. */
void world_play(struct world *w);

/* What would be lost of this one now, by the method it would give way by; in core-seconds. */
double world_loss(const struct world *w, int i);

void choice_fini(struct choice *c);

#endif
