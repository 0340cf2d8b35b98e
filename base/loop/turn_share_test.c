/* The background's part of a turn, without a loop and without a clock. */
#include "turn_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* So many turns in which the others take others_us and background work never ends, in calls of call_us. */
static int64_t worked_us(int turns, int64_t others_us, int64_t call_us)
{
    struct turn_share s = {0};
    int64_t all = 0;

    for (int i = 0; i < turns; i++) {
        int64_t slice = turn_share_slice(&s, others_us, false), us = 0;

        while (us < slice)
            us += call_us;
        turn_share_spend(&s, us);
        all += us;
    }
    return all;
}

static void busy_others_leave_a_fifth_to_the_background(void **state)
{
    (void)state;
    /* 1,000 turns of 400 us: 100 us each for the background, however long one of its calls is */
    assert_in_range(worked_us(1000, 400, 10), 99000, 101000);
    assert_in_range(worked_us(1000, 400, 700), 99000, 101000);
    assert_in_range(worked_us(1000, 20, 700), 4000, 6000);
    assert_in_range(worked_us(10, 40000, 10), 99000, 101000); /* long turns, too */
}

static void idle_turns_are_free_and_end_a_debt(void **state)
{
    struct turn_share s = {0};

    (void)state;
    assert_int_equal(turn_share_slice(&s, 40, false), 10);
    turn_share_spend(&s, 10000);
    assert_int_equal(turn_share_slice(&s, 40, false), 0);
    assert_int_equal(turn_share_slice(&s, 0, true), TURN_SHARE_SLICE_US);
    assert_int_equal(turn_share_slice(&s, 40, false), 10);
}

static void what_is_saved_of_earlier_turns_is_bounded(void **state)
{
    struct turn_share s = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        turn_share_slice(&s, 400, false);
    assert_int_equal(turn_share_slice(&s, 400, false), TURN_SHARE_SAVED_MAX_US + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_others_leave_a_fifth_to_the_background),
        cmocka_unit_test(idle_turns_are_free_and_end_a_debt),
        cmocka_unit_test(what_is_saved_of_earlier_turns_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
