/* The walk of a cycle for one job. See explain.h.
 *
 * The parts below write what they find into jobs (level, cost, what they yield); that is scratch memory of the last question,
 * and no cycle reads it before it has asked itself. Log lines go to a list that is thrown away. */
#include "explain.h"

#include <stdlib.h>

#include "preempt_cost.h"
#include "preempt_level.h"
#include "mem.h"
#include "placement.h"
#include "psets.h"
#include "run_limits.h"
#include "insufficiency.h"
#include "trial.h"

struct explain_walk {
    const struct explain_ask *ask;
    struct explanation *out;
    struct preemptor p;
    struct picker k;
    struct decisions unsaid;
};

const char *explain_word(enum explain_verdict v)
{
    static const char *const words[EXPLAIN_VERDICT_COUNT] = {
        [EXPLAIN_RUNS] = "runs",           [EXPLAIN_UNDER_WAY] = "under_way",
        [EXPLAIN_WOULD_RUN] = "would_run", [EXPLAIN_WOULD_PREEMPT] = "would_preempt",
        [EXPLAIN_WAITS] = "waits",
    };

    return words[v];
}

/* --- obstacles ------------------------------------------------------------------------------------------ */

static void add_reason(struct explanation *x, enum reason_code code)
{
    if (reasons_full(&x->reasons))
        return;
    reason_set(&x->why[x->reasons.n], code, NULL, NULL);
    reasons_keep(&x->reasons);
}

/* Would it find room, were it not for limits? */
static bool has_room(struct explain_walk *w, const struct asker *a)
{
    size_t mark = trial_mark(w->k.trial);
    struct allocation where = {0};
    bool found = psets_find(w->k.placer, w->k.buckets, a, &where);

    trial_undo(w->k.trial, mark);
    allocation_fini(&where);
    return found;
}

/* All obstacles: limits, then the one that the search named (`first`), then what can be seen to be lacking.
 * A suspended job, and one of a reservation, is not asked about vnodes, since it has its own. */
static void note_shortage(struct explain_walk *w, const struct reason *first)
{
    struct explanation *x = w->out;
    struct asker a = {.cl = w->k.cl, .request = w->p.request, .queue = w->p.job->queue, .job = w->p.job};

    run_limits_all(w->k.cl, w->p.job, &x->reasons);
    if (!reasons_full(&x->reasons)) {
        x->why[x->reasons.n] = *first;
        reasons_keep(&x->reasons);
    }
    if (w->p.job->sched_state != SCHED_STATE_SUSPENDED && !w->p.job->within && !has_room(w, &a))
        insufficiency_all(w->k.buckets, &a, &x->reasons);
}

/* Report why no cycle looks at the job. What a cycle would do is reported in any case: users ask about a held job before
 * they release it. */
static void note_aside(struct explain_walk *w)
{
    const struct job *j = w->p.job;

    if (j->sched_state != SCHED_STATE_WAITING && j->sched_state != SCHED_STATE_SUSPENDED)
        add_reason(w->out, REASON_NOT_QUEUED);
    if (!cluster_policy(w->k.cl)->scheduling)
        add_reason(w->out, REASON_SCHEDULING_OFF);
    if (j->order == ORDER_REFUSED)
        add_reason(w->out, REASON_REFUSED);
    w->out->n_aside = w->out->reasons.n;
}

/* --- who is spared, and why ------------------------------------------------------------------------------ */

/* Called by candidates_collect for each job that it leaves out, and below for those that it does not. */
static void explain_exclude(void *arg, struct job *j, enum exclusion why, int64_t until_s)
{
    struct explain_walk *w = arg;
    struct explanation *x = w->out;

    x->excluded = mem_room(x->excluded, x->n_excluded, &x->cap_excluded, sizeof *x->excluded);
    x->excluded[x->n_excluded++] = (struct explain_excluded){
        j, why, until_s,
        why == EXCLUDED_NEEDLESS ? preempt_cost_lost(cluster_policy(w->k.cl), j, w->p.now_s) : 0};
    x->counts[why]++;
}

static bool is_victim(const struct explanation *x, const struct job *j)
{
    for (size_t i = 0; i < x->n_victims; i++)
        if (x->victims[i].job == j)
            return true;
    return false;
}

/* Why each running job that is not a victim stays: reasons of the collection, and of the jobs that it
 * lists, that they would rise (soft limits), are not needed, or would not be enough. */
static void note_spared(struct explain_walk *w, const struct reason *why)
{
    struct preemptor p = w->p;
    struct candidates rest = {0};

    p.excluded = explain_exclude;
    candidates_collect(&rest, &p, why);
    for (size_t i = 0; i < rest.n; i++) {
        if (is_victim(w->out, rest.a[i]))
            continue;
        bool rises = preempt_level_moves(w->k.cl) && preempt_level_if_stopped(w->k.cl, rest.a[i]) >= p.level;
        explain_exclude(w, rest.a[i],
                        rises                   ? EXCLUDED_ESCALATES
                        : w->out->n_victims > 0 ? EXCLUDED_NEEDLESS
                                                : EXCLUDED_NOT_ENOUGH,
                        0);
    }
    candidates_fini(&rest);
}

/* --- victims -------------------------------------------------------------------------------------------- */

/* In the order in which the server would tell them. Methods are settled first: which one is applied decides
 * when a victim is back. */
static void note_victims(struct explain_walk *w, const struct candidates *l)
{
    struct explanation *x = w->out;

    x->victims = mem_new(l->n, sizeof *x->victims);
    x->n_victims = l->n;
    for (size_t i = 0; i < l->n; i++) {
        victim_method_fill(&x->victims[i], cluster_policy(w->k.cl), l->a[i], w->p.now_s);
        x->price_s += preempt_cost_lost(cluster_policy(w->k.cl), l->a[i], w->p.now_s);
    }
    victim_methods_settle(&w->k, x->victims, x->n_victims, &x->where, w->p.now_s);
    victim_methods_estimate_return(&w->k, &w->p, x->victims, x->n_victims, &x->where);
}

/* The room of others, in the order of a cycle. note_spared is of interest only where the job may stop jobs
 * of some level. */
static void try_others(struct explain_walk *w, const struct reason *why)
{
    struct explanation *x = w->out;
    struct candidates victims = {0};

    /* Only its reservation's room is for it; or a job before it stops all behind it, and no cycle considers it then. */
    if (w->p.job->within || why->code == REASON_STRICT_ORDER) {
        x->bar = ATTEMPT_HOPELESS;
        return;
    }
    x->bar = attempt_bar(&w->k, &w->p, why);
    if (x->bar == ATTEMPT_OPEN && attempt_waits(&w->k, &w->p))
        x->bar = ATTEMPT_WAITS;
    if (x->bar == ATTEMPT_OPEN && attempt_victims(&w->k, &w->p, why, &victims, &x->where)) {
        x->verdict = EXPLAIN_WOULD_PREEMPT;
        note_victims(w, &victims);
    }
    x->found_none = x->bar == ATTEMPT_OPEN && x->n_victims == 0;
    if (x->bar == ATTEMPT_OPEN || x->bar == ATTEMPT_LEVEL)
        note_spared(w, why);
    free(victims.a);
}

/* --- the way in ------------------------------------------------------------------------------------------ */

static bool finds_room(struct explain_walk *w, struct reason *why)
{
    return w->ask->room ? w->ask->room(w->ask->arg, &w->k, &w->p, &w->out->where, why)
                        : attempt_room(&w->k, &w->p, &w->out->where, why);
}

/* An urgent job that finds free room stops no other, so nothing is said of victims then. */
static void walk(struct explain_walk *w)
{
    struct reason why;

    w->out->verdict = EXPLAIN_WAITS;
    note_aside(w);
    if (w->p.job->sched_state == SCHED_STATE_STOPPED)
        return; /* only the user who suspended it resumes it */
    if (finds_room(w, &why)) {
        w->out->verdict = EXPLAIN_WOULD_RUN;
        return;
    }
    note_shortage(w, &why);
    try_others(w, &why);
}

static bool explain_has_failed(void *arg, const struct job *preemptor, const struct job *victim)
{
    const struct explain_walk *w = arg;

    return w->ask->has_failed(w->ask->arg, preemptor, victim);
}

/* A cycle would come again at that time; an explanation does not. */
static void explain_later(void *arg, int64_t at_s)
{
    (void)arg, (void)at_s;
}

/* Jobs that hold vnodes, and those under way, are not asked about room. The log of the picker is a list
 * that is thrown away. */
void explain(const struct explain_ask *ask, struct explanation *out)
{
    const struct job *j = ask->job;
    struct cluster *cl = ask->picker.cl;
    struct explain_walk w = {.ask = ask, .out = out, .k = ask->picker};
    struct request *request;

    *out = (struct explanation){.job = j, .level = preempt_level_of(cl, j)};
    out->reasons = (struct reasons){.a = out->why, .max = EXPLAIN_REASONS_MAX};
    if (job_holds_nodes(j)) {
        out->verdict = j->order == ORDER_NONE && !j->gives_way ? EXPLAIN_RUNS : EXPLAIN_UNDER_WAY;
        victim_method_fill(&out->self, cluster_policy(cl), j, ask->now_s);
        return;
    }
    if (j->sched_state == SCHED_STATE_AWAITING_ROOM ||
        (j->order != ORDER_NONE && j->order != ORDER_REFUSED)) {
        out->verdict = EXPLAIN_UNDER_WAY;
        return;
    }
    request = request_parse(cluster_catalogue(cl), j->select, j->place);
    w.k.log = &w.unsaid;
    w.p = (struct preemptor){.cl = cl,
                             .job = j,
                             .request = request,
                             .level = out->level,
                             .now_s = ask->now_s,
                             .has_failed = explain_has_failed,
                             .later = explain_later,
                             .arg = &w};
    walk(&w);
    decisions_fini(&w.unsaid);
    request_destroy(request);
    placement_forget(ask->picker.placer);
}

void explain_fini(struct explanation *x)
{
    victim_methods_fini(x->victims, x->n_victims);
    free(x->victims);
    free(x->excluded);
    allocation_fini(&x->where);
}
