/* Room that running jobs have: a cycle takes it by turns of time slices or by preemption. See cycle_preempt.h.
 *
 * cycle_preempt_for_class is called when a job has found no free room. Its decisions take effect in the cluster at once (the victims
 * are under an order, the job awaits them), so the rest of the cycle sees them.
 *
 * cycle_preempt_elsewhere is called at the beginning of a cycle, for jobs that await such room: room may come free elsewhere before the
 * victims have gone, during their notice or because they stop slowly. Then the job runs there; the server undoes the plan, and
 * victims that were not touched yet stay. */
#include "cycle_preempt.h"

#include <stdio.h>
#include <stdlib.h>

#include "attempt.h"
#include "classes.h"
#include "explain.h"
#include "gang.h"
#include "log.h"
#include "mem.h"
#include "placement.h"
#include "preempt_level.h"
#include "preempt_plan.h"
#include "trial.h"
#include "cluster_array.h"
#include "cycle_state.h"
#include "cycle_decide.h"
#include "backfill.h"

/* Something may be different at that time though no news comes: cycle_note_due_times makes it news then.
 * Only the first of these times is kept; when it has come, each job that still has to wait is asked again
 * and notes the next one. */
static void cycle_note_later(void *arg, int64_t at_s)
{
    struct cycle *c = arg;

    if (c->forget_s == 0 || at_s < c->forget_s)
        c->forget_s = at_s;
}

/* A victim for which no method was left is not tried again for a while, for any job. */
static bool cycle_has_failed(void *cycle, const struct job *preemptor, const struct job *victim)
{
    const struct cycle *c = cycle;

    return c->now_s < plans_victim_again_s(victim) ||
           plans_has_failed(c->plans, preemptor->id, victim->id, c->now_s);
}

/* The same, and the cycle comes again when the failure is forgotten. explain asks the one above: it must
 * leave no trace. */
static bool cycle_preemptor_has_failed(void *arg, const struct job *preemptor, const struct job *victim)
{
    struct cycle *c = arg;

    if (!cycle_has_failed(c, preemptor, victim))
        return false;
    int64_t again_s = plans_victim_again_s(victim);
    cycle_note_later(c, again_s > c->now_s ? again_s : c->now_s + PLAN_FORGET_S);
    return true;
}

/* A job that may not preempt at all is passed over without a log line and without counting as an attempt (preempt_attempts). */
static bool may_preempt(struct cycle *c, const struct picker *k, const struct preemptor *p,
                        const struct reason *why)
{
    const struct policy *policy = cluster_policy(c->cl);
    enum attempt_bar bar = attempt_bar(k, p, why);
    char text[REASON_TEXT_MAX];

    if (bar == ATTEMPT_OFF || bar == ATTEMPT_NEVER || bar == ATTEMPT_LEVEL)
        return false;
    if (policy->preempt_attempts > 0 && c->attempts >= policy->preempt_attempts) {
        decisions_log(c->d, LOGE_DEBUG, p->job->id,
                      "Not attempting to preempt: over max cycle preempt limit");
        return false;
    }
    c->attempts++;
    decisions_log(c->d, LOGE_DEBUG, p->job->id, "Employing preemption to try and run high priority job.");
    if (bar == ATTEMPT_HOPELESS)
        decisions_log(c->d, LOGE_DEBUG, p->job->id, "Preempt: Can not preempt to run job: %s",
                      reason_log(why, text));
    if (bar == ATTEMPT_FORBIDDEN)
        decisions_log(c->d, LOGE_DEBUG, p->job->id,
                      "No preemption set specified for the job: Job will not preempt");
    return bar == ATTEMPT_OPEN;
}

/* These victims are to give way to `j`: their names and runs go into the decision, and the room is kept for
 * it until they have. The run is named so that the server does not stop a later run of the same job. */
static void decide_plan(struct cycle *c, struct decision *x, struct job *j, const struct candidates *victims,
                        const struct allocation *where)
{
    x->names = mem_new(victims->n + 1, sizeof *x->names);
    x->runs = mem_new(victims->n + 1, sizeof *x->runs);
    for (size_t i = 0; i < victims->n; i++) {
        x->names[i] = mem_text(victims->a[i]->id);
        x->runs[i] = (int)victims->a[i]->run_version;
    }
    x->n_names = victims->n;
    plans_begin(c->plans, j, victims, where);
}

static void decide_preempt(struct cycle *c, struct job *j, const struct candidates *victims,
                           const struct allocation *where)
{
    bool resumes =
        j->sched_state == SCHED_STATE_SUSPENDED; /* it goes back to where it is: no plan of a run */
    char *text = resumes ? NULL : placement_text(c->cl, where);

    struct decision *x = decisions_add(c->d, DECIDE_PREEMPT, j->id, text ? text : "");
    decide_plan(c, x, j, victims, where);
    cycle_decide_length(c, x, j);
    free(text);
}

/* preempt_wait: no job is stopped where enough jobs end in time by themselves. */
static bool waits_for_ends(struct cycle *c, const struct picker *k, const struct preemptor *p)
{
    if (!attempt_waits(k, p))
        return false;
    decisions_log(c->d, LOGE_DEBUG, p->job->id, "No job is preempted: enough jobs end within %lld seconds",
                  (long long)cluster_policy(c->cl)->preempt_wait_s);
    return true;
}

struct picker cycle_preempt_picker(const struct cycle *c)
{
    return (struct picker){.cl = c->cl,
                           .trial = c->trial,
                           .placer = c->placer,
                           .buckets = c->buckets,
                           .inside = c->inside,
                           .log = c->d};
}

void cycle_preempt_explain(struct cycle *c, const struct job *j, int64_t now_s, struct explanation *out)
{
    explain(&(struct explain_ask){.picker = cycle_preempt_picker(c),
                                  .job = j,
                                  .now_s = now_s,
                                  .has_failed = cycle_has_failed,
                                  .room = backfill_room,
                                  .arg = c},
            out);
}

struct preemptor cycle_preemptor(struct cycle *c, const struct class *k, const struct job *j)
{
    return (struct preemptor){.cl = c->cl,
                              .job = j,
                              .request = k->request,
                              .level = k->level,
                              .now_s = c->now_s,
                              .has_failed = cycle_preemptor_has_failed,
                              .later = cycle_note_later,
                              .arg = c};
}

/* The job's turn in its time slices, by suspension of jobs that have had theirs. Promises of this cycle to
 * others are taken out of the trial while it is looked for. */
static bool find_turn(struct cycle *c, struct class *k, struct job *j, struct reason *why)
{
    struct preemptor p = cycle_preemptor(c, k, j);
    struct picker picker = cycle_preempt_picker(c);
    struct candidates victims = {0};
    struct allocation where = {0};
    size_t mark = trial_mark(c->trial);

    gang_keep_promises(c->gang, c->trial, k->queue);
    bool found = gang_take_turn(c->gang, &picker, &p, &victims, &where, why);
    trial_undo(c->trial, mark);
    if (found)
        decide_plan(c, decisions_add(c->d, DECIDE_TURN, j->id, ""), j, &victims, &where);
    free(victims.a);
    allocation_fini(&where);
    return found;
}

/* Preemption. What is booked for top jobs is taken out of the trial first, with no ends counted: the
 * victims' own ends would count twice otherwise. */
static bool cycle_preempt_find_victims(struct cycle *c, struct class *k, struct job *j,
                                       const struct reason *why)
{
    struct preemptor p = cycle_preemptor(c, k, j);
    struct picker picker = cycle_preempt_picker(c);
    struct candidates victims = {0};
    struct allocation where = {0};
    size_t mark = trial_mark(c->trial);

    if (!may_preempt(c, &picker, &p, why) || waits_for_ends(c, &picker, &p))
        return false;
    backfill_keep_from_victims(c, j);
    bool found = attempt_victims(&picker, &p, why, &victims, &where);
    trial_undo(c->trial, mark);

    if (found)
        decide_preempt(c, j, &victims, &where);
    free(victims.a);
    allocation_fini(&where);
    return found;
}

/* A turn is tried first: it costs no job a protection or a method. `why` is the obstacle on entry, and on return
 * what is said of the job; preemption asks about the obstacle as it was. */
static bool cycle_preempt_make_room(struct cycle *c, struct class *k, struct job *j, struct reason *why)
{
    struct reason lack = *why;

    return find_turn(c, k, j, why) || cycle_preempt_find_victims(c, k, j, &lack);
}

/* For an array, other jobs give way to its next subjob, which is made for the attempt and unmade if it fails. */
bool cycle_preempt_for_class(struct cycle *c, struct class *k, struct reason *why)
{
    struct job *j = k->heap[0];
    bool may_preempt_any =
        cluster_policy(c->cl)->preemptive && preempt_level_lowest_running(c->cl) < k->level;
    bool found;

    if (j->within) /* it may use its reservation's room only, and no job in there is stopped */
        return false;
    if (!j->is_array)
        return cycle_preempt_make_room(c, k, j, why);
    if (why->never || why->code == REASON_SUBJOBS || (!may_preempt_any && !k->queue->gang))
        return false;
    j = cluster_array_spawn(c->cl, j);
    found = cycle_preempt_make_room(c, k, j, why);
    if (!found)
        cluster_array_unspawn(c->cl, j);
    return found;
}

/* `lack`: what is in the job's way, jobs that could give way apart. */
static void say_refused(char *text, size_t size, enum attempt_bar bar, const struct reason *lack)
{
    char why[REASON_TEXT_MAX];

    if (bar == ATTEMPT_HOPELESS || bar == ATTEMPT_NEVER)
        snprintf(text, size, "%s: %s", attempt_bar_text(bar), reason_log(lack, why));
    else if (bar == ATTEMPT_OPEN)
        snprintf(text, size, "to stop all who may be stopped would not be enough");
    else
        snprintf(text, size, "%s", attempt_bar_text(bar));
}

bool cycle_preempt_for(struct cycle *c, struct job *j, char *text, size_t size)
{
    struct class *k = j->class;
    struct picker picker = cycle_preempt_picker(c);
    struct allocation where = {0};
    struct reason why = {0};
    int64_t most = cluster_policy(c->cl)->preempt_attempts;
    bool is_over = most > 0 && c->attempts >= most;

    *text = '\0';
    k->level = preempt_level_of(c->cl, j);
    struct preemptor p = cycle_preemptor(c, k, j);
    bool fits = backfill_find_room(c, &picker, &p, &where, &why);
    allocation_fini(&where);
    if (fits)
        return false;
    struct reason lack = why;
    if (cycle_preempt_make_room(c, k, j, &why))
        return true;
    enum attempt_bar bar = attempt_bar(&picker, &p, &lack);
    if (bar == ATTEMPT_OPEN && is_over)
        snprintf(text, size, "the preempt_attempts of this cycle are used up");
    else
        say_refused(text, size, bar == ATTEMPT_OPEN && attempt_waits(&picker, &p) ? ATTEMPT_WAITS : bar,
                    &lack);
    return false;
}

void cycle_preempt_why_not(struct cycle *c, const struct job *j, int64_t now_s, char *text, size_t size)
{
    static const struct reason unsaid;
    struct explanation x;

    *text = '\0';
    cycle_preempt_explain(c, j, now_s, &x);
    if (x.verdict == EXPLAIN_WAITS)
        say_refused(text, size, x.bar, x.reasons.n > 0 ? &x.why[x.reasons.n - 1] : &unsaid);
    explain_fini(&x);
}

/* --- jobs that await room -------------------------------------------------------------------------- */

/* How long such a job is left alone after the server has refused to run it elsewhere: the server saw more
 * than this scheduler, and one or two cycles bring the news. A choice. */
enum { ELSEWHERE_RETRY_S = 10 };

/* A job that awaits room is counted in the limits already, so without this its own count would forbid it to
 * run. */
static bool elsewhere_find_room(struct cycle *c, const struct preemptor *p, struct allocation *where)
{
    struct picker picker = cycle_preempt_picker(c);
    struct reason ignored;

    pick_count(p->job, cluster_server(c->cl), -1);
    bool fits = attempt_room(&picker, p, where, &ignored);
    pick_count(p->job, cluster_server(c->cl), 1);
    return fits;
}

static void elsewhere_try(struct cycle *c, struct job *j, int level)
{
    struct request *request = request_parse(cluster_catalogue(c->cl), j->select, j->place);
    struct preemptor p = {.cl = c->cl, .job = j, .request = request, .level = level, .now_s = c->now_s};
    struct allocation where = {0};

    if (elsewhere_find_room(c, &p, &where)) {
        decisions_log(c->d, LOGE_DEBUG, j->id, "There is room elsewhere: no job has to give way any more");
        cycle_decide_run(c, j, &where);
        j->moved_s = c->now_s;
    }
    allocation_fini(&where);
    request_destroy(request);
}

/* Jobs that await room are in no class and count as running. One of a lower level than `highest` is passed over:
 * the waiting job of that level may want the same room. */
void cycle_preempt_elsewhere(struct cycle *c, int highest)
{
    size_t n;
    struct job *const *awaiting = cluster_awaiting(c->cl, &n);

    for (size_t i = 0; i < n; i++) {
        struct job *j = awaiting[i];
        int level = preempt_level_of(c->cl, j);
        bool was_refused = j->moved_s && c->now_s < j->moved_s + ELSEWHERE_RETRY_S;
        if (j->order == ORDER_NONE && !was_refused && level >= highest && j->queue &&
            cluster_serves(c->cl, j->queue))
            elsewhere_try(c, j, level);
    }
}
