/* What is counted of a job, by what the stream shows of it. */
#include "fairshare_accrual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "pbs_ifl.h"
#include "policy.h"
#include "cluster_order.h"
#include "cluster_gone.h"
#include "cluster_change.h"
#include "cluster_settle.h"

struct side {
    struct policy policy;
    struct cluster *cl;
    struct accrual *a;
};

static int begin(void **state)
{
    static struct side s;

    policy_init(&s.policy);
    s.policy.fair_share = true;
    s.policy.share_usage = strdup("1000 + walltime");
    s.policy.share_entity = SHARE_OF_USER;
    s.cl = cluster_create("default", &s.policy);
    s.a = accrual_create(s.cl);
    *state = &s;
    return 0;
}

static int end(void **state)
{
    struct side *s = *state;

    cluster_gone_all(s->cl);
    cluster_destroy(s->cl);
    accrual_destroy(s->a);
    policy_fini(&s->policy);
    return 0;
}

static void see(struct side *s, const char *job_state)
{
    static char names[][16] = {"job_state", "queue", "euser"}, nothing[1] = "";
    char values[][16] = {"", "workq", "anna"};
    struct attrl a[3] = {0};

    snprintf(values[0], sizeof values[0], "%s", job_state);
    for (size_t i = 0; i < 3; i++)
        a[i] = (struct attrl){
            .next = i < 2 ? &a[i + 1] : NULL, .name = names[i], .resource = nothing, .value = values[i]};
    cluster_change(s->cl, CLUSTER_JOB, "1.server", a);
    cluster_settle(s->cl);
}

static double used(struct side *s)
{
    return fairshare_usage(fairshare_entity(accrual_shares(s->a), "anna")) - 1;
}

static void a_job_that_is_deleted_while_it_waits_has_used_nothing(void **state)
{
    struct side *s = *state;

    see(s, "Q");
    cluster_gone(s->cl, CLUSTER_JOB, "1.server");
    assert_true(used(s) == 0);
    assert_false(accrual_take_news(s->a));
}

static void a_job_that_is_seen_running_counts_once(void **state)
{
    struct side *s = *state;

    see(s, "Q");
    see(s, "R");
    see(s, "E");
    cluster_gone(s->cl, CLUSTER_JOB, "1.server");
    assert_true(used(s) == 1000);
    assert_true(accrual_take_news(s->a));
}

static void order_to_run(struct side *s, bool taken)
{
    const struct allocation nowhere = {0};
    struct job *j;

    see(s, "Q");
    j = cluster_job(s->cl, "1.server");
    cluster_order(s->cl, j, ORDER_RUN, &nowhere);
    if (taken)
        cluster_order_taken(j);
    cluster_gone(s->cl, CLUSTER_JOB, "1.server");
}

static void a_run_that_was_over_before_it_was_seen_counts(void **state)
{
    order_to_run(*state, true);
    assert_true(used(*state) == 1000);
}

static void an_order_that_the_server_never_took_does_not_count(void **state)
{
    order_to_run(*state, false);
    assert_true(used(*state) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_that_is_deleted_while_it_waits_has_used_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_is_seen_running_counts_once, begin, end),
        cmocka_unit_test_setup_teardown(a_run_that_was_over_before_it_was_seen_counts, begin, end),
        cmocka_unit_test_setup_teardown(an_order_that_the_server_never_took_does_not_count, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
