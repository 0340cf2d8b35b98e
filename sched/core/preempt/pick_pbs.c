/* Greedy, as PBS does it: stop the first candidate and try to place the job, then the next one. When
 * another reason prevents the job than before, the candidates are collected again, because others help with
 * that. After FEW victims it is asked once whether all of them together would do. At the end each victim
 * whose place is still free beside the urgent job is released, the last chosen first (pick_prune), and then
 * each without which another place is found (pick_thin).
 *
 * To place a job and to find a reason costs more than to stop a victim, so neither is done where the
 * outcome is known:
 *
 *   by sums    as long as all vnodes together have less of that resource free than the job asks for, it is the reason still
 *   by leaps   where the sums suffice, twice as many are stopped each time before it is asked again, then the first at which the
 *              outcome is another is found by bisection. This holds where an outcome that has gone does not come back when more
 *              is free: chunks of one kind, and vnodes that are hosts, so that no chunk is split.
 *
 * Two books are kept in step: the trial (room on vnodes) and the counters of the run limits (pick_count),
 * which the trial does not know. One trial_undo brings back the first; the counters are put back by hand on
 * every way out. job->picked marks the chosen and the excluded, so that a second collection does not choose
 * them again; pick_pbs_fini takes the marks off. */
#include "pick_pbs.h"

#include <stdlib.h>

#include "log.h"
#include "mem.h"
#include "preempt_level.h"
#include "run_limits.h"

/* Victims that are tried before it is asked whether all of them would do, which costs a collection and a placement: most searches
 * that succeed need fewer. A choice. */
enum { FEW = 16 };

enum outcome {
    OUTCOME_FITS,
    OUTCOME_SAME, /* the reason is the one by which the candidates were collected */
    OUTCOME_OTHER
};

/* One search. `now` is the reason by which `l` was collected, `next` that of the last try. */
struct pbs_search {
    const struct picker *k;
    const struct preemptor *p;
    struct candidates l, chosen, excluded;
    struct reason now, next; /* that of the candidates; that of the last try */
    struct allocation *where;
    bool is_said; /* the log has the reason */
};

/* Would stopping all of them be enough, beside those that are chosen already? If not, the search ends here. */
static bool all_suffice(const struct picker *k, const struct preemptor *p)
{
    size_t mark = trial_mark(k->trial);
    struct candidates rest = {0};
    struct allocation where = {0};
    struct reason why;

    reason_set(&why, REASON_FEW_FREE_NODES, NULL, NULL); /* a reason that every job helps with */
    candidates_collect(&rest, p, &why);
    for (size_t i = 0; i < rest.n; i++) {
        if (rest.a[i]->picked == PICKED_CHOSEN)
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

/* The search has failed: the chosen are counted again. */
static void recount(const struct picker *k, const struct candidates *chosen)
{
    for (size_t i = 0; i < chosen->n; i++)
        pick_count(chosen->a[i], cluster_server(k->cl), 1);
}

static void log_short(const struct pbs_search *s)
{
    char text[REASON_TEXT_MAX];

    decisions_log(s->k->log, LOGE_DEBUG, s->p->job->id, "Simulation: not enough work preempted: %s",
                  reason_log(&s->next, text));
}

static void log_stops(const struct pbs_search *s, size_t from)
{
    for (size_t i = from; i < s->chosen.n; i++)
        decisions_log(s->k->log, LOGE_DEBUG, s->chosen.a[i]->id, "Simulation: preempting job");
}

static void pick_pbs_put(struct candidates *l, struct job *j, enum job_picked picked)
{
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
    j->picked = picked;
}

/* Both books: its room is free, and it is not counted. */
static void pick_pbs_stop(struct pbs_search *s, struct job *j)
{
    pick_pbs_put(&s->chosen, j, PICKED_CHOSEN);
    trial_give_all(s->k->trial, job_freed(j));
    pick_count(j, cluster_server(s->k->cl), -1);
}

/* All but the first n chosen run on; the trial was at `mark` when so many were chosen. */
static void pick_pbs_spare(struct pbs_search *s, size_t n, size_t mark)
{
    allocation_fini(s->where);
    trial_undo(s->k->trial, mark);
    while (s->chosen.n > n) {
        struct job *j = s->chosen.a[--s->chosen.n];
        j->picked = PICKED_NOT;
        pick_count(j, cluster_server(s->k->cl), 1);
    }
}

/* The last one chosen stays after all: with it stopped, a victim would rise above the urgent job
 * (pick_escalates). It is not tried again in this search. */
static void pick_pbs_exclude(struct pbs_search *s, size_t mark)
{
    struct job *j = s->chosen.a[s->chosen.n - 1];

    pick_pbs_spare(s, s->chosen.n - 1, mark);
    pick_pbs_put(&s->excluded, j, PICKED_EXCLUDED);
    decisions_log(s->k->log, LOGE_DEBUG, j->id,
                  "Preempting job will escalate its priority or priority of other jobs, not preempting it");
}

/* One placement. The same reason is the same code and the same resource; amounts may differ. */
static enum outcome pick_pbs_ask(struct pbs_search *s)
{
    if (pick_place(s->k, s->p, s->where, &s->next))
        return OUTCOME_FITS;
    return s->next.code == s->now.code && s->next.res == s->now.res ? OUTCOME_SAME : OUTCOME_OTHER;
}

/* Is it certain by the sums alone that the reason is the same? Only after the reason was logged once, since
 * here it is not. */
static bool is_same_by_sums(const struct pbs_search *s)
{
    return s->is_said && s->now.code == REASON_LACK && pick_lacks(s->k, s->p) == s->now.res;
}

/* --- leaps ------------------------------------------------------------------------------------------------- */

struct stand {          /* how far the search has come */
    size_t n, mark, at; /* chosen; of the trial; candidates before that have been gone through */
};

/* After FEW single steps, where an outcome that has gone does not come back: see the head. Levels that move
 * (soft limits) ask about each victim, and a suspended job about its own vnodes. */
static bool may_leap(const struct pbs_search *s)
{
    size_t n_big;

    cluster_big_hosts(s->k->cl, &n_big);
    return s->chosen.n >= FEW && n_big == 0 && s->p->request->n == 1 && !preempt_level_moves(s->k->cl) &&
           s->p->job->sched_state != SCHED_STATE_SUSPENDED && pick_sums_say_it(s->k, s->p);
}

/* Stop the next candidates, until n are chosen or there are no more; `to` is how far that is. */
static void leap_to(struct pbs_search *s, size_t n, struct stand *to)
{
    for (; s->chosen.n < n && to->at < s->l.n; to->at++)
        if (s->l.a[to->at]->picked == PICKED_NOT)
            pick_pbs_stop(s, s->l.a[to->at]);
    to->n = s->chosen.n;
    to->mark = trial_mark(s->k->trial);
}

/* At `low` the outcome is the same, at `high`, where the search is, it is another: find the first at which it is another. */
static enum outcome leap_back(struct pbs_search *s, struct stand low, size_t high, enum outcome found)
{
    struct stand here;

    while (high - low.n > 1) {
        pick_pbs_spare(s, low.n, low.mark);
        here = low;
        leap_to(s, low.n + (high - low.n) / 2, &here);
        enum outcome x = pick_pbs_ask(s);
        if (x == OUTCOME_SAME)
            low = here;
        else {
            high = here.n;
            found = x;
        }
    }
    if (s->chosen.n == high)
        return found;
    here = low;
    leap_to(s, high, &here);
    return pick_pbs_ask(s);
}

/* Leap over the candidates behind number `at`, with which the outcome was the same: 1 more, 2, 4, ... until
 * it is another one or there are no more. *at is then the last candidate that was gone through. */
static enum outcome leap(struct pbs_search *s, size_t *at)
{
    struct stand low = {s->chosen.n, trial_mark(s->k->trial), *at + 1}, high;
    enum outcome found;
    size_t first = s->chosen.n;

    for (size_t more = 1;; more *= 2) {
        high = low;
        leap_to(s, low.n + more, &high);
        *at = high.at - 1;
        if (high.n == low.n) {
            found = OUTCOME_SAME;
            break;
        }
        found = pick_pbs_ask(s);
        if (found != OUTCOME_SAME) {
            found = leap_back(s, low, high.n, found);
            break;
        }
        low = high;
    }
    log_stops(s, first);
    return found;
}

/* --- one after the other --------------------------------------------------------------------------------- */

/* PBS logs a reason when it is another; the same again is not worth a line. */
static enum outcome pick_pbs_try(struct pbs_search *s)
{
    if (is_same_by_sums(s))
        return OUTCOME_SAME;
    enum outcome found = pick_pbs_ask(s);
    if (found == OUTCOME_OTHER || (found == OUTCOME_SAME && !s->is_said))
        log_short(s);
    s->is_said = true;
    return found;
}

/* Stop candidates in their order until the urgent job fits. Another reason than before means another order. */
static bool simulate(struct pbs_search *s)
{
    for (size_t i = 0; i < s->l.n; i++) {
        size_t mark = trial_mark(s->k->trial);
        if (s->l.a[i]->picked != PICKED_NOT)
            continue;
        pick_pbs_stop(s, s->l.a[i]);
        log_stops(s, s->chosen.n - 1);
        if (pick_escalates(s->k, s->p, &s->chosen)) {
            pick_pbs_exclude(s, mark);
            continue;
        }
        enum outcome found = pick_pbs_try(s);
        if (found != OUTCOME_FITS && s->chosen.n == FEW && !all_suffice(s->k, s->p))
            return false;
        if (found == OUTCOME_SAME && may_leap(s)) {
            found = leap(s, &i);
            if (found == OUTCOME_OTHER)
                log_short(s);
        }
        if (found == OUTCOME_FITS) {
            decisions_log(s->k->log, LOGE_DEBUG, s->p->job->id,
                          "Simulation: Preempted enough work to run job");
            return true;
        }
        if (found == OUTCOME_SAME)
            continue;
        s->now = s->next;
        candidates_fini(&s->l);
        candidates_collect(&s->l, s->p, &s->now);
        i = (size_t)-1; /* from the first one again */
    }
    return false;
}

/* Marks are on chosen and excluded jobs only. */
static void pick_pbs_fini(struct pbs_search *s)
{
    for (size_t i = 0; i < s->chosen.n; i++)
        s->chosen.a[i]->picked = PICKED_NOT;
    for (size_t i = 0; i < s->excluded.n; i++)
        s->excluded.a[i]->picked = PICKED_NOT;
    candidates_fini(&s->l);
    candidates_fini(&s->chosen);
    candidates_fini(&s->excluded);
}

/* pick_prune counts released jobs and victims again, recount those of a search that failed: then no job is
 * counted as stopped. */
bool pick_pbs(const struct picker *k, const struct preemptor *p, const struct reason *why,
              struct candidates *victims, struct allocation *where)
{
    size_t mark = trial_mark(k->trial);
    struct pbs_search s = {.k = k, .p = p, .now = *why, .where = where};
    bool found;

    candidates_collect(&s.l, p, why);
    if (cluster_policy(k->cl)->preempt_targets && p->job->targets)
        decisions_log(k->log, LOGE_DEBUG, p->job->id,
                      "Limited running jobs used for preemption from %zu to %zu%s", s.l.all, s.l.targets,
                      s.l.targets ? "" : ": No jobs to preempt");
    if (s.l.targets && s.l.n == 0)
        decisions_log(k->log, LOGE_DEBUG, p->job->id, "Found no preemptable candidates");
    found = simulate(&s);
    if (found)
        pick_prune(k, p, &s.chosen, victims);
    else
        recount(k, &s.chosen);
    if (found && victims->n == 0) {
        decisions_log(k->log, LOGE_DEBUG, p->job->id,
                      "Simulation Error: All jobs removed from preemption list");
        found = false;
    }
    if (!found)
        allocation_fini(where);
    trial_undo(k->trial, mark);
    if (found)
        pick_thin(k, p, victims, where);
    pick_pbs_fini(&s);
    return found;
}
