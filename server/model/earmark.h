#ifndef EARMARK_H
#define EARMARK_H
/* A hold: room that is kept for a waiting job until others have given way (design: "Plan and hold").
 *
 * Its name is the job's identifier, so a job has at most one. What is to be known after a restart stands in its
 * attributes (attr_hold.def) and in the marks of its victims; the links to jobs and vnodes are made again by
 * preempt/plan_hold.c. `parts` belong to earmark_sums.c, `victims` and `plan` to plan_earmark.c. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>

#include "object.h"
#include "type_resc.h"
#include "uthash.h"

struct hold_plan; /* plan_earmark.c */
struct job;
struct node;

struct hold_part { /* what is held on one vnode; earmark_sums.c */
    struct hold_obj *hold;
    struct node *node;
    struct resc_list *amounts; /* what the job will claim here */
    bool alone, beside, lent;  /* as in run_demand.h */
    struct hold_part *next;    /* on the node */
};

struct hold_obj {
    struct object obj;
    UT_hash_handle hh;
    struct job *job;      /* referenced; NULL: not linked yet */
    struct job **victims; /* referenced; those that have not settled */
    size_t n_victims;
    struct hold_part *parts;
    size_t n_parts;
    bool off; /* for a moment: its own job is about to claim */
    struct hold_plan *plan;
};

struct holds;
extern const struct object_kind hold_kind;

struct holds *holds_create(struct change *c);
void holds_destroy(struct holds *hs);

/* A new hold, in the table and the change list. -1: PBSE_JOBEXIST there is one of that name, PBSE_SYSTEM. */
int holds_add(struct holds *hs, const char *name, struct hold_obj **out, struct err *e);
/* Out of the table; its row is removed by the caller. References keep the memory. */
void holds_remove(struct holds *hs, struct hold_obj *h);
struct hold_obj *holds_find(const struct holds *hs, const char *name); /* or NULL */
struct hold_obj *holds_first(const struct holds *hs);
struct hold_obj *holds_next(const struct hold_obj *h);

/* ^ Told when more (or less) of the room of a hold is there than before. */
typedef void holds_room_fn(void *arg, struct hold_obj *h);
void holds_on_room(struct holds *hs, holds_room_fn *fn, void *arg);
void holds_tell_room(const struct holds *hs, struct hold_obj *h);

#endif
