/* See crowd.h. The number of a job is its rank, so that lower ones go first where nothing else counts. */
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_rows.h"
#include "explain.h"
#include "fairshare_accrual.h"
#include "forecast.h"
#include "mem.h"
#include "steps.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"
#include "cycle_preempt.h"

enum { BEGIN_S = 1000000, USERS = 10, WIDTH = 10, UNKNOWN_SHARES = 10, TEXT_MAX = 64 };

static int crowd_kind(const struct crowd *w, int job)
{
    return (int)((int64_t)job * 7919 % w->size.classes);
}

static int64_t crowd_walltime_s(int kind)
{
    return 3600 + 10 * (int64_t)kind;
}

static void crowd_tell_node(struct crowd *w, int i)
{
    char name[16], ncpus[16], used[16], taken[24];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(ncpus, sizeof ncpus, "%d", w->size.ncpus);
    snprintf(used, sizeof used, "%d", w->used[i]);
    snprintf(taken, sizeof taken, "%dkb", w->used_kb[i]);
    cluster_rows(cycle_cluster(w->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", ncpus},
                                          {"resources_available", "mem", "1000000kb"},
                                          {"resources_assigned", "ncpus", used},
                                          {"resources_assigned", "mem", taken},
                                          {"state", NULL, "free"},
                                          {NULL}});
}

/* The job comes to its vnode (times 1) or leaves it (-1). */
static void crowd_use_node(struct crowd *w, int job, int times)
{
    int i = w->at[job];

    w->used[i] += times;
    w->used_kb[i] += times * (crowd_kind(w, job) + 1);
    w->n_running += times;
    crowd_tell_node(w, i);
}

static void crowd_tell_job(struct crowd *w, int i, int64_t start_s)
{
    char id[16], rank[16], start[24], user[16], select[TEXT_MAX], limit[16], exec[TEXT_MAX];
    int kind = crowd_kind(w, i);

    snprintf(id, sizeof id, "%d.x", i);
    snprintf(rank, sizeof rank, "%d", i + 1);
    snprintf(start, sizeof start, "%lld", (long long)start_s);
    snprintf(user, sizeof user, "user%d", i % USERS);
    snprintf(select, sizeof select, "1:ncpus=1:mem=%dkb", kind + 1);
    snprintf(limit, sizeof limit, "%lld", (long long)crowd_walltime_s(kind));
    snprintf(exec, sizeof exec, "(n%d:ncpus=1:mem=%dkb)", w->at[i], kind + 1);
    cluster_rows(cycle_cluster(w->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, start_s ? "R" : "Q"},
                                          {"substate", NULL, start_s ? "42" : "10"},
                                          {"queue", NULL, "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"euser", NULL, user},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "walltime", limit},
                                          {"Resource_List", "ncpus", "1"},
                                          {"stime", NULL, start},
                                          {start_s ? "exec_vnode" : NULL, NULL, exec},
                                          {NULL}});
}

/* The first ones begin when jobs of half the classes would still be there, at any size. */
static void crowd_tell_resv(struct crowd *w, int i)
{
    int groups = w->size.nodes / WIDTH;
    char id[24], start[24], end[24], nodes[WIDTH * 24] = "";
    int64_t from_s = BEGIN_S + crowd_walltime_s(w->size.classes / 2) + (int64_t)(i / groups) * 4000;

    snprintf(id, sizeof id, "R%d.x", i);
    snprintf(start, sizeof start, "%lld", (long long)from_s);
    snprintf(end, sizeof end, "%lld", (long long)from_s + 3600);
    for (int k = 0; k < WIDTH; k++)
        snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), "%s(n%d:ncpus=1)", k ? "+" : "",
                 i % groups * WIDTH + k);
    cluster_rows(cycle_cluster(w->c), CLUSTER_RESV, id,
                 (const char *const[][3]){{"reserve_state", NULL, "2"},
                                          {"reserve_start", NULL, start},
                                          {"reserve_end", NULL, end},
                                          {"schedselect", NULL, "10:ncpus=1"},
                                          {"resv_nodes", NULL, nodes},
                                          {NULL}});
}

static void crowd_tell_queue(struct crowd *w, const char *name, const char *priority)
{
    cluster_rows(cycle_cluster(w->c), CLUSTER_QUEUE, name,
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, "True"},
                                          {"Priority", NULL, priority},
                                          {NULL}});
}

struct crowd *crowd_create(struct crowd_size size)
{
    struct crowd *w = mem_new(1, sizeof *w);

    w->size = size;
    w->size.ncpus = size.ncpus ? size.ncpus : 1;
    w->used = mem_new((size_t)size.nodes, sizeof *w->used);
    w->used_kb = mem_new((size_t)size.nodes, sizeof *w->used_kb);
    w->now_s = BEGIN_S;
    w->at = mem_new((size_t)size.jobs, sizeof *w->at);
    policy_init(&w->policy);
    w->policy.strict_ordering = w->policy.fair_share = size.strict;
    w->c = cycle_create("default", &w->policy);
    cluster_rows(cycle_cluster(w->c), CLUSTER_SERVER, "x",
                 (const char *const[][3]){{"backfill_depth", NULL, "100"}, {NULL}});
    if (size.strict)
        fairshare_plant(accrual_shares(cycle_accrual(w->c)), "", UNKNOWN_SHARES, NULL);
    crowd_tell_queue(w, "workq", "0");
    crowd_tell_queue(w, "express", "200");
    for (int i = 0; i < size.nodes; i++)
        crowd_tell_node(w, i);
    for (int i = 0; i < size.resvs; i++)
        crowd_tell_resv(w, i);
    for (int i = 0; i < size.jobs; i++) {
        w->at[i] = -1;
        crowd_tell_job(w, i, 0);
    }
    cluster_settle(cycle_cluster(w->c));
    return w;
}

void crowd_destroy(struct crowd *w)
{
    cycle_destroy(w->c);
    policy_fini(&w->policy);
    free(w->at);
    free(w->used);
    free(w->used_kb);
    free(w);
}

/* The server has taken the order, and the stream shows that the job runs. */
static void crowd_start(struct crowd *w, const struct decision *x)
{
    struct decisions ignored = {0};
    int i = atoi(x->job);

    cycle_answer_order(w->c, x->job, 0, "", &ignored);
    decisions_fini(&ignored);
    w->at[i] = atoi(x->text + strlen("(n"));
    w->n_started++;
    crowd_use_node(w, i, 1);
    crowd_tell_job(w, i, w->now_s);
}

static void crowd_carry_out(struct crowd *w, struct decisions *d)
{
    struct decisions ignored = {0};

    for (size_t i = 0; i < d->n; i++) {
        if (d->a[i].kind == DECIDE_RUN)
            crowd_start(w, &d->a[i]);
        if (d->a[i].kind == DECIDE_PREEMPT) {
            w->n_victims = (int)d->a[i].n_names;
            cycle_answer_plan(w->c, d->a[i].job, 1, "", &ignored);
        }
    }
    decisions_fini(&ignored);
    decisions_fini(d);
    cluster_settle(cycle_cluster(w->c));
}

uint64_t crowd_cycle(struct crowd *w)
{
    struct decisions d = {0};
    uint64_t begin = steps_count();

    w->n_started = w->n_victims = 0;
    if (!cycle_has_news(w->c, w->now_s))
        return steps_count() - begin;
    cycle_run(w->c, w->now_s, &d);
    crowd_carry_out(w, &d);
    return steps_count() - begin;
}

uint64_t crowd_ask(struct crowd *w)
{
    cycle_retry_all(w->c);
    return crowd_cycle(w);
}

static int crowd_oldest(const struct crowd *w)
{
    for (int i = 0; i < w->size.jobs; i++)
        if (w->at[i] >= 0)
            return i;
    return -1;
}

uint64_t crowd_end_one(struct crowd *w)
{
    int i = crowd_oldest(w), n_started = 0;
    char id[16];
    uint64_t begin = steps_count();

    if (i < 0)
        return 0;
    w->now_s++;
    snprintf(id, sizeof id, "%d.x", i);
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
    crowd_use_node(w, i, -1);
    w->at[i] = -1;
    cluster_settle(cycle_cluster(w->c));
    while (cycle_has_news(w->c, w->now_s)) {
        crowd_cycle(w);
        n_started += w->n_started;
    }
    w->n_started = n_started;
    return steps_count() - begin;
}

uint64_t crowd_urge(struct crowd *w, int chunks)
{
    char id[16], select[TEXT_MAX];
    uint64_t begin = steps_count(), cost;

    snprintf(id, sizeof id, "%d.x", w->size.jobs + w->n_urgent++);
    snprintf(select, sizeof select, "%d:ncpus=1", chunks);
    cluster_rows(cycle_cluster(w->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, "Q"},
                                          {"substate", NULL, "10"},
                                          {"queue", NULL, "express"},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "walltime", "600"},
                                          {NULL}});
    cluster_settle(cycle_cluster(w->c));
    crowd_cycle(w);
    cost = steps_count() - begin;
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
    cluster_settle(cycle_cluster(w->c));
    return cost;
}

uint64_t crowd_explain(struct crowd *w)
{
    char id[16];
    uint64_t begin = steps_count();
    struct explanation x;
    struct forecast f;

    snprintf(id, sizeof id, "%d.x", w->size.jobs - 1);
    const struct job *j = cluster_job(cycle_cluster(w->c), id);
    cycle_preempt_explain(w->c, j, w->now_s, &x);
    forecast_make(w->c, j, w->now_s, &f);
    w->n_before = f.n_before;
    explain_fini(&x);
    forecast_fini(&f);
    return steps_count() - begin;
}
