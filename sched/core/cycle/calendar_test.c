/* Top jobs in small worlds made at random, played in virtual time: a job that is promised a time begins by then, whichever job passes
 * it, as long as no job takes longer than its walltime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cycle.h"
#include "cluster_rows.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

enum { NODES = 5, NCPUS = 8, JOBS = 60, BEGIN_S = 1000000, WORLDS = 40, TEXT = 256 };

struct actor { /* a job */
    int chunks, ncpus;
    bool alone;
    int64_t limit_s, takes_s, start_s, end_s;
    int64_t promised_s, told_s; /* first and last; 0: it was no top job */
    char state;                 /* Q R, 0: not there */
    char exec[TEXT];
};

struct world {
    struct policy policy;
    struct cycle *c;
    struct actor jobs[JOBS];
    int64_t now_s;
    int depth;
    unsigned seed;
    int n_passed, n_promised;
};

static int between(struct world *w, int least, int most)
{
    w->seed = w->seed * 1103515245u + 12345u;
    return least + (int)(w->seed >> 16 & 0x7fff) % (most - least + 1);
}

/* --- what the core is told ----------------------------------------------------------------------------- */

/* What this job has on that node. */
static int part_on(const struct actor *j, int node)
{
    char name[16];
    int n = 0;

    snprintf(name, sizeof name, "(n%d:", node);
    for (const char *at = j->exec; j->state == 'R' && (at = strstr(at, name)) != NULL; at++)
        n += atoi(strchr(at, '=') + 1);
    return n;
}

static void tell_node(struct world *w, int node)
{
    char name[16], used[16];
    int n = 0, jobs = 0;
    bool alone = false;

    for (int i = 0; i < JOBS; i++) {
        int part = part_on(&w->jobs[i], node);
        n += part;
        jobs += part > 0;
        alone = alone || (part > 0 && w->jobs[i].alone);
    }
    assert_in_range(n, 0, NCPUS);
    assert_true(!alone || jobs == 1);
    snprintf(name, sizeof name, "n%d", node);
    snprintf(used, sizeof used, "%d", n);
    cluster_rows(cycle_cluster(w->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                          {"resources_assigned", "ncpus", used},
                                          {"state", NULL, alone ? "job-exclusive" : "free"},
                                          {NULL}});
}

static void tell_job(struct world *w, int i)
{
    const struct actor *j = &w->jobs[i];
    char id[16], rank[16], select[64], limit[24], start[24];

    snprintf(id, sizeof id, "%d", i);
    snprintf(rank, sizeof rank, "%d", i + 1);
    snprintf(select, sizeof select, "%d:ncpus=%d", j->chunks, j->ncpus);
    snprintf(limit, sizeof limit, "%lld", (long long)j->limit_s);
    snprintf(start, sizeof start, "%lld", (long long)j->start_s);
    cluster_rows(cycle_cluster(w->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, j->state == 'R' ? "R" : "Q"},
                                          {"substate", NULL, j->state == 'R' ? "42" : "10"},
                                          {"queue", NULL, "workq"},
                                          {"queue_rank", NULL, rank},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "place", j->alone ? "scatter:excl" : "free"},
                                          {"Resource_List", "walltime", limit},
                                          {"stime", NULL, start},
                                          {j->state == 'R' ? "exec_vnode" : NULL, NULL, j->exec},
                                          {NULL}});
}

/* --- what becomes of jobs ------------------------------------------------------------------------------- */

static void start(struct world *w, int i, const char *exec)
{
    struct actor *j = &w->jobs[i];
    struct decisions none = {0};
    char id[16];

    assert_int_equal(j->state, 'Q');
    assert_true(j->promised_s == 0 || w->now_s <= j->promised_s || w->depth > 1);
    for (int k = 0; k < i; k++)
        w->n_passed += w->jobs[k].state == 'Q';
    snprintf(id, sizeof id, "%d", i);
    cycle_answer_order(w->c, id, 0, "", &none);
    decisions_fini(&none);
    snprintf(j->exec, sizeof j->exec, "%s", exec);
    j->state = 'R';
    j->start_s = w->now_s;
    j->end_s = w->now_s + j->takes_s;
    tell_job(w, i);
}

/* Of several promises to one job the first counts, but where that is asked: with a depth of one no job is before it. */
static void promise(struct world *w, struct actor *j, int64_t at_s, bool only_fillers)
{
    if (only_fillers)
        assert_true(j->told_s == 0 || at_s <= j->told_s);
    j->told_s = at_s;
    if (j->promised_s == 0) {
        j->promised_s = at_s;
        w->n_promised++;
    }
}

/* only_fillers: since the cycle before nothing has happened but that it has started some. */
static void decide(struct world *w, bool only_fillers)
{
    struct decisions d = {0};

    for (int k = 0; k < NODES; k++)
        tell_node(w, k);
    assert_true(cluster_settle(cycle_cluster(w->c)));
    cycle_run(w->c, w->now_s, &d);
    for (size_t i = 0; i < d.n; i++) {
        const struct decision *x = &d.a[i];
        struct actor *j = x->kind == DECIDE_LOG ? NULL : &w->jobs[atoi(x->job)];
        if (x->kind == DECIDE_RUN)
            start(w, atoi(x->job), x->text);
        else if (x->kind == DECIDE_TOP && x->at_s)
            promise(w, j, x->at_s, only_fillers);
    }
    decisions_fini(&d);
}

/* The next end of a job; false: no job runs. */
static bool pass_time(struct world *w)
{
    int next = -1;
    char id[16];

    for (int i = 0; i < JOBS; i++)
        if (w->jobs[i].state == 'R' && (next < 0 || w->jobs[i].end_s < w->jobs[next].end_s))
            next = i;
    if (next < 0)
        return false;
    w->now_s = w->jobs[next].end_s;
    w->jobs[next].state = 0;
    snprintf(id, sizeof id, "%d", next);
    cluster_gone(cycle_cluster(w->c), CLUSTER_JOB, id);
    return true;
}

static void make(struct world *w, unsigned seed, int depth)
{
    *w = (struct world){.now_s = BEGIN_S, .seed = seed, .depth = depth};
    policy_init(&w->policy);
    w->policy.strict_ordering = true;
    policy_attribute(&w->policy, "opt_backfill_fuzzy", "off", NULL);
    w->c = cycle_create("default", &w->policy);
    cluster_rows(cycle_cluster(w->c), CLUSTER_SCHED, "default",
                 (const char *const[][3]){{"opt_backfill_fuzzy", NULL, "off"}, {NULL}});
    char planned[16];
    snprintf(planned, sizeof planned, "%d", depth);
    cluster_rows(cycle_cluster(w->c), CLUSTER_SERVER, "",
                 (const char *const[][3]){{"backfill_depth", NULL, planned}, {NULL}});
    cluster_rows(
        cycle_cluster(w->c), CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    for (int i = 0; i < JOBS; i++) {
        struct actor *j = &w->jobs[i];
        bool large = between(w, 1, 4) == 1;
        *j = (struct actor){.state = 'Q',
                            .chunks = large ? between(w, 2, NODES) : 1,
                            .ncpus = large ? between(w, 4, NCPUS) : between(w, 1, 4),
                            .alone = between(w, 1, 8) == 1,
                            .limit_s = between(w, 10, 400)};
        j->takes_s = between(w, 0, 1) ? j->limit_s : between(w, 1, (int)j->limit_s);
        tell_job(w, i);
    }
}

/* Played to the end; how many promises and passings there were is added up in `sum`. */
static void play(struct world *sum, unsigned seed, int depth)
{
    struct world w;

    make(&w, seed, depth);
    do {
        decide(&w, false);
        decide(&w, true);
    } while (pass_time(&w));
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(w.jobs[i].state, 0); /* all have run */
    sum->n_passed += w.n_passed;
    sum->n_promised += w.n_promised;
    cycle_destroy(w.c);
    policy_fini(&w.policy);
}

static void play_all(int depth)
{
    struct world sum = {0};

    for (unsigned seed = 1; seed <= WORLDS; seed++)
        play(&sum, seed, depth);
    print_message("depth %d: %d promises, %d times a job was passed\n", depth, sum.n_promised, sum.n_passed);
    assert_true(sum.n_promised > WORLDS && sum.n_passed > WORLDS);
}

static void a_top_job_begins_by_the_time_that_it_was_promised(void **state)
{
    play_all(1);
}

/* A job that ends before its walltime may change where the first of them goes, and by that the promise of the next one; who is let
 * past them does not. */
static void who_passes_several_top_jobs_puts_off_none_of_them(void **state)
{
    for (int depth = 2; depth <= 5; depth += 3)
        play_all(depth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_top_job_begins_by_the_time_that_it_was_promised),
                                       cmocka_unit_test(who_passes_several_top_jobs_puts_off_none_of_them)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
