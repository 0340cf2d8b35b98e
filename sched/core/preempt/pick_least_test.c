/* The quick way of choosing victims against the best there is, on many small sites made at random; and against PBS's
 * order on larger ones, where the best is not known. A site where the choice is wrong is made as small as it can be and printed as
 * a scenario (scenario.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cycle.h"
#include "ddmin.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "cluster_rows.h"
#include "cluster_settle.h"
#include "scenario.h"
#include "scenario_objects.h"

enum { NODES = 4, WIDE = 16, NCPUS = 4, NOW_S = SCENARIO_NOW_S, SITES = 60, EXACT_JOBS = 14, URGENT = 99 };

struct running {
    int node, ncpus, nodes; /* it is on so many, from `node` on */
    int64_t start_s;
};

struct site {
    struct running job[WIDE * NCPUS];
    int n, nodes, used[WIDE];
    int want_nodes, want_ncpus;
};

struct choice {
    int64_t cost; /* 0: the urgent job runs without; -1: nothing was decided */
    int job[WIDE * NCPUS], n;
};

static int between(unsigned *seed, int least, int most)
{
    *seed = *seed * 1103515245u + 12345u;
    return least + (int)(*seed >> 16 & 0x7fff) % (most - least + 1);
}

/* Every cpu is in use; the urgent job wants some cpus on each of some nodes. */
static void make_site(struct site *s, unsigned seed)
{
    *s = (struct site){
        .nodes = NODES, .want_nodes = between(&seed, 1, NODES - 1), .want_ncpus = between(&seed, 1, NCPUS)};
    for (int k = 0; k < NODES; k++)
        while (s->used[k] < NCPUS && s->n < NODES * NCPUS) {
            int ncpus = between(&seed, 1, NCPUS - s->used[k]);
            s->job[s->n++] = (struct running){k, ncpus, 1, NOW_S - between(&seed, 1, 5000)};
            s->used[k] += ncpus;
        }
}

/* The urgent job wants some nodes as a whole, and many jobs are on several. */
static void make_wide_site(struct site *s, unsigned seed)
{
    *s = (struct site){.nodes = WIDE, .want_nodes = between(&seed, 2, WIDE / 2), .want_ncpus = NCPUS};
    for (int k = 0; k < WIDE; k++)
        while (s->used[k] < NCPUS) {
            int ncpus = between(&seed, 1, NCPUS - s->used[k]), nodes = between(&seed, 1, 3), fit = 1;
            while (fit < nodes && k + fit < WIDE && s->used[k + fit] + ncpus <= NCPUS)
                fit++;
            s->job[s->n++] =
                (struct running){k, ncpus, fit, NOW_S - (int64_t)30 * (1 << between(&seed, 0, 10))};
            for (int i = 0; i < fit; i++)
                s->used[k + i] += ncpus;
        }
}

static int64_t cost(const struct running *r)
{
    return 1 + 1024 * r->nodes * r->ncpus * (NOW_S - r->start_s);
}

/* The dearest subset is nothing to be afraid of: at most 2^16 sets. Each node alone, then the cheapest nodes. */
static struct choice cheapest_on(const struct site *s, int node)
{
    int index[NCPUS], n = 0;
    struct choice best = {.cost = INT64_MAX};

    for (int i = 0; i < s->n; i++)
        if (s->job[i].node == node)
            index[n++] = i;
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        struct choice now = {0};
        int free = NCPUS - s->used[node];
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) {
                now.cost += cost(&s->job[index[i]]);
                free += s->job[index[i]].ncpus;
                now.job[now.n++] = index[i];
            }
        if (free >= s->want_ncpus && now.cost < best.cost)
            best = now;
    }
    return best;
}

static int by_cost(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* Of jobs that are on one node each. */
static struct choice best_of(const struct site *s)
{
    struct choice each[NODES], all = {0};

    for (int k = 0; k < NODES; k++)
        each[k] = cheapest_on(s, k);
    qsort(each, NODES, sizeof each[0], by_cost);
    for (int k = 0; k < s->want_nodes; k++) {
        all.cost += each[k].cost;
        for (int i = 0; i < each[k].n; i++)
            all.job[all.n++] = each[k].job[i];
    }
    return all;
}

/* --- the same site as the core sees it ------------------------------------------------------------------ */

static void exec_of(const struct running *r, char *exec, size_t size)
{
    size_t at = 0;

    for (int k = 0; k < r->nodes; k++)
        at += (size_t)snprintf(exec + at, size - at, "%s(n%d:ncpus=%d)", k ? "+" : "", r->node + k, r->ncpus);
}

static void tell_site(struct cluster *cl, const struct site *s, const char *sort)
{
    char name[16], used[16], exec[128], start[32], select[64];

    cluster_rows(
        cl, CLUSTER_SCHED, "default",
        (const char *const[][3]){{"preempt_sort", NULL, sort}, {"preempt_order", NULL, "R"}, {NULL}});
    cluster_rows(
        cl, CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    cluster_rows(
        cl, CLUSTER_QUEUE, "express",
        (const char *const[][3]){
            {"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {"Priority", NULL, "200"}, {NULL}});
    for (int k = 0; k < s->nodes; k++) {
        snprintf(name, sizeof name, "n%d", k);
        snprintf(used, sizeof used, "%d", s->used[k]);
        cluster_rows(cl, CLUSTER_NODE, name,
                     (const char *const[][3]){{"resources_available", "ncpus", "4"},
                                              {"resources_assigned", "ncpus", used},
                                              {NULL}});
    }
    for (int i = 0; i < s->n; i++) {
        snprintf(name, sizeof name, "%d", i + 1);
        exec_of(&s->job[i], exec, sizeof exec);
        snprintf(start, sizeof start, "%lld", (long long)s->job[i].start_s);
        cluster_rows(cl, CLUSTER_JOB, name,
                     (const char *const[][3]){{"queue", NULL, "workq"},
                                              {"job_state", NULL, "R"},
                                              {"substate", NULL, "42"},
                                              {"exec_vnode", NULL, exec},
                                              {"stime", NULL, start},
                                              {NULL}});
    }
    snprintf(select, sizeof select, "%d:ncpus=%d", s->want_nodes, s->want_ncpus);
    cluster_rows(cl, CLUSTER_JOB, "99",
                 (const char *const[][3]){{"queue", NULL, "express"},
                                          {"job_state", NULL, "Q"},
                                          {"substate", NULL, "10"},
                                          {"schedselect", NULL, select},
                                          {"Resource_List", "place", "scatter"},
                                          {NULL}});
}

/* What is chosen by one value of preempt_sort. */
static struct choice decided(const struct site *s, const char *sort)
{
    struct policy policy;
    struct decisions d = {0};
    struct choice chosen = {.cost = -1};

    policy_init(&policy);
    policy.preemptive = true;
    struct cycle *c = cycle_create("default", &policy);
    tell_site(cycle_cluster(c), s, sort);
    assert_true(cluster_settle(cycle_cluster(c)));
    cycle_run(c, NOW_S, &d);
    for (size_t i = 0; i < d.n; i++) {
        if (d.a[i].kind != DECIDE_PREEMPT && d.a[i].kind != DECIDE_RUN)
            continue;
        chosen = (struct choice){0};
        for (size_t k = 0; d.a[i].kind == DECIDE_PREEMPT && k < d.a[i].n_names; k++) {
            int job = atoi(d.a[i].names[k]) - 1;
            chosen.cost += cost(&s->job[job]);
            chosen.job[chosen.n++] = job;
        }
    }
    decisions_fini(&d);
    cycle_destroy(c);
    policy_fini(&policy);
    return chosen;
}

/* --- a site where the choice is wrong -------------------------------------------------------------------- */

/* Return true if the choice on this site is right; else `want` is one that it is to be compared with. */
typedef bool right_fn(const struct site *s, struct choice *want);

struct shrinking {
    const struct site *s;
    right_fn *is_right;
};

static struct site part_of(const struct site *s, const bool *keep)
{
    struct site part = {.nodes = s->nodes, .want_nodes = s->want_nodes, .want_ncpus = s->want_ncpus};

    for (int i = 0; i < s->n; i++)
        if (keep[i]) {
            part.job[part.n++] = s->job[i];
            for (int k = 0; k < s->job[i].nodes; k++)
                part.used[s->job[i].node + k] += s->job[i].ncpus;
        }
    return part;
}

static bool is_wrong(const bool *keep, void *arg)
{
    const struct shrinking *x = arg;
    struct site part = part_of(x->s, keep);
    struct choice want;

    return !x->is_right(&part, &want);
}

static void site_write(const struct site *s, const struct choice *want, FILE *f)
{
    char exec[128];

    fprintf(f,
            "sched preempt_sort=least_lost_work preempt_order=R\nqueue workq\nqueue express Priority=200\n");
    for (int k = 0; k < s->nodes; k++)
        fprintf(f, "node n%d ncpus=%d\n", k, NCPUS);
    for (int i = 0; i < s->n; i++) {
        exec_of(&s->job[i], exec, sizeof exec);
        fprintf(f, "# costs %lld\njob %d workq R exec=%s stime=%lld\n", (long long)cost(&s->job[i]), i + 1,
                exec, (long long)s->job[i].start_s);
    }
    fprintf(f, "job %d express Q select=%d:ncpus=%d place=scatter\ncycle\n# costs %lld\npreempt %d", URGENT,
            s->want_nodes, s->want_ncpus, (long long)want->cost, URGENT);
    for (int i = 0; i < want->n; i++)
        fprintf(f, " %d", want->job[i] + 1);
    fprintf(f, "\nnothing\n");
}

/* Return how many jobs are left running. */
static size_t site_shrink(const struct site *s, right_fn *is_right, FILE *f)
{
    struct shrinking x = {s, is_right};
    bool keep[WIDE * NCPUS];
    struct choice want;

    for (int i = 0; i < s->n; i++)
        keep[i] = true;
    size_t left = ddmin(keep, (size_t)s->n, is_wrong, &x);
    struct site part = part_of(s, keep);
    is_right(&part, &want);
    site_write(&part, &want, f);
    return left;
}

static void assert_right(const struct site *s, right_fn *is_right, unsigned seed)
{
    struct choice want;

    if (is_right(s, &want))
        return;
    print_message("# seed %u: a scenario of it\n", seed);
    site_shrink(s, is_right, stdout);
    fail();
}

/* --- tests ------------------------------------------------------------------------------------------------ */

static bool is_best_of_few(const struct site *s, struct choice *want)
{
    int64_t now = decided(s, "least_lost_work").cost;

    *want = best_of(s);
    return now == want->cost || (now > want->cost && s->n > EXACT_JOBS);
}

static bool is_not_above_the_order_of_starts(const struct site *s, struct choice *want)
{
    int64_t now = decided(s, "least_lost_work").cost;

    *want = decided(s, "min_time_since_start");
    return now >= 0 && now <= want->cost;
}

static void what_is_chosen_costs_little_more_than_the_best_choice(void **state)
{
    int64_t chosen = 0, best = 0;
    int exact = 0;

    for (unsigned seed = 1; seed <= SITES; seed++) {
        struct site s;
        make_site(&s, seed);
        assert_right(&s, is_best_of_few, seed);
        int64_t now = decided(&s, "least_lost_work").cost, least = best_of(&s).cost;
        exact += now == least;
        chosen += now;
        best += least;
    }
    print_message("%d of %d choices are the best; all together cost %.3f of the best\n", exact, SITES,
                  (double)chosen / (double)best);
    assert_true((double)chosen <= 1.1 * (double)best);
}

static void never_more_is_lost_than_in_the_order_of_starts(void **state)
{
    int64_t chosen = 0, latest = 0;

    for (unsigned seed = 1; seed <= SITES; seed++) {
        struct site s;
        make_wide_site(&s, seed);
        assert_right(&s, is_not_above_the_order_of_starts, seed);
        chosen += decided(&s, "least_lost_work").cost;
        latest += decided(&s, "min_time_since_start").cost;
    }
    print_message("all together cost %.3f of PBS's order\n", (double)chosen / (double)latest);
}

/* A rule that is not true, "no victim is needed": its counter-example has as many jobs as must be there for one. */
static bool none_is_needed(const struct site *s, struct choice *want)
{
    *want = decided(s, "least_lost_work");
    return want->cost == 0;
}

static void a_counter_example_is_a_short_scenario(void **state)
{
    for (unsigned seed = 1; seed <= 10; seed++) {
        char path[] = "/tmp/pick_least_XXXXXX";
        struct site s;
        struct err e = {0};
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        FILE *f = fdopen(fd, "w");
        assert_non_null(f);
        make_site(&s, seed);
        size_t left = site_shrink(&s, none_is_needed, f);
        fclose(f);
        assert_in_range(left, 1, NODES * NCPUS - 1);
        if (scenario_play(path, &e) < 0)
            fail_msg("%s", e.text);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_chosen_costs_little_more_than_the_best_choice),
        cmocka_unit_test(never_more_is_lost_than_in_the_order_of_starts),
        cmocka_unit_test(a_counter_example_is_a_short_scenario)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
