/* Each running job passes two questions, the cheap tests first: may it be stopped for this one (may_stop),
 * and would it help with what the preemptor lacks (would_help). A job that passes both is sorted by level, then by
 * cost, then by start.
 *
 * What is found out about a candidate is written into the job itself: level, cost, and what it yields. It
 * holds for the preemptor that asked last; a job that has been picked is under an order and is not asked
 * again, so what it yields stays until its next change. Where only time is in the way (protection, a failure
 * that will be forgotten), p->later is told when to ask again. */
#include "candidates.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "preempt_cost.h"
#include "preempt_level.h"
#include "match.h"
#include "mem.h"
#include "pools.h"
#include "run_limits.h"
#include "words.h"
#include "freed_by.h"

/* --- preempt_budget: losses are counted by the method that would be applied first, as preempt_cost.c does ---------- */

/* The core-seconds that are left of the budget. Return false if there is no budget. */
static bool candidates_budget_left(const struct preemptor *p, double *out)
{
    const struct queue *q = p->job->queue;
    double budget = preempt_rules_budget(q ? &q->preempt : NULL, &cluster_policy(p->cl)->preempt);

    if (budget < 0)
        return false;
    *out = budget - ledger_sum(&q->ledger, p->now_s);
    return true;
}

/* preempt_budget: what the preemptions for one queue's jobs may destroy in an hour. The server keeps the
 * ledger and has the last word; here the same is computed, so that no plan is made in vain. Return false if
 * this victim alone would cost more than is left; *until_s is when more is left, or 0. */
static bool candidates_budget_allows(const struct preemptor *p, const struct job *victim, int64_t *until_s)
{
    double n;
    int64_t loss;

    *until_s = 0;
    if (!candidates_budget_left(p, &n))
        return true;
    loss = preempt_cost_lost(cluster_policy(p->cl), victim, p->now_s);
    if (preempt_rules_affords(n, 0, (double)loss))
        return true;
    *until_s = ledger_next_s(&p->job->queue->ledger, p->now_s);
    return false;
}

bool candidates_budget_covers(const struct preemptor *p, const struct candidates *victims)
{
    double n, sum = 0;

    if (!candidates_budget_left(p, &n))
        return true;
    for (size_t i = 0; i < victims->n; i++)
        sum += (double)preempt_cost_lost(cluster_policy(p->cl), victims->a[i], p->now_s);
    return preempt_rules_affords(n, 0, sum);
}

/* --- candidates ------------------------------------------------------------------------------------------------ */

/* Only where the site allows targets at all (preempt_targets_enable). */
bool candidates_are_forbidden(const struct preemptor *p)
{
    return cluster_policy(p->cl)->preempt_targets && p->job->targets &&
           strcasecmp(p->job->targets, "NONE") == 0;
}

bool candidates_are_hopeless(const struct reason *why)
{
    static const bool codes[REASON_COUNT] = {
        [REASON_INTERNAL] = true,       [REASON_NOT_QUEUED] = true,    [REASON_QUEUE_NOT_STARTED] = true,
        [REASON_QUEUE_NOT_EXEC] = true, [REASON_DEDICATED] = true,     [REASON_CROSS_DEDICATED] = true,
        [REASON_PRIME_ONLY] = true,     [REASON_NONPRIME_ONLY] = true, [REASON_CROSS_PRIME] = true,
        [REASON_NO_SUCH] = true,        [REASON_NODE_AWAY] = true,     [REASON_PSET_NEVER] = true,
        [REASON_RESERVATION] = true,    [REASON_CONFLICT] = true,      [REASON_SUBJOBS] = true,
        [REASON_ZERO_SHARES] = true,    [REASON_FORMULA] = true};

    return why->never || codes[why->code];
}

/* --- preempt_targets: queue=NAME or Resource_List.RES=VALUE, any of them ------------------------------ */

/* One word that fits is enough. An unknown word names no job. */
static bool is_target(const struct words *targets, const struct job *j)
{
    for (size_t i = 0; i < targets->n; i++) {
        const char *w = targets->w[i], *value = strchr(w, '=');
        if (!value)
            continue;
        if (strncasecmp(w, "queue=", 6) == 0 && strcmp(w + 6, j->queue_name) == 0)
            return true;
        if (strncasecmp(w, "Resource_List.", 14) == 0 && job_asks(j, w + 14))
            return true;
    }
    return false;
}

/* --- what each must be ------------------------------------------------------------------------------- */

/* Has the job any method that the rules allow and that can be applied now? `keeps`: all of these leave its
 * memory where it is, so the most that it would give back is what a suspension frees. */
static bool has_method(const struct preemptor *p, const struct job *j, bool *keeps)
{
    struct preempt_methods l;
    bool any = false;

    job_preempt_methods(j, cluster_policy(p->cl), p->now_s, &l);
    *keeps = true;
    for (unsigned i = 0; i < l.n; i++) {
        if (!job_can(j, (enum method_id)l.m[i]))
            continue;
        any = true;
        *keeps = *keeps && preempt_method_row((enum method_id)l.m[i])->keeps_memory;
    }
    return any;
}

/* A vnode that is only another one of a host which the job has alone (beside) may be down: nothing is used
 * there. */
bool candidates_nodes_are_up(const struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++)
        if (!j->on.a[i].node || (j->on.a[i].node->state && !j->on.a[i].beside))
            return false;
    return j->on.n > 0;
}

/* For a suspended job, which goes back to its own vnodes. */
static bool shares_node(const struct job *a, const struct job *b)
{
    for (size_t i = 0; i < a->on.n; i++)
        for (size_t k = 0; k < b->on.n; k++)
            if (a->on.a[i].node == b->on.a[k].node)
                return true;
    return false;
}

/* Return true if the job has some of a shared resource that the other job wants. It need not have a vnode for that job. */
static bool shares_amount(const struct preemptor *p, const struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++) {
        const struct node *n = j->on.a[i].node;

        for (size_t k = 0; n && k < n->n_pools; k++)
            if (amounts_get(&j->on.a[i].use, n->pools[k]->res) > 0 &&
                amounts_get(&p->request->total, n->pools[k]->res) > 0)
                return true;
    }
    return false;
}

bool candidates_are_useful(const struct preemptor *p, const struct job *j)
{
    struct asker a = {.cl = p->cl, .request = p->request, .queue = p->job->queue, .job = p->job};

    for (size_t i = 0; i < j->on.n; i++)
        for (size_t k = 0; k < p->request->n; k++)
            if (match_pool(&a, j->on.a[i].node) && match_labels(&a, j->on.a[i].node, &p->request->chunks[k]))
                return true;
    return shares_amount(p, j);
}

/* Find what protects the job from the urgent job. The server checks the same before it accepts a plan. */
static enum exclusion protection(const struct preemptor *p, const struct job *j, int64_t *until_s)
{
    static const enum exclusion rows[EXEMPT_COUNT_OF] = {[EXEMPT_NOT] = EXCLUDED_NONE,
                                                         [EXEMPT_NEVER] = EXCLUDED_NEVER,
                                                         [EXEMPT_COUNT] = EXCLUDED_COUNT,
                                                         [EXEMPT_BY] = EXCLUDED_BY,
                                                         [EXEMPT_TIME] = EXCLUDED_EXEMPT};
    struct preempt_facts f = job_preempt_facts(j);
    const struct queue *urgent = p->job->queue;

    return rows[preempt_rules_exempt(&f, j->queue ? &j->queue->preempt : NULL,
                                     &cluster_policy(p->cl)->preempt, urgent ? &urgent->preempt : NULL,
                                     p->now_s, until_s)];
}

/* Does the job's own state forbid it: under an order, a victim, in a reservation, too high, or not where it would help? A look at
 * fields, but for the level. */
static enum exclusion state_forbids(const struct preemptor *p, struct job *j)
{
    if (j->order != ORDER_NONE || j->gives_way)
        return EXCLUDED_TAKEN;
    if (j->resv)
        return EXCLUDED_RESERVED;
    if ((j->level = preempt_level_of(p->cl, j)) >= p->level)
        return EXCLUDED_LEVEL;
    if (p->job->sched_state == SCHED_STATE_SUSPENDED && !shares_node(p->job, j))
        return EXCLUDED_ELSEWHERE;
    return EXCLUDED_NONE;
}

/* Find what forbids to stop the job, the cheap questions first; the first that says no is what explain tells. A queue that is
 * never preempted has no method, so that is told apart. */
static enum exclusion spares(const struct preemptor *p, struct job *j, bool *keeps, int64_t *until_s)
{
    enum exclusion why = state_forbids(p, j);

    if (why != EXCLUDED_NONE)
        return why;
    if (!has_method(p, j, keeps))
        return j->queue && j->queue->preempt.never ? EXCLUDED_NEVER : EXCLUDED_NO_METHOD;
    if (!candidates_nodes_are_up(j))
        return EXCLUDED_NODE_DOWN;
    if (!candidates_are_useful(p, j))
        return EXCLUDED_USELESS;
    if (p->has_failed(p->arg, p->job, j))
        return EXCLUDED_FAILED;
    why = protection(p, j, until_s);
    if (why != EXCLUDED_NONE)
        return why;
    return candidates_budget_allows(p, j, until_s) ? EXCLUDED_NONE : EXCLUDED_BUDGET;
}

/* The same, with its effects: the cycle is told when to ask again where time is all that protects the job,
 * and what the job would give back and cost is noted in it. */
static enum exclusion may_stop(const struct preemptor *p, struct job *j, int64_t *until_s)
{
    bool keeps;
    enum exclusion why = spares(p, j, &keeps, until_s);

    if ((why == EXCLUDED_EXEMPT || why == EXCLUDED_BUDGET) && *until_s)
        p->later(p->arg, *until_s);
    if (why != EXCLUDED_NONE)
        return why;
    freed_by_note(p->cl, j, keeps);
    /* PBS's rule asks for none: all cost the same, and the latest start goes first */
    j->cost = p->by_start || cluster_policy(p->cl)->preempt_sort == PREEMPT_LATEST
                  ? 0
                  : preempt_cost_of(cluster_policy(p->cl), j, p->now_s);
    return EXCLUDED_NONE;
}

static bool uses(const struct allocation *on, res_id res)
{
    for (size_t i = 0; i < on->n; i++)
        if (amounts_get(&on->a[i].use, res) > 0)
            return true;
    return false;
}

/* Does a chunk ask for this vnode or host by name? */
static bool candidates_is_named(const struct preemptor *p, const struct node *n)
{
    for (size_t i = 0; n && i < p->request->n; i++) {
        const struct chunk *k = &p->request->chunks[i];
        if ((k->host && strcasecmp(k->host, n->host_name) == 0) ||
            (k->vnode && strcasecmp(k->vnode, n->name) == 0))
            return true;
    }
    return false;
}

static bool occupies_named(const struct preemptor *p, const struct job *j)
{
    for (size_t i = 0; i < j->on.n; i++)
        if (candidates_is_named(p, j->on.a[i].node))
            return true;
    return false;
}

/* Return true if the job has some of a resource that is lacking on vnodes, and would give it back. */
static enum exclusion helps_with(const struct preemptor *p, const struct job *j, res_id res)
{
    if (res == RES_HOSTNAME || res == RES_VNODENAME)
        return occupies_named(p, j) ? EXCLUDED_NONE : EXCLUDED_NO_HELP;
    if (!res_is_numeric(catalogue_get(cluster_catalogue(p->cl), res)) || uses(job_freed(j), res))
        return EXCLUDED_NONE;
    return uses(&j->on, res) ? EXCLUDED_KEEPS : EXCLUDED_NO_HELP;
}

/* PBS's filter of relevance: would the end of this job help with the obstacle? Against a run limit only
 * jobs of the same entity do; against an amount that is lacking only those that have some. */
static enum exclusion would_help(const struct preemptor *p, const struct job *j, const struct reason *why)
{
    bool helps = true;

    if (why->entity)
        helps = run_limits_share(why, p->job, j);
    else if (why->code == REASON_LACK)
        return helps_with(p, j, why->res);
    else if (why->code == REASON_LACK_QUEUE)
        helps = j->queue == p->job->queue && amounts_get(&j->want, why->res) > 0;
    else if (why->code == REASON_LACK_SERVER)
        helps = amounts_get(&j->want, why->res) > 0;
    return helps ? EXCLUDED_NONE : EXCLUDED_NO_HELP;
}

/* A job that is about to start has no start time yet: it counts as the latest. */
static int64_t started(const struct job *j)
{
    return j->start_s ? j->start_s : INT64_MAX;
}

/* The name decides last: equal jobs must not change places from cycle to cycle, or explain would tell another story than
 * the cycle. */
static int candidates_by_level(const void *a, const void *b)
{
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    int level = x->level - y->level;

    if (level)
        return level;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (started(x) != started(y))
        return started(x) > started(y) ? -1 : 1;
    return x->rank > y->rank ? -1 : x->rank < y->rank ? 1 : strverscmp(y->id, x->id);
}

/* One running job: onto the list, or told to p->excluded with its reason. */
static void candidates_look_at(struct candidates *l, const struct preemptor *p, struct job *j,
                               const struct reason *why)
{
    int64_t until_s = 0;
    enum exclusion excluded = may_stop(p, j, &until_s);

    if (excluded == EXCLUDED_NONE)
        excluded = would_help(p, j, why);
    if (excluded != EXCLUDED_NONE) {
        if (p->excluded)
            p->excluded(p->arg, j, excluded, until_s);
        return;
    }
    l->a = mem_room(l->a, l->n, &l->cap, sizeof *l->a);
    l->a[l->n++] = j;
}

void candidates_collect(struct candidates *l, const struct preemptor *p, const struct reason *why)
{
    struct words targets;
    struct job *const *running = cluster_running(p->cl, &l->all);
    bool limited = cluster_policy(p->cl)->preempt_targets && p->job->targets;

    words_init(&targets);
    if (limited)
        words_parse_commas(p->job->targets, &targets, NULL);
    for (size_t i = 0; i < l->all; i++) {
        if (!limited || is_target(&targets, running[i])) {
            l->targets++;
            candidates_look_at(l, p, running[i], why);
        } else if (p->excluded) {
            p->excluded(p->arg, running[i], EXCLUDED_TARGETS, 0);
        }
    }
    words_fini(&targets);
    if (l->n)
        qsort(l->a, l->n, sizeof *l->a, candidates_by_level);
}

void candidates_fini(struct candidates *l)
{
    free(l->a);
    *l = (struct candidates){0};
}
