#ifndef PLAN_EARMARK_H
#define PLAN_EARMARK_H
/* Plan and hold: examine a plan, keep the room its victims give back, start the job when all is there, or undo.
 *
 *   plan_holds_make   examined as a whole; then, in this turn: a hold, and every victim begins to give way
 *        |  a use is given back, a victim has settled ...
 *        v
 *   started: the hold is gone, the job claims what was kept     undone: what was stopped for it goes on
 *
 * Undone: when a victim cannot be made to give way, the job is held, deleted, altered or run by somebody else, at
 * the deadline, or by request. Victims that no method has touched yet are let be; those that are suspended resume;
 * those that are back in their queue are the first of their kind. After a restart a hold goes on as it was.
 * Loop thread only. */
#include "plan_draft.h"

struct commit;
struct hold_obj;
struct job_fsm;
struct loop;
struct methods;
struct plan_holds;
struct resize;
struct runs;
struct site;
struct suspend;
struct victims;

struct plan_hold_parts {
    struct loop *loop;
    struct site *site;
    struct job_fsm *fsm;
    struct commit *commit;
    struct methods *methods;
    struct victims *victims;
    struct runs *runs;
    struct suspend *suspend;
    struct resize *resize;
};

struct plan_holds *plan_holds_create(const struct plan_hold_parts *p);
void plan_holds_destroy(struct plan_holds *all); /* the rows stay: a restart goes on with them */

/* 0: the hold exists, and is durable with everything changed so far (commit_then). -1, nobody was touched: what
 * pbs_preempt_run() promises in pbs_ext.h. */
int plan_holds_make(struct plan_holds *all, const struct plan_ask *ask, struct err *e);

/* ^ of victims: j->preempt->offer has what this victim would give instead of all. 0: it is enough, perhaps with the urgent
 * job elsewhere on it, and the hold says so. -1: why not. */
int plan_holds_offer(void *plan_holds, struct job *j, struct err *e);

/* Undo this hold; `why` is for people. */
void plan_holds_undo(struct plan_holds *all, struct hold_obj *h, const char *why);

/* After a restart, when jobs have claimed again and victims go on: the same with holds. */
void plan_holds_restore(struct plan_holds *all);

/* The clock was set forward by so much (< 0: back): deadlines stay as far as they were. */
void plan_holds_move(struct plan_holds *all, int64_t by_s);

#endif
