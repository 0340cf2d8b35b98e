/* The questions about one job, in the order in which a cycle asks them. See attempt.h. */
#include "attempt.h"

#include "resume_fit.h"
#include "candidates.h"
#include "fairshare.h"
#include "primetime.h"
#include "preempt_level.h"
#include "log.h"
#include "pick_least.h"
#include "pick_pbs.h"
#include "rating.h"
#include "run_limits.h"
#include "trial.h"

/* fairshare_enforce_no_shares: an entity without shares runs nothing. A job that is run by request needs
 * none. */
static bool has_no_shares(const struct policy *p, const struct job *j)
{
    return p->fair_share && p->share_enforce && j->share && !j->urged && fairshare_fraction(j->share) <= 0;
}

/* Room on vnodes, when nothing else forbids it. The trial and `where` are filled, or `why`. */
static bool find_place(const struct picker *k, const struct preemptor *p, struct allocation *where,
                       struct reason *why)
{
    const struct job *j = p->job;
    struct asker a = {
        .cl = k->cl,
        .request = p->request,
        .queue = j->queue,
        .job = j,
        .span = {j->within || p->no_resvs ? SPAN_NONE : SPAN_NOW, p->now_s, p->now_s + job_lasts_s(j)},
        .within = j->within};
    bool meets;

    if (j->sched_state == SCHED_STATE_SUSPENDED) {
        if (!resume_fits(&a, why))
            return false;
        allocation_copy(where, &j->on);
        return true;
    }
    if (psets_find_beside(k->placer, k->buckets, k->trial, &a, where, &meets))
        return true;
    if (meets)
        reason_set(why, REASON_CONFLICT, NULL, NULL);
    else
        psets_why(k->buckets, &a, why);
    return false;
}

/* REASON_INTERNAL is what is said if a callee returns false without a reason, which would be a bug. */
bool attempt_room(const struct picker *k, const struct preemptor *p, struct allocation *where,
                  struct reason *why)
{
    const struct job *j = p->job;
    size_t mark = trial_mark(k->trial);
    bool is_inside = j->within && j->within->n_times > 0;

    reason_set(why, REASON_INTERNAL, NULL, NULL);
    if (has_no_shares(cluster_policy(k->cl), j)) {
        reason_set(why, REASON_ZERO_SHARES, NULL, NULL);
        return false;
    }
    if (!rating_suffices(cluster_policy(k->cl), j)) {
        reason_set(why, REASON_FORMULA, NULL, NULL);
        return false;
    }
    if (!primetime_allows(k->cl, j, p->now_s, why) || !run_limits_allow(k->cl, j, why))
        return false;
    if (is_inside)
        inside_enter(k->inside, k->trial, j->within);
    bool found = find_place(k, p, where, why);
    if (is_inside)
        inside_leave(k->inside);
    /* The order takes the room for good; what made vnodes exclusive is said by the server. */
    trial_undo(k->trial, mark);
    return found;
}

const char *attempt_bar_text(enum attempt_bar bar)
{
    static const char *const texts[] = {
        [ATTEMPT_OPEN] = "",
        [ATTEMPT_OFF] = "preemptive_sched is off in sched_config",
        [ATTEMPT_NEVER] = "it could not run even if everything were free",
        [ATTEMPT_LEVEL] = "no running job has a lower preemption level",
        [ATTEMPT_HOPELESS] = "stopping jobs cannot give it what it lacks",
        [ATTEMPT_FORBIDDEN] = "its preempt_targets are NONE",
        [ATTEMPT_WAITS] = "enough jobs end by themselves within preempt_wait",
    };

    return texts[bar];
}

/* The cheap questions first. A job passes all of them before any running job is looked at. */
enum attempt_bar attempt_bar(const struct picker *k, const struct preemptor *p, const struct reason *why)
{
    if (!cluster_policy(k->cl)->preemptive)
        return ATTEMPT_OFF;
    if (why->never)
        return ATTEMPT_NEVER;
    if (preempt_level_lowest_running(k->cl) >= p->level)
        return ATTEMPT_LEVEL;
    if (candidates_are_hopeless(why))
        return ATTEMPT_HOPELESS;
    return candidates_are_forbidden(p) ? ATTEMPT_FORBIDDEN : ATTEMPT_OPEN;
}

bool attempt_waits(const struct picker *k, const struct preemptor *p)
{
    int64_t wait_s = cluster_policy(k->cl)->preempt_wait_s;

    return wait_s > 0 && !p->job->urged && pick_can_wait(k, p, p->now_s + wait_s);
}

/* Each candidate alone is within the budget (candidates.c); together they may still be too much. */
bool attempt_victims(const struct picker *k, const struct preemptor *p, const struct reason *why,
                     struct candidates *victims, struct allocation *where)
{
    bool found = cluster_policy(k->cl)->preempt_sort == PREEMPT_LATEST
                     ? pick_pbs(k, p, why, victims, where)
                     : pick_least(k, p, why, victims, where);

    if (!found || candidates_budget_covers(p, victims))
        return found;
    decisions_log(k->log, LOGE_DEBUG, p->job->id,
                  "Together they would lose more than the preempt_budget of its queue has left");
    return false;
}
