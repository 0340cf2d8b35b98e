/* Each attempt plays the events again from the beginning, in a core of its own. The parts that ddmin() leaves out are events, then
 * reservations, then vnodes. */
#include "random_shrink.h"

#include <stdlib.h>
#include <string.h>

#include "cluster_settle.h"
#include "ddmin.h"
#include "mem.h"
#include "scenario_objects.h"

struct random_shrink {
    const struct random_world *w;
    struct random_world *like; /* with those vnodes and reservations that are kept */
    size_t n;                  /* events; the last one is the cycle, which is always kept */
    random_holds_fn *holds;
    void *arg;
};

/* --- as a scenario ------------------------------------------------------------------------------------------ */

static void shrink_write_world(const struct random_world *w, FILE *f)
{
    fprintf(f, "resource colour type=string flag=h\n");
    fprintf(f, "config strict_ordering=%s by_queue=%s\n", w->policy.strict_ordering ? "true" : "false",
            w->policy.by_queue ? "true" : "false");
    fprintf(f, "sched preempt_order=R do_not_span_psets=%s%s\n", w->policy.no_spanning ? "True" : "False",
            w->soft_limit ? " preempt_prio=express_queue,normal_jobs,server_softlimits" : "");
    fprintf(f, "server backfill_depth=%d node_group_enable=%s node_group_key=colour", w->depth,
            w->has_sets ? "True" : "False");
    if (w->user_limit)
        fprintf(f, " max_run=[u:PBS_GENERIC=%d]", w->user_limit);
    if (w->soft_limit)
        fprintf(f, " max_run_soft=[u:PBS_GENERIC=%d]", w->soft_limit);
    fprintf(f, "\nqueue workq Priority=0\nqueue express Priority=200\n");
}

static void shrink_write_node(const struct random_world *w, int i, FILE *f)
{
    const struct random_node *n = &w->nodes[i];
    bool is_alone = false;

    if (n->is_away)
        return;
    for (int k = 0; k < w->n_jobs; k++)
        for (int p = 0; w->jobs[k].runs && p < w->jobs[k].n_parts; p++)
            is_alone = is_alone || (w->jobs[k].parts[p].node == i &&
                                    (n->is_excl || strstr(w->jobs[k].place, "excl") != NULL));
    fprintf(f, "node n%d ncpus=%d mem=%dkb host=h%d colour=c%d @sharing=%s @state=%s\n", i, n->ncpus,
            n->mem_kb, n->host, n->colour, n->is_excl ? "default_excl" : "default_shared",
            n->is_down ? "down"
            : is_alone ? "job-exclusive"
                       : "free");
}

static void shrink_write_job(const struct random_world *w, int i, FILE *f)
{
    const struct random_job *j = &w->jobs[i];

    fprintf(f, "job %d.x %s %s select=%s place=%s euser=user%d Resource_List.walltime=%lld run_version=%lld",
            i, j->is_urgent ? "express" : "workq", j->runs ? "R" : "Q", j->select, j->place, j->user,
            (long long)j->walltime_s, (long long)j->run_version);
    fprintf(f, j->runs ? " stime=%lld exec=" : " Rerunable=True", (long long)j->start_s);
    for (int p = 0; j->runs && p < j->n_parts; p++)
        fprintf(f, "%s(n%d:ncpus=%d:mem=%dkb)", p ? "+" : "", j->parts[p].node, j->parts[p].ncpus,
                j->parts[p].mem_kb);
    fputc('\n', f);
}

static void shrink_write_resv(const struct random_world *w, int i, FILE *f)
{
    const struct random_resv *r = &w->resvs[i];
    const char *join = "";

    if (r->n == 0)
        return;
    fprintf(f, "resv R%d.x state=2 start=%lld end=%lld select=%d:ncpus=1 nodes=", i,
            (long long)r->from_s - SCENARIO_NOW_S, (long long)r->to_s - SCENARIO_NOW_S, r->n);
    for (int k = r->first; k < r->first + r->n; k++)
        if (!w->nodes[k].is_away) {
            fprintf(f, "%s(n%d:ncpus=%d)", join, k, w->nodes[k].ncpus);
            join = "+";
        }
    fputc('\n', f);
}

static void shrink_write_begin(const struct random_world *w, FILE *f)
{
    shrink_write_world(w, f);
    for (int i = 0; i < w->n_nodes; i++)
        shrink_write_node(w, i, f);
    for (int i = 0; i < w->n_resvs; i++)
        shrink_write_resv(w, i, f);
}

static void shrink_write_event(const struct random_world *w, const struct random_event *x, bool was_there,
                               FILE *f)
{
    switch (x->kind) {
    case RANDOM_SUBMIT:
        shrink_write_job(w, x->number, f);
        break;
    case RANDOM_END:
        if (was_there)
            fprintf(f, "gone job %d.x\n", x->number);
        for (int p = 0; was_there && p < w->jobs[x->number].n_parts; p++)
            shrink_write_node(w, w->jobs[x->number].parts[p].node, f);
        break;
    case RANDOM_NODE:
        shrink_write_node(w, x->number, f);
        break;
    case RANDOM_CYCLE:
        break;
    }
}

static void shrink_write_moved(const struct random_world *w, int i, FILE *f)
{
    shrink_write_job(w, i, f);
    for (int p = 0; p < w->jobs[i].n_parts; p++)
        shrink_write_node(w, w->jobs[i].parts[p].node, f);
}

/* A cycle that is not the last one: what it decides, the answers, and what has become of the jobs. */
static void shrink_write_cycle(struct random_world *w, FILE *f)
{
    struct decisions d = {0};

    random_world_cycle(w, &d);
    fprintf(f, "cycle %lld\n", (long long)w->now_s - SCENARIO_NOW_S);
    for (size_t i = 0; i < d.n; i++) {
        const struct decision *x = &d.a[i];
        if (x->kind == DECIDE_RUN)
            fprintf(f, "run %s %s\n", x->job, x->text);
        if (x->kind == DECIDE_PREEMPT) {
            fprintf(f, "preempt %s", x->job);
            for (size_t k = 0; k < x->n_names; k++)
                fprintf(f, " %s", x->names[k]);
            fputc('\n', f);
        }
    }
    for (size_t i = 0; i < d.n; i++) {
        const struct decision *x = &d.a[i];
        if (x->kind != DECIDE_RUN && x->kind != DECIDE_PREEMPT)
            continue;
        fprintf(f, "%s %s\n", x->kind == DECIDE_RUN ? "took" : "taken", x->job);
        for (size_t k = 0; x->kind == DECIDE_PREEMPT && k < x->n_names; k++)
            shrink_write_moved(w, atoi(x->names[k]), f);
        shrink_write_moved(w, atoi(x->job), f);
    }
    decisions_fini(&d);
}

/* --- again and again ------------------------------------------------------------------------------------------ */

static void shrink_like(struct random_shrink *s, const bool *keep)
{
    const bool *resvs = keep + s->n, *nodes = resvs + s->w->n_resvs;

    *s->like = *s->w;
    for (int i = 0; i < s->w->n_resvs; i++)
        s->like->resvs[i].n = resvs[i] ? s->w->resvs[i].n : 0;
    for (int i = 0; i < s->w->n_nodes; i++)
        s->like->nodes[i].is_away = !nodes[i];
}

/* Play what is kept, and write it down where `out` is not NULL. Return false where it does not hold. */
static bool shrink_holds(struct random_shrink *s, const bool *keep, FILE *out)
{
    shrink_like(s, keep);
    struct random_world *w = random_world_again(s->like);
    const struct random_event *cycle = &s->w->events[s->n - 1];
    char *want = NULL;
    size_t size;
    FILE *f = open_memstream(&want, &size);

    if (out)
        shrink_write_begin(w, out);
    for (size_t i = 0; i + 1 < s->n; i++) {
        const struct random_event *x = &s->w->events[i];
        if (!keep[i])
            continue;
        struct decisions d = {0};
        bool was_there = w->jobs[x->number].is_there;
        w->now_s = x->at_s;
        cluster_settle(cycle_cluster(w->c));
        if (x->kind != RANDOM_CYCLE)
            random_world_apply(w, x);
        else if (out)
            shrink_write_cycle(w, out);
        else
            random_world_cycle(w, &d);
        if (out)
            shrink_write_event(w, x, was_there, out);
        decisions_fini(&d);
    }
    w->now_s = cycle->at_s;
    cluster_settle(cycle_cluster(w->c));
    bool holds = s->holds(w, f, s->arg);
    fclose(f);
    if (out)
        fprintf(out, "cycle %lld\n%s", (long long)cycle->at_s - SCENARIO_NOW_S, want);
    free(want);
    random_world_destroy(w);
    return holds;
}

static bool shrink_fails(const bool *keep, void *arg)
{
    struct random_shrink *s = arg;

    return keep[s->n - 1] && !shrink_holds(s, keep, NULL);
}

/* All events up to the last cycle; the reservations and vnodes that are there. */
static bool *shrink_parts(const struct random_shrink *s, size_t *n)
{
    const struct random_world *w = s->w;
    bool *keep = mem_new(s->n + (size_t)w->n_resvs + (size_t)w->n_nodes, sizeof *keep);

    *n = 0;
    for (size_t i = 0; i < s->n; i++)
        keep[(*n)++] = true;
    for (int i = 0; i < w->n_resvs; i++)
        keep[(*n)++] = w->resvs[i].n > 0;
    for (int i = 0; i < w->n_nodes; i++)
        keep[(*n)++] = !w->nodes[i].is_away;
    return keep;
}

size_t random_shrink(const struct random_world *w, random_holds_fn *holds, void *arg, FILE *out)
{
    struct random_shrink s = {.w = w, .n = w->n_events, .holds = holds, .arg = arg};
    size_t n, left = 0;

    while (s.n > 0 && w->events[s.n - 1].kind != RANDOM_CYCLE)
        s.n--;
    if (s.n == 0)
        return 0;
    s.like = mem_new(1, sizeof *s.like);
    bool *keep = shrink_parts(&s, &n);
    if (ddmin(keep, n, shrink_fails, &s) > 0) {
        for (size_t i = 0; i < s.n; i++)
            left += keep[i];
        shrink_holds(&s, keep, out);
    }
    free(keep);
    free(s.like);
    return left;
}
