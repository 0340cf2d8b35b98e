/* What all vnodes have beside reservations, as one sum, against the sum over each vnode: random reservations, jobs and vnodes that are
 * down, before and after jobs are placed in a trial and taken back, and after reservations go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "buckets.h"
#include "cluster_gone.h"
#include "cluster_rows.h"
#include "cluster_settle.h"
#include "keeps.h"
#include "policy.h"
#include "trial.h"

enum {
    NOW_S = 1000000,
    NODES = 8,
    NCPUS = 8,
    JOBS = 6,
    RESVS = 12,
    ROUNDS = 300,
    ASKERS = 12,
    LATEST_S = 5000
};

struct sums_world {
    unsigned seed;
    struct policy policy;
    struct cluster *cl;
    struct buckets *buckets;
    struct keeps *keeps;
    struct trial *trial;
    int n_meet, n_free; /* askers that would meet a reservation somewhere, or none */
};

static int sums_any(struct sums_world *w, int n)
{
    return (int)((unsigned)rand_r(&w->seed) % (unsigned)n);
}

static void sums_tell_nodes(struct sums_world *w)
{
    char name[16];

    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        cluster_rows(w->cl, CLUSTER_NODE, name,
                     (const char *const[][3]){{"resources_available", "ncpus", "8"},
                                              {"resources_available", "mem", "8000kb"},
                                              {"resources_assigned", "ncpus", i < JOBS ? "3" : "0"},
                                              {"state", NULL, sums_any(w, 6) ? "free" : "offline"},
                                              {NULL}});
    }
}

static void sums_tell_jobs(struct sums_world *w)
{
    char id[16], limit[16], exec[32];

    for (int i = 0; i < JOBS; i++) {
        snprintf(id, sizeof id, "%d.x", i);
        snprintf(limit, sizeof limit, "%d", 1 + sums_any(w, LATEST_S));
        snprintf(exec, sizeof exec, "(n%d:ncpus=3)", i);
        cluster_rows(w->cl, CLUSTER_JOB, id,
                     (const char *const[][3]){{"job_state", NULL, "R"},
                                              {"substate", NULL, "42"},
                                              {"queue", NULL, "workq"},
                                              {"schedselect", NULL, "1:ncpus=3"},
                                              {"Resource_List", "walltime", limit},
                                              {"stime", NULL, "1000000"},
                                              {"exec_vnode", NULL, exec},
                                              {NULL}});
    }
}

static void sums_tell_resvs(struct sums_world *w)
{
    char id[16], start[16], end[16], nodes[96];

    for (int i = 0; i < RESVS; i++) {
        int from_s = NOW_S + 1 + sums_any(w, LATEST_S);
        snprintf(id, sizeof id, "R%d.x", i);
        snprintf(start, sizeof start, "%d", from_s);
        snprintf(end, sizeof end, "%d", from_s + 1 + sums_any(w, 1000));
        snprintf(nodes, sizeof nodes, "(n%d:ncpus=%d:mem=%dkb)+(n%d:ncpus=%d)", sums_any(w, NODES),
                 1 + sums_any(w, NCPUS), sums_any(w, 3) * 500, sums_any(w, NODES), 1 + sums_any(w, NCPUS));
        cluster_rows(w->cl, CLUSTER_RESV, id,
                     (const char *const[][3]){{"reserve_state", NULL, "2"},
                                              {"reserve_start", NULL, start},
                                              {"reserve_end", NULL, end},
                                              {"schedselect", NULL, "2:ncpus=1"},
                                              {"resv_nodes", NULL, nodes},
                                              {NULL}});
    }
}

static void sums_compare(struct sums_world *w, const struct request *want, int64_t until_s)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(w->cl, &n);
    struct asker a = {.cl = w->cl,
                      .request = want,
                      .queue = cluster_queue(w->cl, "workq"),
                      .span = {SPAN_NOW, NOW_S, until_s}};
    struct amounts free_a = {0}, total_a = {0}, free_b = {0}, total_b = {0};

    assert_true(buckets_sum_beside(w->buckets, &a, &free_a, &total_a));
    for (size_t i = 0; i < n; i++) {
        struct amounts scratch = {0};
        amounts_add(&total_b, &nodes[i]->total);
        if (!nodes[i]->state && !nodes[i]->exclusive)
            amounts_add(&free_b, match_free(&a, nodes[i], &scratch));
        amounts_fini(&scratch);
    }
    bool meets = false;
    for (size_t i = 0; i < n; i++)
        meets = meets || match_is_kept(&a, nodes[i]);
    assert_int_equal(buckets_may_meet(w->buckets, &a), meets);
    *(meets ? &w->n_meet : &w->n_free) += 1;
    for (uint32_t i = 0; i < want->total.n; i++) {
        res_id res = want->total.a[i].res;
        assert_int_equal(amounts_get(&free_a, res), amounts_get(&free_b, res));
        assert_int_equal(amounts_get(&total_a, res), amounts_get(&total_b, res));
    }
    amounts_fini(&free_a);
    amounts_fini(&total_a);
    amounts_fini(&free_b);
    amounts_fini(&total_b);
}

static void sums_compare_all(struct sums_world *w, const struct request *want)
{
    for (int i = 0; i < ASKERS; i++)
        sums_compare(w, want, NOW_S + 1 + sums_any(w, LATEST_S + 1500));
    sums_compare(w, want, INT64_MAX);
}

static void sums_play(unsigned seed)
{
    struct sums_world w = {.seed = seed};
    struct request want = {0};
    char id[16];

    policy_init(&w.policy);
    w.cl = cluster_create("default", &w.policy);
    w.buckets = buckets_create(w.cl);
    w.keeps = keeps_create(w.cl);
    w.trial = trial_create(w.cl);
    cluster_rows(
        w.cl, CLUSTER_QUEUE, "workq",
        (const char *const[][3]){{"queue_type", NULL, "Execution"}, {"started", NULL, "True"}, {NULL}});
    sums_tell_nodes(&w);
    sums_tell_jobs(&w);
    sums_tell_resvs(&w);
    cluster_settle(w.cl);
    amounts_set(&want.total, RES_NCPUS, 1);
    amounts_set(&want.total, catalogue_find(cluster_catalogue(w.cl), "mem"), 1);
    keeps_make(w.keeps, NOW_S, INT64_MAX);
    sums_compare_all(&w, &want);
    for (int i = 0; i < 3; i++) {
        size_t n;
        trial_take(w.trial, cluster_nodes(w.cl, &n)[sums_any(&w, NODES)], &want.total);
        sums_compare_all(&w, &want);
    }
    trial_undo(w.trial, 0);
    sums_compare_all(&w, &want);
    for (int i = 0; i < RESVS; i += 2) {
        snprintf(id, sizeof id, "R%d.x", i);
        cluster_gone(w.cl, CLUSTER_RESV, id);
    }
    cluster_settle(w.cl);
    keeps_make(w.keeps, NOW_S, INT64_MAX);
    sums_compare_all(&w, &want);
    assert_true(w.n_meet > 0);
    amounts_fini(&want.total);
    trial_destroy(w.trial);
    cluster_gone_all(w.cl);
    cluster_destroy(w.cl);
    keeps_destroy(w.keeps);
    buckets_destroy(w.buckets);
    policy_fini(&w.policy);
}

static void the_sum_beside_reservations_is_that_of_the_vnodes(void **state)
{
    for (unsigned seed = 1; seed <= ROUNDS; seed++)
        sums_play(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_sum_beside_reservations_is_that_of_the_vnodes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
