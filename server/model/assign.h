#ifndef ASSIGN_H
#define ASSIGN_H
/* What is free in truth, less what is held: the arbiter of every run request.
 *
 * A run claims its amounts on each vnode of its exec_vnode and server- or queue-level consumables; they are
 * given back host by host. Derived, never stored: after a restart each job in a run claims again. Only
 * `force` (qrun -H) may take more than there is. A debug build recounts on each give-back.
 */
#include "exec_vnode.h"
#include "job.h"
#include "node.h"

struct assign;
struct site;

struct assign *assign_create(struct site *s);
void assign_destroy(struct assign *a);

/* Take what `ev` names for this job. All or nothing.
 * -1: PBSE_UNKNODE a vnode does not exist; PBSE_RESCUNAV not free (text: "Insufficient amount of resource:
 * ncpus (R: 4 A: 2 T: 8) on n1"), or not usable, or exclusive. O(vnodes of ev × resources). */
int assign_claim(struct assign *a, struct job *j, const struct exec_vnode *ev, bool exclusive, bool force,
                 struct err *e);
/* Could it be claimed now? Same errors, nothing taken. */
int assign_check(struct assign *a, const struct job *j, const struct exec_vnode *ev, bool exclusive, struct err *e);

/* This job no longer uses this vnode. Silent if it does not. */
void assign_release_node(struct assign *a, struct job *j, struct node *n);
void assign_release_all(struct assign *a, struct job *j);

/* A suspended job keeps its vnodes but gives back amounts (those named in `only`, a comma list; NULL: all);
 * take them again before it resumes: PBSE_RESCUNAV if they have gone. */
void assign_suspend(struct assign *a, struct job *j, const char *only);
int assign_resume(struct assign *a, struct job *j, struct err *e);

/* Text of what is taken on a vnode for status: calls `each` for every consumable of the table. */
void assign_each(const struct assign *a, const struct node *n,
                 void (*each)(void *arg, const char *resource, const char *value), void *arg);
void assign_each_server(const struct assign *a, void (*each)(void *arg, const char *resource, const char *value),
                        void *arg);
void assign_each_queue(const struct assign *a, const struct queue *q,
                       void (*each)(void *arg, const char *resource, const char *value), void *arg);

#endif
