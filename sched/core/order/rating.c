/* See rating.h. A formula that cannot be read rates all jobs 0; the server has refused it, so that it can
 * only come from an older one. It is parsed when its text is another, which policy->formula_number tells.
 *
 * Eligible time is the server's word as of the job's last change, and grows from then on while accrue_type
 * says so.
 *
 * Invariant: a job's rating does not move while it is in a class, since the heap of its class is ordered by
 * it: a refresh takes the job out and puts it back. */
#include "rating.h"

#include <stdlib.h>
#include <string.h>

#include "decisions.h"
#include "fairshare.h"
#include "formula.h"
#include "log.h"
#include "mem.h"
#include "cluster_index.h"

enum { ACCRUES_ELIGIBLE = 2 }; /* accrue_type, as PBS numbers it */

struct rating {
    struct cluster *cl;
    struct formula *formula;
    const char *const *names;
    size_t n_names;
    unsigned number; /* of the text that it was made of */
    bool moves;      /* it asks for what changes by itself */
    int64_t now_s;
};

struct rating_asked {
    const struct rating *r;
    const struct job *j;
};

static double rating_eligible(const struct rating_asked *x)
{
    const struct job *j = x->j;
    int64_t since = j->accrue_type == ACCRUES_ELIGIBLE && j->seen_s ? x->r->now_s - j->seen_s : 0;

    return (double)(j->eligible_s + (since > 0 ? since : 0));
}
static double rating_queue_priority(const struct rating_asked *x)
{
    return x->j->queue ? (double)x->j->queue->preempt.priority : 0;
}
static double rating_job_priority(const struct rating_asked *x)
{
    return (double)x->j->priority;
}
static double rating_share_perc(const struct rating_asked *x)
{
    return x->j->share ? fairshare_fraction(x->j->share) : 0;
}
static double rating_tree_usage(const struct rating_asked *x)
{
    return x->j->share ? fairshare_tree_usage(x->j->share) : 0;
}
static double rating_factor(const struct rating_asked *x)
{
    return x->j->share ? fairshare_factor(x->j->share) : 0;
}
static double rating_accrue_type(const struct rating_asked *x)
{
    return (double)x->j->accrue_type;
}

/* Words of a formula that name no resource. `moves`: the value changes though no change of the job comes. */
static const struct {
    const char *name;
    double (*value)(const struct rating_asked *x);
    bool moves;
} keywords[] = {
    {"eligible_time", rating_eligible, true},     {"queue_priority", rating_queue_priority, false},
    {"job_priority", rating_job_priority, false}, {"fairshare_perc", rating_share_perc, true},
    {"fair_share_perc", rating_share_perc, true}, {"fairshare_tree_usage", rating_tree_usage, true},
    {"fairshare_factor", rating_factor, true},    {"accrue_type", rating_accrue_type, false}};
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords };

/* The row of this word; N_KEYWORDS: it is a resource. */
static int keyword(const char *name)
{
    int i = 0;

    while (i < N_KEYWORDS && strcmp(keywords[i].name, name) != 0)
        i++;
    return i;
}

/* A formula_value_fn. */
static double rating_value(void *arg, size_t index)
{
    const struct rating_asked *x = arg;
    const char *name = x->r->names[index];
    int i = keyword(name);

    return i < N_KEYWORDS ? keywords[i].value(x) : job_asked(x->j, cluster_catalogue(x->r->cl), name);
}

/* Take another formula over, if there is one. */
static void rating_follow(struct rating *r)
{
    const struct policy *p = cluster_policy(r->cl);
    const char *text = policy_formula(p);

    if (r->number == p->formula_number)
        return;
    r->number = p->formula_number;
    formula_destroy(r->formula);
    r->formula = text ? formula_parse(text, NULL) : NULL;
    r->n_names = r->formula ? formula_names(r->formula, &r->names) : 0;
    r->moves = false;
    for (size_t i = 0; i < r->n_names; i++) {
        int k = keyword(r->names[i]);
        r->moves = r->moves || (k < N_KEYWORDS && keywords[k].moves);
    }
}

static int rate(const struct rating *r, const struct job *j, double *out, struct err *e)
{
    struct rating_asked x = {r, j};

    *out = 0;
    return r->formula ? formula_eval(r->formula, rating_value, &x, out, e) : 0;
}

/* seen_s is where eligible time grows from. */
static void rating_job_seen(void *arg, struct job *j)
{
    struct rating *r = arg;

    rating_follow(r);
    if (j->class) /* in a heap by what it was rated */
        return;
    j->seen_s = r->now_s;
    rate(r, j, &j->rating, NULL);
}

struct rating *rating_create(struct cluster *cl)
{
    struct rating *r = mem_new(1, sizeof *r);

    r->cl = cl;
    cluster_listen(cl, &(struct cluster_listener){.job_seen = rating_job_seen, .arg = r});
    return r;
}

void rating_destroy(struct rating *r)
{
    if (!r)
        return;
    formula_destroy(r->formula);
    free(r);
}

void rating_time(struct rating *r, int64_t now_s)
{
    r->now_s = now_s;
}

/* Only where the formula has a word that moves; each job that is rated otherwise is put into its class
 * again. */
void rating_refresh(struct rating *r)
{
    double now;

    rating_follow(r);
    if (!r->moves)
        return;
    for (struct job *j = cluster_next_job(r->cl, NULL); j; j = cluster_next_job(r->cl, j)) {
        if (!j->class)
            continue;
        rate(r, j, &now, NULL);
        if (now == j->rating)
            continue;
        j->rating = now;
        cluster_index_rejoin(r->cl, j);
    }
}

/* The value that counts is job->rating, not the one just computed: that is only asked for its error. */
void rating_log(struct rating *r, const struct job *j, struct decisions *d)
{
    struct err e;
    double now;

    if (!r->formula)
        return;
    if (rate(r, j, &now, &e) < 0)
        decisions_log(d, LOGE_SCHED, j->id,
                      "Formula evaluation for job had an error.  Zero value will be used: %s", e.text);
    decisions_log(d, LOGE_DEBUG2, j->id, "Formula Evaluation = %.15g", j->rating);
    if (!rating_suffices(cluster_policy(r->cl), j))
        decisions_log(d, LOGE_SCHED, j->id, "Job's formula value %.15g is under threshold %.15g", j->rating,
                      cluster_policy(r->cl)->formula_threshold);
}

bool rating_suffices(const struct policy *p, const struct job *j)
{
    return !policy_formula(p) || !p->has_threshold || j->urged || j->rating > p->formula_threshold;
}
