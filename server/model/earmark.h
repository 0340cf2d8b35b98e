#ifndef EARMARK_H
#define EARMARK_H
/* An earmark: room that is kept for a waiting job while its preemption victims give way.
 *
 * Its name is the job's identifier, so a job has at most one. What a restart needs is in its attributes
 * (attr_hold.def) and in the preempt records of its victims; plan_earmark.c makes the links to jobs and vnodes
 * again. `parts` belong to earmark_sums.c, `victims` and `plan` to plan_earmark.c. Loop thread only. */
#include <stdbool.h>
#include <stddef.h>

#include "object.h"
#include "type_resc.h"
#include "uthash.h"

struct earmark_plan; /* plan_earmark.c */
struct job;
struct node;

struct earmark_part { /* the earmarked room on one vnode; earmark_sums.c */
    struct earmark_obj *earmark;
    struct node *node;
    struct resc_list *amounts; /* what the job will claim here */
    bool alone, beside, lent;  /* as in run_demand.h */
    struct earmark_part *next; /* on the node */
};

struct earmark_obj {
    struct object obj;
    UT_hash_handle hh;
    struct job *job;      /* referenced; NULL: not linked yet */
    struct job **victims; /* referenced; those that have not settled */
    size_t n_victims;
    struct earmark_part *parts;
    size_t n_parts;
    bool off; /* for a moment: its own job is about to claim */
    struct earmark_plan *plan;
};

struct earmarks;
extern const struct object_kind earmark_kind;

struct earmarks *earmarks_create(struct change *c);
void earmarks_destroy(struct earmarks *hs);

/* Add a new earmark to the table and the change list. -1: PBSE_JOBEXIST the name is in use, PBSE_SYSTEM. */
int earmarks_add(struct earmarks *hs, const char *name, struct earmark_obj **out, struct err *e);
/* Remove it from the table; the caller removes its row. References keep the memory. */
void earmarks_remove(struct earmarks *hs, struct earmark_obj *h);
struct earmark_obj *earmarks_find(const struct earmarks *hs, const char *name); /* or NULL */
struct earmark_obj *earmarks_first(const struct earmarks *hs);
struct earmark_obj *earmarks_next(const struct earmark_obj *h);

#endif
