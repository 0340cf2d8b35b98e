#ifndef PLAN_EARMARK_H
#define PLAN_EARMARK_H
/* Plans and earmarks: examine a plan, earmark what its victims give back, start the job when all is free, or undo.
 *
 *   plan_earmarks_make   examined as a whole; then at once: an earmark, and every preemption begins
 *        |  a use is given back, a victim has settled ...
 *        v
 *   started: the earmark is gone, the job claims what it kept      undone: what was stopped for the job resumes
 *
 * Undone: when a victim cannot be preempted, the job is held, deleted, altered or run by another request, at
 * the deadline, or by request. Victims that no method has touched yet run on; those that are suspended resume;
 * those that are back in their queue are the first of their kind. A restart restores an earmark as it was.
 * Loop thread only. */
#include "plan_draft.h"
#include "job_fsm.h"
#include "server_events.h"

struct commit;
struct earmark_obj;
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
void plan_earmarks_destroy(
    struct plan_earmarks *all); /* the rows stay: a restart restores the earmarks from them */

/* 0: the earmark exists, and is durable with everything changed so far (commit_then). -1, no job was changed: the
 * errors of pbs_preempt_run() in pbs_ext.h. */
int plan_earmarks_make(struct plan_earmarks *all, const struct plan_ask *ask, struct err *e);

/* Undo this earmark; `why` is text for users. */
void plan_earmarks_undo(struct plan_earmarks *all, struct earmark_obj *h, const char *why);

/* Restore the earmarks after a restart, once jobs have claimed again and victims_restore() has made the
 * victims, before the first of them continues. */
void plan_earmarks_restore(struct plan_earmarks *all);

/* The clock was set forward by by_s (< 0: back): move the deadlines, so that the time left stays the same. */
void plan_earmarks_move(struct plan_earmarks *all, int64_t by_s);

/* Listener of EVENT_EARMARK_ROOM: it may be enough now. */
void plan_earmarks_on_room(void *plan_earmarks, const struct server_event *ev);
/* Listener of the machine: the job that the room is for moves. */
void plan_earmarks_listen(void *plan_earmarks, struct job *j, enum job_state from, enum job_event ev);

#endif
