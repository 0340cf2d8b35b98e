#ifndef PLAN_EARMARK_H
#define PLAN_EARMARK_H
/* Plan and hold: examine a plan, keep the room its victims give back, start the job when all is there, or undo.
 *
 *   plan_earmarks_make   examined as a whole; then, in this turn: a hold, and every victim begins to give way
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
struct earmark_obj;
struct job_fsm;
struct loop;
struct stop_methods;
struct plan_earmarks;
struct release_nodes;
struct runs;
struct server_ctx;
struct run_suspend;
struct victims;

struct plan_earmark_parts {
    struct loop *loop;
    struct server_ctx *ctx;
    struct job_fsm *fsm;
    struct commit *commit;
    struct stop_methods *stop_methods;
    struct victims *victims;
    struct runs *runs;
    struct run_suspend *run_suspend;
    struct release_nodes *release_nodes;
};

struct plan_earmarks *plan_earmarks_create(const struct plan_earmark_parts *p);
void plan_earmarks_destroy(struct plan_earmarks *all); /* the rows stay: a restart goes on with them */

/* 0: the hold exists, and is durable with everything changed so far (commit_then). -1, nobody was touched: what
 * pbs_preempt_run() promises in pbs_ext.h. */
int plan_earmarks_make(struct plan_earmarks *all, const struct plan_ask *ask, struct err *e);

/* ^ of victims: j->preempt->offer has what this victim would give instead of all. 0: it is enough, perhaps with the urgent
 * job elsewhere on it, and the hold says so. -1: why not. */
int plan_earmarks_offer(void *plan_holds, struct job *j, struct err *e);

/* Undo this hold; `why` is for people. */
void plan_earmarks_undo(struct plan_earmarks *all, struct earmark_obj *h, const char *why);

/* After a restart, when jobs have claimed again and victims go on: the same with holds. */
void plan_earmarks_restore(struct plan_earmarks *all);

/* The clock was set forward by so much (< 0: back): deadlines stay as far as they were. */
void plan_earmarks_move(struct plan_earmarks *all, int64_t by_s);

#endif
