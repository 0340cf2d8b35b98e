#ifndef DRAIN_H
#define DRAIN_H
/* Jobs leave vnodes: for a maintenance reservation before it begins, for a host that an operator takes out of service.
 *
 *   drain_begin     each job there has its notice, then the first of the letters that can be applied to it (victim.h)
 *   drain_job       the same for one that has come there since
 *   drain_count     how many are still there
 *   drain_withdraw  those that no method has touched yet run on
 *
 * Called once for a drain: that it has begun is stored by the caller (a reservation's drain_begun), each job's part of it in the
 * job's own record, which a restarted server carries on by itself. A second call asks only the jobs that are not asked already.
 * Keeping new jobs away is the caller's part too: the state of the vnodes, or a reservation. What a job loses is in the accounting
 * record `v` as of any preemption; preempted_by says for whom. A job that is still being started is requeued first, where R is among
 * the letters: it has nothing to save yet.
 *
 * The site's policy of preemption is not asked (an administrator orders this, as by qrerun), but for the length of notices. Loop
 * thread only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "preempt_method.h"

struct job;
struct node;
struct queue;
struct server_ctx;
struct victims;

struct drain_ask {
    struct node *const *nodes; /* borrowed for the call */
    size_t n;
    struct preempt_methods
        methods;    /* C, R, D in the order in which they are tried; a job to which none applies stays */
    const char *by; /* for people: "M5.svr", "root@host" */
    int64_t
        free_by_s; /* they are to be free then: jobs that end before by their walltime are left alone, notices take half of the
                                * time that is left, where the site grants no longer ones. 0: as soon as notices are over */
    const struct queue *spare; /* jobs of this queue stay; NULL: of none */
};

/* O(jobs on these vnodes). The number of jobs that were asked now. A job that no request can be made for (no memory) is logged. */
size_t drain_begin(struct server_ctx *s, struct victims *v, const struct drain_ask *ask);
/* The same of one job; its vnodes are not looked at, nor `spare`. Return true if it was asked now. */
bool drain_job(struct server_ctx *s, struct victims *v, const struct drain_ask *ask, struct job *j);
/* Jobs on these vnodes, those of `spare` not counted. */
size_t drain_count(struct node *const *nodes, size_t n, const struct queue *spare);
/* The drain by `by` is not wanted any more. */
void drain_withdraw(struct victims *v, struct node *const *nodes, size_t n, const char *by, const char *why);

#endif
