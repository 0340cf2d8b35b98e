/* Jobs leave vnodes. See drain.h.
 *
 * Two callers: a maintenance reservation (server/resv) and a vnode's `drain` (node_drain.c). Both keep what they have begun in their own
 * row and ask how many jobs are left; here nothing is remembered. What becomes of a job is victim.c's, with no requester waiting: `done` is
 * NULL, since an administrator looks at the vnodes and not at jobs.
 *
 * The list of jobs on a vnode may change while one is asked (a method that needs no host ends its run at once), so they are collected
 * first. A job on several of the vnodes is asked once: it has a victim then. */
#include "drain.h"

#include <stdlib.h>
#include <string.h>

#include "job_run.h"
#include "log.h"
#include "preempt_notice.h"
#include "preempt_policy.h"
#include "server_ctx.h"
#include "victim.h"

enum { MS_PER_S = 1000 };

/* Whose preempt_grace counts where a queue has none: no scheduler asks for a drain, and every server has this one. */
static const char default_scheduler[] = "default";

static bool drain_concerns(const struct node_use *u, const struct queue *spare)
{
    return !u->lent && (!spare || u->job->queue != spare);
}

/* Will its walltime be over by then? */
static bool drain_ends_before(const struct server_ctx *s, const struct job *j, int64_t at_s)
{
    const struct preempt_facts f = preempt_policy_facts(s, j);

    return at_s && f.walltime_s && f.start_s && !f.suspended && f.start_s + f.walltime_s + f.paused_s <= at_s;
}

/* Jobs on these vnodes that `keep` does not spare, each with a reference; the caller frees. Without memory the process ends: a host
 * would be taken for empty. */
static struct job **drain_list(struct node *const *nodes, size_t n, const struct queue *spare, size_t *n_jobs)
{
    size_t most = 0;
    struct job **list;

    for (size_t i = 0; i < n; i++)
        most += nodes[i]->n_uses;
    list = malloc((most ? most : 1) * sizeof(*list));
    if (!list)
        abort();
    *n_jobs = 0;
    for (size_t i = 0; i < n; i++)
        for (const struct node_use *u = nodes[i]->uses; u; u = u->next)
            if (drain_concerns(u, spare) && *n_jobs < most)
                list[(*n_jobs)++] = job_ref(u->job);
    return list;
}

static void drain_list_free(struct job **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        job_unref(list[i]);
    free(list);
}

/* The site's grace; where there is none, half of the time that is left, so that as much remains for ending and cleaning up. Never
 * beyond the time at which the vnodes are to be free. */
static void drain_set_notice(const struct server_ctx *s, const struct drain_ask *ask, const struct job *j,
                             struct preempt_record_ask *record)
{
    const struct preempt_ask policy = {.ctx = s, .sched = scheds_find(s->scheds, default_scheduler)};
    int64_t left_ms = (ask->free_by_s - server_ctx_now_s(s)) * MS_PER_S;

    record->grace_ms = preempt_notices_grace_ms(&policy, j, &record->grace_max_ms);
    if (!ask->free_by_s)
        return;
    if (left_ms < 0)
        left_ms = 0;
    if (record->grace_ms == 0)
        record->grace_ms = left_ms / 2;
    if (record->grace_ms > left_ms)
        record->grace_ms = left_ms;
    if (record->grace_max_ms > left_ms)
        record->grace_max_ms = left_ms;
}

/* A job that is being started has done nothing that could be saved: where it may be requeued it is, rather than waited for until it can be
 * saved. One that begins from an image keeps the order: its work is in there. */
static struct preempt_methods drain_methods(const struct drain_ask *ask, const struct job *j)
{
    struct preempt_methods m = {0};

    if (j->state != JOB_STARTING || j->restart_from || !preempt_methods_has(&ask->methods, METHOD_REQUEUE))
        return ask->methods;
    preempt_methods_add(&m, METHOD_REQUEUE);
    for (size_t i = 0; i < ask->methods.n; i++)
        if (ask->methods.m[i] != METHOD_REQUEUE)
            preempt_methods_add(&m, ask->methods.m[i]);
    return m;
}

bool drain_job(struct server_ctx *s, struct victims *v, const struct drain_ask *ask, struct job *j)
{
    struct victim_ask want = {.record = {.methods = drain_methods(ask, j), .by = ask->by}};
    struct err e;

    if ((j->victim && !job_run_is_withdrawing(j)) || !j->run || drain_ends_before(s, j, ask->free_by_s))
        return false;
    drain_set_notice(s, ask, j, &want.record);
    if (victims_begin(v, j, &want, &e) == 0)
        return true;
    log_err(LOGC_JOB, j->obj.name, &e, "it cannot be asked to leave its vnodes for %s", ask->by);
    return false;
}

size_t drain_begin(struct server_ctx *s, struct victims *v, const struct drain_ask *ask)
{
    size_t n, asked = 0;
    struct job **jobs = drain_list(ask->nodes, ask->n, ask->spare, &n);

    for (size_t i = 0; i < n; i++)
        asked += drain_job(s, v, ask, jobs[i]);
    drain_list_free(jobs, n);
    return asked;
}

size_t drain_count(struct node *const *nodes, size_t n, const struct queue *spare)
{
    size_t n_jobs = 0;

    for (size_t i = 0; i < n; i++)
        for (const struct node_use *u = nodes[i]->uses; u; u = u->next)
            n_jobs += drain_concerns(u, spare);
    return n_jobs;
}

void drain_withdraw(struct victims *v, struct node *const *nodes, size_t n, const char *by, const char *why)
{
    size_t n_jobs;
    struct job **jobs = drain_list(nodes, n, NULL, &n_jobs);

    for (size_t i = 0; i < n_jobs; i++)
        if (jobs[i]->victim && jobs[i]->preempt && strcmp(jobs[i]->preempt->by, by) == 0)
            victims_withdraw(v, jobs[i], NULL, why);
    drain_list_free(jobs, n_jobs);
}
