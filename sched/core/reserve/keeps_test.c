/* What making the lists of vnodes costs, in lists made; and which exec_vnode of a sequence belongs to which occurrence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "cluster_rows.h"
#include "keeps.h"
#include "policy.h"
#include "sched_cluster.h"
#include "cluster_gone.h"
#include "cluster_settle.h"

enum { NOW_S = 1000000, NODES = 6 };

static void tell_node(struct cluster *cl, int i)
{
    char name[16];

    snprintf(name, sizeof name, "n%d", i);
    cluster_rows(
        cl, CLUSTER_NODE, name,
        (const char *const[][3]){{"resources_available", "ncpus", "8"}, {"state", NULL, "free"}, {NULL}});
}

static void tell_resv_at(struct cluster *cl, const char *id, const char *nodes, int from_s)
{
    char start[16], end[16];

    snprintf(start, sizeof start, "%d", from_s);
    snprintf(end, sizeof end, "%d", from_s + 600);
    cluster_rows(cl, CLUSTER_RESV, id,
                 (const char *const[][3]){{"reserve_state", NULL, "2"},
                                          {"reserve_start", NULL, start},
                                          {"reserve_end", NULL, end},
                                          {"schedselect", NULL, "1:ncpus=8"},
                                          {"resv_nodes", NULL, nodes},
                                          {NULL}});
}

static void tell_resv(struct cluster *cl, const char *id, const char *nodes)
{
    tell_resv_at(cl, id, nodes, NOW_S + 600);
}

static struct cluster *a_cluster(struct policy *p)
{
    struct cluster *cl;

    policy_init(p);
    cl = cluster_create("default", p);
    for (int i = 0; i < NODES; i++)
        tell_node(cl, i);
    return cl;
}

static void a_list_is_made_again_only_where_something_has_changed(void **state)
{
    struct policy policy;
    struct cluster *cl = a_cluster(&policy);
    struct keeps *k = keeps_create(cl);

    tell_resv(cl, "R1.svr", "(n1:ncpus=8)");
    tell_resv(cl, "R2.svr", "(n2:ncpus=8)+(n3:ncpus=2)");
    cluster_settle(cl);
    keeps_make(k, NOW_S, NOW_S + 5000);
    assert_int_equal(keeps_swept(k), 3);
    keeps_make(k, NOW_S + 10, NOW_S + 100);
    keeps_make(k, NOW_S + 20, INT64_MAX);
    assert_int_equal(keeps_swept(k), 3);
    tell_resv(cl, "R3.svr", "(n3:ncpus=4)");
    cluster_settle(cl);
    keeps_added(k, cluster_resv(cl, "R3.svr"));
    assert_int_equal(keeps_swept(k), 4); /* n3 alone */
    assert_int_equal(cluster_node(cl, "n3")->keeps[0].share.a[0].n, 6);
    keeps_make(k, NOW_S + 30, INT64_MAX);
    assert_int_equal(keeps_swept(k), 4);
    cluster_gone_all(cl);
    cluster_destroy(cl);
    keeps_destroy(k);
    policy_fini(&policy);
}

static bool keeps_test_is_alike(const struct cluster *cl, const char *a, const char *b)
{
    return cluster_node(cl, a)->keeps_look == cluster_node(cl, b)->keeps_look;
}

static void vnodes_are_alike_where_no_job_that_waits_tells_their_begins_apart(void **state)
{
    static const int64_t short_and_long[] = {NOW_S + 500, NOW_S + 5000},
                         between[] = {NOW_S + 700, NOW_S + 5000};
    struct policy policy;
    struct cluster *cl = a_cluster(&policy);
    struct keeps *k = keeps_create(cl);

    tell_resv_at(cl, "R1.svr", "(n1:ncpus=8)", NOW_S + 600);
    tell_resv_at(cl, "R2.svr", "(n2:ncpus=8)", NOW_S + 900);
    tell_resv_at(cl, "R3.svr", "(n3:ncpus=4)", NOW_S + 900);
    cluster_settle(cl);
    keeps_make(k, NOW_S, NOW_S + 5000);
    assert_false(keeps_test_is_alike(cl, "n1", "n2"));
    keeps_spans(k, short_and_long, 2);
    keeps_make(k, NOW_S, NOW_S + 5000);
    assert_true(keeps_test_is_alike(cl, "n1", "n2"));
    assert_false(keeps_test_is_alike(cl, "n2", "n3"));
    assert_false(keeps_test_is_alike(cl, "n1", "n4"));
    keeps_spans(k, between, 2); /* a job of 700 s may run on n2, and not on n1 */
    keeps_make(k, NOW_S, NOW_S + 5000);
    assert_false(keeps_test_is_alike(cl, "n1", "n2"));
    keeps_spans(k, short_and_long, 2);
    keeps_make(k, NOW_S, INT64_MAX); /* anyone may ask */
    assert_false(keeps_test_is_alike(cl, "n1", "n2"));
    assert_int_equal(keeps_swept(k), 3);
    cluster_gone_all(cl);
    cluster_destroy(cl);
    keeps_destroy(k);
    policy_fini(&policy);
}

static void a_sequence_begins_with_the_occurrence_at_which_it_was_confirmed(void **state)
{
    struct policy policy;
    struct cluster *cl = a_cluster(&policy);
    const struct resv *r;

    cluster_rows(cl, CLUSTER_RESV, "S4.svr",
                 (const char *const[][3]){
                     {"reserve_state", NULL, "2"},
                     {"reserve_start", NULL, "1000600"},
                     {"reserve_end", NULL, "1001200"},
                     {"reserve_duration", NULL, "600"},
                     {"reserve_standing_revert", NULL, "900"},
                     {"reserve_index", NULL, "3"},
                     {"reserve_first", NULL, "2"},
                     {"reserve_count", NULL, "4"},
                     {"reserve_starts", NULL, "1000600,1087000"},
                     {"schedselect", NULL, "1:ncpus=8"},
                     {"reserve_execvnodes", NULL, "3#(n1:ncpus=8){0}(n2:ncpus=8){1}(n3:ncpus=8){2}"},
                     {NULL}});
    cluster_settle(cl);
    r = cluster_resv(cl, "S4.svr");
    assert_int_equal(r->n_times, 2);
    assert_ptr_equal(r->times[0].where.a[0].node, cluster_node(cl, "n2"));
    assert_ptr_equal(r->times[1].where.a[0].node, cluster_node(cl, "n3"));
    assert_int_equal(r->times[0].to_s, 1001200);
    assert_int_equal(r->times[1].to_s, 1087900); /* the present one was altered */
    cluster_gone_all(cl);
    cluster_destroy(cl);
    policy_fini(&policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_made_again_only_where_something_has_changed),
        cmocka_unit_test(vnodes_are_alike_where_no_job_that_waits_tells_their_begins_apart),
        cmocka_unit_test(a_sequence_begins_with_the_occurrence_at_which_it_was_confirmed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
