/* The background's part of a turn, without a loop and without a clock. */
#include "turn_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* So many turns in which the others take others_us and background work never ends, in calls of call_us. What it worked,
 * in thousandths of all the time. */
static int64_t worked_of_1000(int turns, int64_t others_us, int64_t call_us)
{
    struct turn_share s = {0};
    int64_t all = 0, now_us = 0;

    for (int i = 0; i < turns; i++) {
        int64_t slice, us = 0;

        now_us += others_us;
        slice = turn_share_slice(&s, now_us, false);
        while (us < slice)
            us += call_us;
        turn_share_spend(&s, us);
        now_us += us;
        all += us;
    }
    return now_us ? all * 1000 / now_us : 0;
}

static void busy_others_leave_a_fifth_to_the_background(void **state)
{
    /* however long one of its calls is, or a turn */
    assert_in_range(worked_of_1000(1000, 400, 10), 195, 205);
    assert_in_range(worked_of_1000(1000, 400, 700), 195, 205);
    assert_in_range(worked_of_1000(10000, 20, 700), 195, 205);
}

static void free_turns_cost_nothing_and_end_a_debt(void **state)
{
    struct turn_share s = {0};

    assert_int_equal(turn_share_slice(&s, 50, false), 10);
    turn_share_spend(&s, 10000);
    assert_int_equal(turn_share_slice(&s, 100, false), 0);
    assert_int_equal(turn_share_slice(&s, 100, true), TURN_SHARE_SLICE_US);
    assert_int_equal(turn_share_slice(&s, 150, false), 10);
}

static void what_is_saved_of_earlier_turns_is_bounded(void **state)
{
    struct turn_share s = {0};

    assert_int_equal(turn_share_slice(&s, 1000000, false), TURN_SHARE_SAVED_MAX_US);
    assert_int_equal(turn_share_slice(&s, 9000000, false), TURN_SHARE_SAVED_MAX_US);
}

static void a_debt_says_how_long_it_takes_to_pay(void **state)
{
    struct turn_share s = {0};
    int64_t wait_us;

    assert_int_equal(turn_share_slice(&s, 50, false), 10);
    assert_int_equal(turn_share_wait_us(&s, 50), 0);
    turn_share_spend(&s, 100);
    wait_us = turn_share_wait_us(&s, 50);
    assert_in_range(wait_us, 450, 460);
    assert_int_equal(turn_share_slice(&s, 50 + wait_us - 1, false), 0);
    assert_int_equal(turn_share_wait_us(&s, 50 + wait_us), 0);
    assert_true(turn_share_slice(&s, 50 + wait_us, false) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_others_leave_a_fifth_to_the_background),
        cmocka_unit_test(free_turns_cost_nothing_and_end_a_debt),
        cmocka_unit_test(what_is_saved_of_earlier_turns_is_bounded),
        cmocka_unit_test(a_debt_says_how_long_it_takes_to_pay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
