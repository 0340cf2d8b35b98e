#ifndef TRIAL_H
#define TRIAL_H
/* Tentative steps on the cluster's nodes, rolled back in one go.
 *
 *   size_t mark = trial_mark(t);
 *   trial_take(t, node, &use); ...
 *   trial_undo(t, mark);
 *
 * Amounts handed in are borrowed until the step is undone. Nothing but trial may move the nodes in between:
 * no order, no change, no settling. Trials nest by their marks. Every trial is at mark 0 when a cycle ends. */
#include "sched_cluster.h"

struct trial;

struct trial *trial_create(struct cluster *cl);
void trial_destroy(struct trial *t); /* undoes all */

size_t trial_mark(const struct trial *t);
void trial_undo(struct trial *t, size_t mark);

void trial_take(struct trial *t, struct node *n, const struct amounts *use); /* a job's part comes here */
void trial_exclude(struct trial *t, struct node *n);                         /* no other job may come */

/* Another room, that of a reservation: `less` (which may be below 0) is taken from what is free, so many
 * jobs are there, and it is exclusive or not. See inside.h. */
void trial_lend(struct trial *t, struct node *n, const struct amounts *less, int64_t jobs, bool exclusive);

/* So many jobs' parts go, then so many come; `less` (which may be below 0) is what all of that takes from what is free. */
void trial_exchange(struct trial *t, struct node *n, const struct amounts *less, int64_t n_gone,
                    int64_t n_comes);

/* all parts of a job. */
void trial_give_all(struct trial *t, const struct allocation *p);
void trial_take_all(struct trial *t, const struct allocation *p);

#endif
