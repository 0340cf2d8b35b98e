/* Preemptions under way, ended by one step a vnode, against the same by one step for each part: vnodes are alike afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cluster_gone.h"
#include "cluster_rows.h"
#include "cluster_settle.h"
#include "policy.h"
#include "sched_cluster.h"
#include "under_way.h"

enum { NODES = 6, ROUNDS = 300, PARTS = 4, JOBS = 3 };

struct shown { /* of a vnode */
    int64_t ncpus, mem, n_jobs;
    bool exclusive;
};

static void show(const struct cluster *cl, struct shown *out)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);

    assert_int_equal(n, NODES);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct shown){amounts_get(&nodes[i]->free, RES_NCPUS),
                                amounts_get(&nodes[i]->free, RES_MEM), nodes[i]->n_jobs, nodes[i]->exclusive};
}

static void assert_alike(const struct shown *a, const struct shown *b)
{
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(a[i].ncpus, b[i].ncpus);
        assert_int_equal(a[i].mem, b[i].mem);
        assert_int_equal(a[i].n_jobs, b[i].n_jobs);
        assert_int_equal(a[i].exclusive, b[i].exclusive);
    }
}

static void some_parts(const struct cluster *cl, struct allocation *out)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);

    for (int i = rand() % PARTS; i > 0; i--) {
        struct amounts use = {0};
        amounts_set(&use, RES_NCPUS, rand() % 3);
        if (rand() % 2)
            amounts_set(&use, RES_MEM, rand() % 100);
        allocation_add(out, nodes[(size_t)rand() % n], &use, false);
        amounts_fini(&use);
    }
}

static void under_way_test_round(const struct cluster *cl, struct trial *t)
{
    struct release_times l = {0};
    struct under_way u = {0};
    struct shown before[NODES], by_parts[NODES], at_once[NODES];
    size_t mark = trial_mark(t);

    some_parts(cl, &l.leave);
    some_parts(cl, &l.kept);
    some_parts(cl, &l.come);
    show(cl, before);
    trial_give_all(t, &l.leave);
    trial_give_all(t, &l.kept);
    trial_take_all(t, &l.come);
    show(cl, by_parts);
    trial_undo(t, mark);

    under_way_list(&u, &l);
    under_way_end(&u, t);
    show(cl, at_once);
    assert_true(trial_mark(t) - mark <= NODES);
    assert_alike(by_parts, at_once);
    trial_undo(t, mark);
    show(cl, at_once);
    assert_alike(before, at_once);

    under_way_fini(&u);
    release_times_fini(&l);
}

/* Vnodes with jobs on them, some of which are exclusive. */
static void fill(const struct cluster *cl, struct trial *t)
{
    static const struct amounts nothing = {0};
    size_t n;
    struct node *const *nodes = cluster_nodes(cl, &n);

    for (size_t i = 0; i < n; i++) {
        for (int k = rand() % JOBS; k > 0; k--)
            trial_take(t, nodes[i], &nothing);
        if (rand() % 2)
            trial_exclude(t, nodes[i]);
    }
}

static void one_step_a_vnode_does_what_a_step_for_each_part_does(void **state)
{
    struct policy p;
    char name[16];

    policy_init(&p);
    struct cluster *cl = cluster_create("default", &p);
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        cluster_rows(cl, CLUSTER_NODE, name,
                     (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                              {"resources_available", "mem", "1000kb"},
                                              {"state", NULL, "free"},
                                              {NULL}});
    }
    assert_true(cluster_settle(cl));
    struct trial *t = trial_create(cl);
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        fill(cl, t);
        under_way_test_round(cl, t);
        trial_undo(t, 0);
    }
    trial_destroy(t);
    cluster_gone_all(cl);
    cluster_destroy(cl);
    policy_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_a_vnode_does_what_a_step_for_each_part_does)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
