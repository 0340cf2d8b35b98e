/* The same question is put to two places, the job's queue and the server: would what runs, with this job,
 * be more than the row allows? Nothing is kept here: the rows are limit_list's, the counts are
 * limit_usage's, and both belong to the struct queue.
 *
 * The first limit that says no writes the reason with its entity and resource. That is not only for people:
 * candidates takes from it which running jobs count for the same entity, so that only those are stopped.
 *
 * One walk serves both questions of the header: it fills an array of reasons until that is full, and of an
 * array of one the rest is not asked. */
#include "run_limits.h"

#include <stdio.h>

#include "cluster_index.h"

/* Counted resources that are bounded here: what the job wants must be there. */
static void covers(const struct cluster *cl, const struct queue *q, const struct job *j,
                   enum reason_code code, struct reasons *why)
{
    for (uint32_t i = 0; i < q->available.n && !reasons_full(why); i++) {
        res_id res = q->available.a[i].res;
        int64_t total = q->available.a[i].n, want = amounts_get(&j->want, res);
        int64_t have = total - amounts_get(&q->used, res);
        if (want <= 0 || want <= have)
            continue;
        reason_lack(&why->a[why->n], code, cluster_catalogue(cl), res, want, have, total);
        why->a[why->n].never = want > total;
        reasons_keep(why);
    }
}

/* What scripts report as available, less what jobs have taken that were ordered to run since. */
static void dynamic_covers(const struct cluster *cl, const struct job *j, struct reasons *why)
{
    const struct catalogue *c = cluster_catalogue(cl);
    const struct policy *p = cluster_policy(cl);

    for (size_t i = 0; i < p->n_dynamic && !reasons_full(why); i++) {
        const struct policy_dynamic *x = &p->dynamic[i];
        res_id res = catalogue_find(c, x->resource);
        const struct resource *r = catalogue_get(c, res);
        int64_t want = job_asked_amount(j, c, x->resource);
        int64_t total = r && x->available ? res_parse(r, x->available) : 0;
        if (want <= 0 || want <= total - x->taken || !policy_lists(p->resources, x->resource, true))
            continue;
        reason_lack(&why->a[why->n], REASON_LACK_SERVER, c, res, want, total - x->taken, total);
        why->a[why->n].never = want > total; /* as far as this cycle knows: the next has other amounts */
        reasons_keep(why);
    }
}

/* --- entities ---------------------------------------------------------------------------------------- */

static const enum limit_of order[] = {LIMIT_OF_GROUP, LIMIT_OF_PROJECT, LIMIT_OF_ALL, LIMIT_OF_USER};
enum { N_ORDER = sizeof order / sizeof order[0] };

/* The job's entity of this kind, interned; NULL for LIMIT_OF_ALL. */
static const char *run_limits_name_of(const struct job *j, enum limit_of of)
{
    switch (of) {
    case LIMIT_OF_USER:
        return j->user;
    case LIMIT_OF_GROUP:
        return j->group;
    case LIMIT_OF_PROJECT:
        return j->project;
    case LIMIT_OF_ALL:
        break;
    }
    return NULL;
}

static const char *word_of(enum limit_of of)
{
    return of == LIMIT_OF_USER ? "user" : of == LIMIT_OF_GROUP ? "group" : "project";
}

/* What of the entity runs: a number of jobs, or an amount. */
static int64_t running(const struct queue *q, enum limit_of of, const char *name, res_id res)
{
    if (of == LIMIT_OF_ALL)
        return res == RES_NONE ? q->n_running : amounts_get(&q->used, res);
    return res == RES_NONE ? limit_usage_jobs(q->running, of, name)
                           : limit_usage_amount(q->running, of, name, res);
}

/* --- hard limits -------------------------------------------------------------------------------------- */

struct place { /* the queue, or the server */
    const struct queue *q;
    bool is_queue;
};

/* PBS has a sentence for each kind and place, and one for an entity that has a row of its own. */
static void say_jobs(struct reason *why, const struct place *at, const struct limit *l)
{
    static const struct {
        enum limit_of of;
        enum reason_code in_queue, in_server;
    } rows[] = {{LIMIT_OF_ALL, REASON_QUEUE_JOBS, REASON_SERVER_JOBS},
                {LIMIT_OF_USER, REASON_QUEUE_USER, REASON_SERVER_USER},
                {LIMIT_OF_GROUP, REASON_QUEUE_GROUP, REASON_SERVER_GROUP},
                {LIMIT_OF_PROJECT, REASON_QUEUE_PROJECT, REASON_SERVER_PROJECT}};
    char where[64], who[REASON_DETAIL_MAX];

    if (l->name) {
        snprintf(where, sizeof where, "%s%s", at->is_queue ? "Queue " : "Server", at->q->name);
        snprintf(who, sizeof who, "%s %.100s", word_of(l->of), l->name);
        reason_set(why, REASON_ENTITY_JOBS, where, who);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].of == l->of)
            reason_set(why, at->is_queue ? rows[i].in_queue : rows[i].in_server,
                       at->is_queue ? at->q->name : NULL, NULL);
}

/* The same of amounts, whose words name the resource. */
static void say_amount(struct reason *why, const struct place *at, const struct limit *l, const char *res)
{
    char where[64], detail[REASON_DETAIL_MAX], what[REASON_WHAT_MAX];

    snprintf(where, sizeof where, "%s%s", at->is_queue ? "queue " : "complex", at->q->name);
    snprintf(detail, sizeof detail, "%.60s in %s", res, where);
    if (l->of == LIMIT_OF_ALL) {
        reason_set(why, REASON_OVERALL_RES, res, where);
    } else if (l->name) {
        snprintf(what, sizeof what, "%s %.100s's", word_of(l->of), l->name);
        reason_set(why, REASON_ENTITY_RES, what, detail);
    } else {
        snprintf(what, sizeof what, "%s%s per-%s", at->is_queue ? "Queue " : "Server", at->q->name,
                 word_of(l->of));
        reason_set(why, REASON_EACH_RES, what, res);
    }
}

/* entity, res and in_queue are for candidates.c; never: the limit is below what this job alone asks for. */
static void run_limits_say(const struct cluster *cl, struct reason *why, const struct place *at,
                           const struct limit *l, int64_t want)
{
    if (l->res == RES_NONE)
        say_jobs(why, at, l);
    else
        say_amount(why, at, l, catalogue_get(cluster_catalogue(cl), l->res)->name);
    why->res = l->res;
    why->entity = (char)l->of;
    why->in_queue = at->is_queue;
    why->never = want > l->most;
}

/* Is there room for `want` more of this entity's? */
static void run_limits_check(const struct cluster *cl, const struct place *at, const struct job *j,
                             enum limit_of of, const struct amount *want, struct reasons *why)
{
    const char *name = run_limits_name_of(j, of);
    const struct limit *l = limit_list_find(&at->q->limits, of, name, want->res, false);

    if (reasons_full(why) || !l || want->n <= 0 || running(at->q, of, name, want->res) + want->n <= l->most)
        return;
    run_limits_say(cl, &why->a[why->n], at, l, want->n);
    reasons_keep(why);
}

/* Kinds in PBS's order, which decides the reason that is said where several limits forbid a job. */
static void check_jobs(const struct cluster *cl, const struct place *at, const struct job *j,
                       struct reasons *why)
{
    static const struct amount one = {RES_NONE, 1};

    for (size_t i = 0; at->q->limits.n && i < N_ORDER; i++)
        run_limits_check(cl, at, j, order[i], &one, why);
}

static void run_limits_check_amounts(const struct cluster *cl, const struct place *at, const struct job *j,
                                     struct reasons *why)
{
    for (size_t i = 0; at->q->limits.n && i < N_ORDER; i++)
        for (uint32_t k = 0; k < j->want.n; k++)
            run_limits_check(cl, at, j, order[i], &j->want.a[k], why);
}

/* Check the limits that do not count for a job that is run by request. */
static void run_limits_check_limits(const struct cluster *cl, const struct job *j, struct reasons *why)
{
    const struct place here = {j->queue, true}, all = {cluster_server(cl), false};

    if ((j->is_array || j->is_provisional) && !reasons_full(why) && cluster_index_is_kept_back(cl, j)) {
        reason_set(&why->a[why->n], REASON_SUBJOBS, NULL, NULL);
        reasons_keep(why);
    }
    check_jobs(cl, &here, j, why);
    check_jobs(cl, &all, j, why);
    run_limits_check_amounts(cl, &here, j, why);
    run_limits_check_amounts(cl, &all, j, why);
}

void run_limits_all(const struct cluster *cl, const struct job *j, struct reasons *why)
{
    const struct queue *q = j->queue;

    if (!q->executes && !reasons_full(why)) {
        reason_set(&why->a[why->n], REASON_QUEUE_NOT_EXEC, NULL, NULL);
        reasons_keep(why);
    }
    if (!j->urged && !q->started && !reasons_full(why)) {
        reason_set(&why->a[why->n], REASON_QUEUE_NOT_STARTED, NULL, NULL);
        reasons_keep(why);
    }
    if (q->started && j->resv && !j->within && !reasons_full(why)) { /* a person has started the queue */
        reason_set(&why->a[why->n], REASON_RESV_STATE, NULL, NULL);
        why->a[why->n].never = true;
        reasons_keep(why);
    }
    if (!j->urged)
        run_limits_check_limits(cl, j, why);
    covers(cl, q, j, REASON_LACK_QUEUE, why);
    if (!j->within) /* its reservation has been given them */
        covers(cl, cluster_server(cl), j, REASON_LACK_SERVER, why);
    dynamic_covers(cl, j, why);
}

bool run_limits_allow(const struct cluster *cl, const struct job *j, struct reason *why)
{
    struct reasons first = {.a = why, .max = 1};

    run_limits_all(cl, j, &first);
    return first.n == 0;
}

/* --- preemption --------------------------------------------------------------------------------------- */

bool run_limits_share(const struct reason *why, const struct job *j, const struct job *other)
{
    enum limit_of of = (enum limit_of)why->entity;

    if (why->code == REASON_SUBJOBS)
        return other->array_id && other->array_id == (j->is_array ? j->id : j->array_id); /* interned */
    if (why->in_queue && other->queue != j->queue)
        return false;
    if (of != LIMIT_OF_ALL && run_limits_name_of(other, of) != run_limits_name_of(j, of)) /* interned */
        return false;
    return why->res == RES_NONE || amounts_get(&other->want, why->res) > 0;
}

/* counted: the job is in the counts already, so it is not added once more. A row for each (name NULL) does
 * not count for an entity that has its own row. */
static bool run_limits_is_over(const struct queue *q, const struct job *j, bool counted)
{
    for (size_t i = 0; i < q->limits.n; i++) {
        const struct limit *l = &q->limits.a[i];
        const char *name = run_limits_name_of(j, l->of);
        int64_t want = l->res == RES_NONE ? 1 : amounts_get(&j->want, l->res);

        if (!l->soft || want <= 0 || limit_list_find(&q->limits, l->of, name, l->res, true) != l)
            continue;
        if (running(q, l->of, name, l->res) + (counted ? 0 : want) > l->most)
            return true;
    }
    return false;
}

unsigned run_limits_soft(const struct cluster *cl, const struct job *j)
{
    bool counted = job_counts(j) || j->order == ORDER_RUN || j->order == ORDER_RESUME;

    return run_limits_soft_if(cl, j, counted);
}

unsigned run_limits_soft_if(const struct cluster *cl, const struct job *j, bool counted)
{
    unsigned mask = 0;

    if (j->queue && run_limits_is_over(j->queue, j, counted))
        mask |= PRIO_QUEUE_SOFTLIMIT;
    if (run_limits_is_over(cluster_server(cl), j, counted))
        mask |= PRIO_SERVER_SOFTLIMIT;
    return mask;
}
