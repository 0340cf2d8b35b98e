/* Greedy, as PBS does it: stop the first candidate and try to place the job, then the next one. When another
 * reason prevents the job than before, the candidates are collected again, because others help with that.
 * After FEW victims it is asked once whether all of them together would do. At the end each victim whose place is
 * still free beside the urgent job is released, the last chosen first.
 *
 * Two books are kept in step: the trial (room on vnodes) and the counters of the run limits (pick_count),
 * which the trial does not know. One trial_undo brings back the first; the counters are put back by hand on
 * every way out. */
#include "pick_pbs.h"

#include <stdlib.h>

#include "log.h"
#include "mem.h"
#include "run_limits.h"

enum { FEW = 16 }; /* victims that are tried before it is asked whether all of them would do */

static bool is_chosen(const struct candidates *chosen, const struct job *j)
{
    for (size_t i = 0; i < chosen->n; i++)
        if (chosen->a[i] == j)
            return true;
    return false;
}

/* Would stopping all of them be enough, beside those that are chosen already? If not, the search ends here. */
static bool all_suffice(const struct picker *k, const struct preemptor *p, const struct candidates *chosen)
{
    size_t mark = trial_mark(k->trial);
    struct candidates rest = {0};
    struct allocation where = {0};
    struct reason why;

    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL); /* a reason that every job helps with */
    candidates_collect(&rest, p, &why);
    for (size_t i = 0; i < rest.n; i++) {
        if (is_chosen(chosen, rest.a[i]))
            rest.a[i] = rest.a[--rest.n], i--; /* of 0 too: the loop brings it back */
        else {
            trial_give_all(k->trial, job_freed(rest.a[i]));
            pick_count(rest.a[i], cluster_server(k->cl), -1);
        }
    }
    bool suffice = pick_place(k, p, &where, &why);
    for (size_t i = 0; i < rest.n; i++)
        pick_count(rest.a[i], cluster_server(k->cl), 1);
    trial_undo(k->trial, mark);
    allocation_fini(&where);
    candidates_fini(&rest);
    return suffice;
}

static void recount(const struct picker *k, const struct candidates *chosen)
{
    for (size_t i = 0; i < chosen->n; i++)
        pick_count(chosen->a[i], cluster_server(k->cl), 1);
}

static void log_short(const struct picker *k, const struct preemptor *p, const struct reason *why)
{
    char text[REASON_TEXT_MAX];

    decisions_log(k->log, LOGE_DEBUG, p->job->id, "Simulation: not enough work preempted: %s",
                  reason_log(why, text));
}

static void pick_pbs_stop(const struct picker *k, struct candidates *chosen, struct job *j)
{
    chosen->a = mem_room(chosen->a, chosen->n, &chosen->cap, sizeof *chosen->a);
    chosen->a[chosen->n++] = j;
    trial_give_all(k->trial, job_freed(j));
    pick_count(j, cluster_server(k->cl), -1);
    decisions_log(k->log, LOGE_DEBUG, j->id, "Simulation: preempting job");
}

/* The last one chosen stays after all. */
static void spare(const struct picker *k, struct candidates *chosen, struct candidates *excluded, size_t mark)
{
    struct job *j = chosen->a[--chosen->n];

    trial_undo(k->trial, mark);
    pick_count(j, cluster_server(k->cl), 1);
    excluded->a = mem_room(excluded->a, excluded->n, &excluded->cap, sizeof *excluded->a);
    excluded->a[excluded->n++] = j;
    decisions_log(k->log, LOGE_DEBUG, j->id,
                  "Preempting job will escalate its priority or priority of other jobs, not preempting it");
}

static void pick_pbs_again(struct candidates *l, const struct preemptor *p, const struct reason *why)
{
    candidates_fini(l);
    candidates_collect(l, p, why);
}

/* Stop candidates in their order until the urgent job fits. Another reason than before means another order. */
static bool simulate(const struct picker *k, const struct preemptor *p, const struct reason *why,
                     struct candidates *l, struct candidates *chosen, struct candidates *excluded,
                     struct allocation *where)
{
    struct reason now = *why;

    for (size_t i = 0; i < l->n; i++) {
        size_t mark = trial_mark(k->trial);
        struct reason next;
        if (is_chosen(chosen, l->a[i]) || is_chosen(excluded, l->a[i]))
            continue;
        pick_pbs_stop(k, chosen, l->a[i]);
        if (pick_escalates(k, p, chosen)) {
            spare(k, chosen, excluded, mark);
            continue;
        }
        if (pick_place(k, p, where, &next)) {
            decisions_log(k->log, LOGE_DEBUG, p->job->id, "Simulation: Preempted enough work to run job");
            return true;
        }
        log_short(k, p, &next);
        if (chosen->n == FEW && !all_suffice(k, p, chosen))
            return false;
        if (next.code == now.code && next.res == now.res)
            continue;
        now = next;
        pick_pbs_again(l, p, &now);
        i = (size_t)-1; /* from the first one again */
    }
    return false;
}

bool pick_pbs(const struct picker *k, const struct preemptor *p, const struct reason *why,
              struct candidates *victims, struct allocation *where)
{
    size_t mark = trial_mark(k->trial);
    struct candidates l = {0}, chosen = {0}, excluded = {0};
    bool found;

    candidates_collect(&l, p, why);
    if (cluster_policy(k->cl)->preempt_targets && p->job->targets)
        decisions_log(k->log, LOGE_DEBUG, p->job->id,
                      "Limited running jobs used for preemption from %zu to %zu%s", l.all, l.targets,
                      l.targets ? "" : ": No jobs to preempt");
    if (l.targets && l.n == 0)
        decisions_log(k->log, LOGE_DEBUG, p->job->id, "Found no preemptable candidates");
    found = simulate(k, p, why, &l, &chosen, &excluded, where);
    if (found)
        pick_prune(k, p, &chosen, victims);
    else
        recount(k, &chosen);
    if (found && victims->n == 0) {
        decisions_log(k->log, LOGE_DEBUG, p->job->id,
                      "Simulation Error: All jobs removed from preemption list");
        found = false;
    }
    if (!found)
        allocation_fini(where);
    trial_undo(k->trial, mark);
    candidates_fini(&l);
    free(chosen.a);
    free(excluded.a);
    return found;
}
