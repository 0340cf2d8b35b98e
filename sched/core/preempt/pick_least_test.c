/* The quick way of choosing victims against the best there is, on many small sites made at random; and against PBS's
 * order on larger ones, where the best is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cycle.h"
#include "mem.h"
#include "pbs_ifl.h"
#include "cluster_rows.h"
#include "cluster_settle.h"

enum { NODES = 4, WIDE = 16, NCPUS = 4, NOW_S = 1000000, SITES = 60 };

struct running {
    int node, ncpus, nodes; /* it is on so many, from `node` on */
    int64_t start_s;
};

struct site {
    struct running job[WIDE * NCPUS];
    int n, nodes, used[WIDE];
    int want_nodes, want_ncpus;
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
static int64_t cheapest_on(const struct site *s, int node)
{
    int index[NCPUS], n = 0;
    int64_t best = INT64_MAX;

    for (int i = 0; i < s->n; i++)
        if (s->job[i].node == node)
            index[n++] = i;
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        int64_t sum = 0;
        int freed = 0;
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) {
                sum += cost(&s->job[index[i]]);
                freed += s->job[index[i]].ncpus;
            }
        if (freed >= s->want_ncpus && sum < best)
            best = sum;
    }
    return best;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int64_t best_of(const struct site *s)
{
    int64_t each[NODES], sum = 0;

    for (int k = 0; k < NODES; k++)
        each[k] = cheapest_on(s, k);
    qsort(each, NODES, sizeof each[0], by_number);
    for (int k = 0; k < s->want_nodes; k++)
        sum += each[k];
    return sum;
}

/* --- the same site as the core sees it ------------------------------------------------------------------ */

static void tell_site(struct cluster *cl, const struct site *s, const char *sort)
{
    char name[16], exec[128], start[32], select[64];

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
        cluster_rows(cl, CLUSTER_NODE, name,
                     (const char *const[][3]){{"resources_available", "ncpus", "4"},
                                              {"resources_assigned", "ncpus", "4"},
                                              {NULL}});
    }
    for (int i = 0; i < s->n; i++) {
        snprintf(name, sizeof name, "%d", i + 1);
        size_t at = 0;
        for (int k = 0; k < s->job[i].nodes; k++)
            at += (size_t)snprintf(exec + at, sizeof exec - at, "%s(n%d:ncpus=%d)", k ? "+" : "",
                                   s->job[i].node + k, s->job[i].ncpus);
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

/* What the chosen ones cost, by one value of preempt_sort; -1: none is chosen. */
static int64_t decided(const struct site *s, const char *sort)
{
    struct policy policy;
    struct decisions d = {0};
    int64_t sum = -1;

    policy_init(&policy);
    policy.preemptive = true;
    struct cycle *c = cycle_create("default", &policy);
    tell_site(cycle_cluster(c), s, sort);
    assert_true(cluster_settle(cycle_cluster(c)));
    cycle_run(c, NOW_S, &d);
    for (size_t i = 0; i < d.n; i++)
        if (d.a[i].kind == DECIDE_PREEMPT) {
            sum = 0;
            for (size_t k = 0; k < d.a[i].n_names; k++)
                sum += cost(&s->job[atoi(d.a[i].names[k]) - 1]);
        }
    decisions_fini(&d);
    cycle_destroy(c);
    policy_fini(&policy);
    return sum;
}

static void what_is_chosen_costs_little_more_than_the_best_choice(void **state)
{
    int64_t chosen = 0, best = 0;
    int exact = 0;

    for (unsigned seed = 1; seed <= SITES; seed++) {
        struct site s;
        make_site(&s, seed);
        int64_t now = decided(&s, "least_lost_work"), least = best_of(&s);
        assert_true(now >= least); /* also: something was decided */
        if (s.n <= 14)
            assert_int_equal(now, least);
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
        int64_t now = decided(&s, "least_lost_work"), pbs = decided(&s, "min_time_since_start");
        assert_in_range(now, 0, pbs);
        chosen += now;
        latest += pbs;
    }
    print_message("all together cost %.3f of PBS's order\n", (double)chosen / (double)latest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_chosen_costs_little_more_than_the_best_choice),
        cmocka_unit_test(never_more_is_lost_than_in_the_order_of_starts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
