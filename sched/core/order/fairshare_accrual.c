/* See fairshare_accrual.h. A job is counted from when it is first seen on its vnodes; one that is first
 * seen at its end (history, read at the start) is not, for the scheduler before this one counted it. What a
 * run has used begins at 0, so a new run_version begins a new count.
 *
 * The stream may bring a job's end without what it had used by then (only the newest of an object is sent).
 * Then it has used walltime until now, and of the rest what was told last.
 *
 * Invariant: what was added to the usage of a job's entity for its present run is the amount of its record;
 * so any number of looks at one state counts it once. */
#include "fairshare_accrual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formula.h"
#include "mem.h"

struct accrual {
    struct cluster *cl;
    struct fairshare *shares;
    struct accrual_record *counted;
    struct formula *usage; /* of fairshare_usage_res; NULL: nothing is counted */
    const char *const *names;
    bool news;
    int64_t now_s;
};

struct accrual_asked { /* the arg of values */
    const struct accrual *a;
    const struct job *j;
};

/* A formula_value_fn: how much of the resource it has used; 0 of one that is unknown or of another type. */
static double accrual_used(void *arg, size_t index)
{
    const struct accrual_asked *x = arg;
    const struct catalogue *c = cluster_catalogue(x->a->cl);
    res_id res = catalogue_find(c, x->a->names[index]);

    return res == RES_NONE ? 0 : res_number(catalogue_get(c, res), amounts_get(&x->j->used, res));
}

/* A formula_value_fn: how much it asks for. */
static double accrual_wanted(void *arg, size_t index)
{
    const struct accrual_asked *x = arg;

    return job_asked(x->j, cluster_catalogue(x->a->cl), x->a->names[index]);
}

/* Errors of the formula (a division by what was not used yet) are an amount of 0. */
static double amount(const struct accrual *a, const struct job *j, formula_value_fn *value)
{
    struct accrual_asked x = {a, j};
    double out = 0;

    if (!a->usage || formula_eval(a->usage, value, &x, &out, NULL) < 0)
        return 0;
    return out > 0 ? out : 0;
}

/* The name of the entity that pays, as fairshare_entity says. `text` is room for a name that is put
 * together. */
static const char *entity_of(const struct job *j, enum share_entity entity, char *text, size_t size)
{
    const char *account = j->account ? j->account : "[none]";

    switch (entity) {
    case SHARE_OF_USER:
        return j->user ? j->user : "";
    case SHARE_OF_GROUP:
        return j->group ? j->group : "";
    case SHARE_OF_ACCOUNT:
        return account;
    case SHARE_OF_QUEUE:
        return j->queue_name ? j->queue_name : "";
    case SHARE_OF_GROUP_USER:
        snprintf(text, size, "%s:%s", j->group ? j->group : "", j->user ? j->user : "");
        return text;
    case SHARE_OF_COUNT:
        break;
    }
    return "";
}

/* The server has taken the order to run it, and no state of that run has been seen: a short job may be over by then. */
static bool is_unseen_run(const struct job *j)
{
    return j->order == ORDER_RUN && j->answered;
}

/* Count the difference to what its record has. Amounts that go down (a job was restarted and its
 * run_version has not come yet) count nothing. */
static void accrual_count(struct accrual *a, struct job *j)
{
    struct accrual_entry *x = accrual_record_find(a->counted, j->id);
    double now;

    if (!x && !job_holds_nodes(j) && !is_unseen_run(j))
        return;
    if (!x)
        x = accrual_record_add(a->counted, j->id);
    if (x->run != j->run_version) {
        x->run = j->run_version;
        x->amount = 0;
    }
    now = amount(a, j, accrual_used);
    if (now <= x->amount)
        return;
    fairshare_use(j->share, now - x->amount);
    x->amount = now;
    a->news = true;
}

/* The share is set whether or not anything is counted: a formula, or an order by shares, may ask for it. */
static void accrual_job_seen(void *arg, struct job *j)
{
    struct accrual *a = arg;
    const struct policy *p = cluster_policy(a->cl);
    char text[512];

    j->share = fairshare_entity(a->shares, entity_of(j, p->share_entity, text, sizeof text));
    if (policy_counts_use(p) && !j->is_array)
        accrual_count(a, j);
}

/* It has run from its start to now, if what was told last is less. */
static void used_to_its_end(const struct accrual *a, struct job *j)
{
    res_id wall = catalogue_find(cluster_catalogue(a->cl), "walltime");

    if (a->now_s - job_begun_s(j) > amounts_get(&j->used, wall))
        amounts_set(&j->used, wall, a->now_s - job_begun_s(j));
}

static void accrual_job_gone(void *arg, struct job *j)
{
    struct accrual *a = arg;
    bool seen = j->sched_state == SCHED_STATE_RUNNING && j->start_s > 0;

    if (!j->share || !policy_counts_use(cluster_policy(a->cl)) || j->is_array || (!seen && !is_unseen_run(j)))
        return;
    if (seen)
        used_to_its_end(a, j);
    accrual_count(a, j);
}

void accrual_time(struct accrual *a, int64_t now_s)
{
    a->now_s = now_s;
}

struct accrual *accrual_create(struct cluster *cl)
{
    struct accrual *a = mem_new(1, sizeof *a);

    a->cl = cl;
    a->shares = fairshare_create();
    a->counted = accrual_record_create();
    cluster_listen(
        cl, &(struct cluster_listener){.job_seen = accrual_job_seen, .job_gone = accrual_job_gone, .arg = a});
    accrual_configure(a, NULL);
    return a;
}

void accrual_destroy(struct accrual *a)
{
    if (!a)
        return;
    formula_destroy(a->usage);
    accrual_record_destroy(a->counted);
    fairshare_destroy(a->shares);
    free(a);
}

struct fairshare *accrual_shares(struct accrual *a)
{
    return a->shares;
}

struct accrual_record *accrual_get_record(struct accrual *a)
{
    return a->counted;
}

/* cput is what fairshare_usage_res is by default. */
int accrual_configure(struct accrual *a, struct err *e)
{
    const char *text = cluster_policy(a->cl)->share_usage;

    formula_destroy(a->usage);
    a->usage = formula_parse(text ? text : "cput", e);
    if (!a->usage)
        return err_prefix(e, "fairshare_usage_res");
    formula_names(a->usage, &a->names);
    return 0;
}

void accrual_ordered(struct accrual *a, const struct job *j)
{
    double all = j->share ? amount(a, j, accrual_wanted) : 0;

    if (all > 0)
        fairshare_expect(a->shares, j->share, all);
}

void accrual_sweep(struct accrual *a)
{
    for (struct accrual_entry *x = accrual_record_next(a->counted, NULL), *next; x; x = next) {
        next = accrual_record_next(a->counted, x);
        const struct job *j = cluster_job(a->cl, x->id);
        if (!j)
            accrual_record_drop(a->counted, x);
    }
}

bool accrual_take_news(struct accrual *a)
{
    bool news = a->news;

    a->news = false;
    return news;
}
