/* Which server is active: rows of what is seen, and what must be done about it. */
#include "failover_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const struct pair_look held = {.held = true, .epoch = 5}, is_free = {.epoch = 5},
                              left = {.epoch = 5, .left = 5};

static struct pair_look ordered(bool is_held, uint64_t epoch, const char *order)
{
    struct pair_look l = {.held = is_held, .epoch = epoch};

    snprintf(l.order, sizeof l.order, "%s", order);
    return l;
}

static void a_primary_takes_a_free_store_and_asks_for_one_that_is_held(void **state)
{
    struct failover_policy t;
    struct pair_look next = {.held = true, .epoch = 6};

    failover_policy_begin(&t, true, 30000);
    assert_int_equal(failover_policy_decide(&t, &is_free, 0), FAILOVER_POLICY_TAKE);
    failover_policy_begin(&t, true, 30000);
    assert_int_equal(failover_policy_decide(&t, &held, 0), FAILOVER_POLICY_ASK);
    assert_int_equal(failover_policy_decide(&t, &held, 500), FAILOVER_POLICY_WAIT); /* once */
    assert_int_equal(failover_policy_decide(&t, &next, 600), FAILOVER_POLICY_ASK);  /* another activation */
    assert_int_equal(failover_policy_decide(&t, &is_free, 1000), FAILOVER_POLICY_TAKE);
}

static void a_secondary_waits_while_the_store_is_held_and_then_its_delay(void **state)
{
    struct failover_policy t;

    failover_policy_begin(&t, false, 30000);
    assert_int_equal(failover_policy_decide(&t, &held, 0), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &is_free, 1000), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &is_free, 30999), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &held, 31000), FAILOVER_POLICY_WAIT); /* it came back */
    assert_int_equal(failover_policy_decide(&t, &is_free, 32000), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &is_free, 62000), FAILOVER_POLICY_TAKE);
}

static void nobody_waits_for_a_server_that_left_in_good_order(void **state)
{
    struct failover_policy t;
    struct pair_look old = {.epoch = 5, .left = 4};

    failover_policy_begin(&t, false, 30000);
    assert_int_equal(failover_policy_decide(&t, &held, 0), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &old, 1), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &left, 2), FAILOVER_POLICY_TAKE);
}

static void without_a_delay_a_free_store_is_taken_at_once(void **state)
{
    struct failover_policy t;

    failover_policy_begin(&t, false, -1000);
    assert_int_equal(failover_policy_decide(&t, &is_free, 0), FAILOVER_POLICY_TAKE);
}

static void who_yielded_gives_the_primary_time_whatever_its_delay(void **state)
{
    struct failover_policy t;

    failover_policy_begin(&t, false, -1000);
    failover_policy_again(&t, 5);
    assert_int_equal(failover_policy_decide(&t, &left, 0), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &left, FAILOVER_POLICY_YIELD_MS - 1), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &left, FAILOVER_POLICY_YIELD_MS), FAILOVER_POLICY_TAKE);
    failover_policy_again(&t, 4);
    assert_int_equal(failover_policy_decide(&t, &is_free, 0),
                     FAILOVER_POLICY_TAKE); /* the primary had its time: epoch 5 */
}

static void a_primary_that_lost_the_store_does_not_ask_for_it(void **state)
{
    struct failover_policy t;

    failover_policy_begin(&t, true, 1000);
    failover_policy_again(&t, 0);
    assert_int_equal(failover_policy_decide(&t, &held, 0), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &is_free, 1), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &is_free, 1001), FAILOVER_POLICY_TAKE);
}

static void an_order_is_obeyed_once_and_only_if_it_is_new(void **state)
{
    struct pair_look old = ordered(true, 5, "end 1"), new = ordered(true, 5, "end 2");
    struct failover_policy t;

    failover_policy_begin(&t, false, 0);
    assert_int_equal(failover_policy_decide(&t, &old, 0),
                     FAILOVER_POLICY_WAIT); /* it was an order to an earlier standby process */
    assert_int_equal(failover_policy_decide(&t, &old, 1), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &new, 2), FAILOVER_POLICY_END);
}

static void who_is_to_idle_takes_nothing_until_another_was_active(void **state)
{
    struct pair_look idle = ordered(true, 5, "idle 9"), gone = ordered(false, 5, "idle 9"),
                     next = ordered(true, 6, "idle 9"), gone_again = ordered(false, 6, "idle 9");
    struct failover_policy t;

    failover_policy_begin(&t, false, 0);
    assert_int_equal(failover_policy_decide(&t, &held, 0), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &idle, 1), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &gone, 2), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &gone, 1000000), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &next, 1000001), FAILOVER_POLICY_WAIT);
    assert_int_equal(failover_policy_decide(&t, &gone_again, 1000002), FAILOVER_POLICY_TAKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_primary_takes_a_free_store_and_asks_for_one_that_is_held),
        cmocka_unit_test(a_secondary_waits_while_the_store_is_held_and_then_its_delay),
        cmocka_unit_test(nobody_waits_for_a_server_that_left_in_good_order),
        cmocka_unit_test(without_a_delay_a_free_store_is_taken_at_once),
        cmocka_unit_test(who_yielded_gives_the_primary_time_whatever_its_delay),
        cmocka_unit_test(a_primary_that_lost_the_store_does_not_ask_for_it),
        cmocka_unit_test(an_order_is_obeyed_once_and_only_if_it_is_new),
        cmocka_unit_test(who_is_to_idle_takes_nothing_until_another_was_active),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
