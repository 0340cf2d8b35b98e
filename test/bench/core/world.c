/* Time goes from event to event: a job comes, a job ends. Only what is urgent may preempt, and only when it comes: who waits
 * then waits for an end. A victim by C continues later from where it was, one by R starts from the beginning. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "cluster_rows.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

enum { PIECE_MAX = 24 }; /* characters of one place in an exec_vnode */

void choice_fini(struct choice *c)
{
    free(c->victims);
    free(c->where);
    *c = (struct choice){0};
}

/* --- what the core is told ------------------------------------------------------------------------------- */

static void tell_node(struct world *w, int i)
{
    char name[32], total[32], taken[32];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(total, sizeof total, "%d", w->mix->cores);
    snprintf(taken, sizeof taken, "%d", w->used[i]);
    cluster_rows(cycle_cluster(w->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", total},
                                          {"resources_assigned", "ncpus", taken},
                                          {"state", NULL, "free"},
                                          {NULL, NULL, NULL}});
}

static void tell_job(struct world *w, int i)
{
    const struct mine *j = &w->jobs[i];
    char id[32], rank[32], start[32], select[64], exec[MIX_PLACES * PIECE_MAX] = "";
    size_t n = 0;

    snprintf(id, sizeof id, "%d.x", i);
    snprintf(rank, sizeof rank, "%d", i);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    snprintf(select, sizeof select, "%d:ncpus=%d", j->chunks, j->cores);
    for (int k = 0; k < j->n_at; k++)
        n += (size_t)snprintf(exec + n, sizeof exec - n, "%s(n%d:ncpus=%d)", k ? "+" : "", j->at[k].node,
                              j->at[k].cores);
    cluster_rows(cycle_cluster(w->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, j->n_at ? "R" : "Q"},
                                          {"substate", NULL, j->n_at ? "42" : "10"},
                                          {"queue", NULL, j->urgent ? "express" : "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"schedselect", NULL, select},
                                          {"Checkpoint", NULL, j->saves ? "u" : "n"},
                                          {"stime", NULL, start},
                                          {j->n_at ? "exec_vnode" : NULL, NULL, exec},
                                          {NULL, NULL, NULL}});
}

static void tell_queue(struct world *w, const char *name, const char *priority)
{
    cluster_rows(cycle_cluster(w->c), CLUSTER_QUEUE, name,
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, "True"},
                                          {"Priority", NULL, priority},
                                          {NULL, NULL, NULL}});
}

/* --- what becomes of jobs -------------------------------------------------------------------------------- */

static void take_room(struct world *w, const struct mine *j, int times)
{
    for (int k = 0; k < j->n_at; k++) {
        w->used[j->at[k].node] += times * j->at[k].cores;
        tell_node(w, j->at[k].node);
    }
}

static void start(struct world *w, int i, const char *exec_vnode)
{
    struct mine *j = &w->jobs[i];

    for (const char *at = exec_vnode; (at = strchr(at, 'n')) != NULL && j->n_at < MIX_PLACES; at++)
        if (sscanf(at, "n%d:ncpus=%d", &j->at[j->n_at].node, &j->at[j->n_at].cores) == 2) {
            j->n_at++;
            at = strchr(at, '=');
        }
    j->start_s = w->now_s;
    j->end_s = w->now_s + j->runs_s;
    take_room(w, j, 1);
    tell_job(w, i);
}

static double work(const struct world *w, const struct mine *j)
{
    return (double)(w->now_s - j->start_s) * j->chunks * j->cores;
}

double world_loss(const struct world *w, int i)
{
    const struct mine *j = &w->jobs[i];

    return j->saves && strchr(w->mix->order, 'C') ? 0 : work(w, j);
}

static void leave(struct world *w, int i)
{
    struct mine *j = &w->jobs[i];

    take_room(w, j, -1);
    j->n_at = 0;
    j->start_s = 0;
}

static void end(struct world *w, int i)
{
    char id[32];

    w->done_s += work(w, &w->jobs[i]);
    leave(w, i);
    snprintf(id, sizeof id, "%d.x", i);
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
}

static void give_way(struct world *w, int i)
{
    struct mine *j = &w->jobs[i];
    double lost_s = world_loss(w, i);

    w->lost_s += lost_s;
    w->n_victims++;
    if (lost_s == 0) {
        w->done_s += work(w, j);
        j->runs_s -= w->now_s - j->start_s;
    }
    leave(w, i);
    tell_job(w, i);
}

static void run_waiting(struct world *w)
{
    struct decisions d = {0};

    cluster_settle(cycle_cluster(w->c));
    w->policy.preemptive = false;
    cycle_run(w->c, w->now_s, &d);
    w->policy.preemptive = true;
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_RUN) {
            cycle_answer_order(w->c, d.a[i].job, 0, "", &(struct decisions){0});
            start(w, atoi(d.a[i].job), d.a[i].text);
        }
    decisions_fini(&d);
    cluster_settle(cycle_cluster(w->c));
}

static void come(struct world *w, int i)
{
    struct choice c = {0};
    char id[32];

    tell_job(w, i);
    run_waiting(w);
    w->n_urgent += w->jobs[i].urgent;
    snprintf(id, sizeof id, "%d.x", i);
    const struct job *j = cluster_job(cycle_cluster(w->c), id);
    if (!w->jobs[i].urgent || w->jobs[i].n_at || !j)
        return;
    w->choose(w, j, i, &c);
    for (size_t k = 0; c.where && k < c.n; k++)
        give_way(w, c.victims[k]);
    if (c.where)
        start(w, i, c.where);
    choice_fini(&c);
    cluster_settle(cycle_cluster(w->c));
}

/* --- time -------------------------------------------------------------------------------------------------- */

/* The job that ends first until then, or -1. */
static int next_end(const struct world *w, int64_t until_s)
{
    int found = -1;

    for (int i = 0; i < w->mix->jobs; i++)
        if (w->jobs[i].n_at && w->jobs[i].end_s <= until_s &&
            (found < 0 || w->jobs[i].end_s < w->jobs[found].end_s))
            found = i;
    return found;
}

void world_play(struct world *w)
{
    for (int i = 0; i < w->mix->jobs && !w->over; i++) {
        for (int k; (k = next_end(w, w->jobs[i].submit_s)) >= 0;) {
            w->now_s = w->jobs[k].end_s;
            end(w, k);
            run_waiting(w);
        }
        w->now_s = w->jobs[i].submit_s;
        come(w, i);
    }
}

struct world *world_create(const struct mix *x, uint64_t seed, enum preempt_sort sort, world_choose_fn *fn,
                           void *arg)
{
    struct world *w = mem_new(1, sizeof *w);

    *w = (struct world){.mix = x, .choose = fn, .arg = arg};
    policy_init(&w->policy);
    w->policy.preempt_sort = sort;
    policy_attribute(&w->policy, "preempt_order", x->order, &(struct err){0});
    w->c = cycle_create("default", &w->policy);
    w->jobs = mix_make(x, seed);
    w->used = mem_new((size_t)x->nodes, sizeof *w->used);
    tell_queue(w, "workq", "0");
    tell_queue(w, "express", "200");
    for (int i = 0; i < x->nodes; i++)
        tell_node(w, i);
    return w;
}

void world_destroy(struct world *w)
{
    cycle_destroy(w->c);
    policy_fini(&w->policy);
    free(w->jobs);
    free(w->used);
    free(w);
}
