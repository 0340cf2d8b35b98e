#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stopwatch.h"

static void suspended_time_does_not_count(void **state)
{
    struct stopwatch w = {.limit_ms = 1000};

    assert_int_equal(stopwatch_left_ms(&w, 5), -1);
    stopwatch_start(&w, 100);
    assert_int_equal(stopwatch_left_ms(&w, 600), 501);
    stopwatch_stop(&w, 700);
    assert_int_equal(stopwatch_left_ms(&w, 90000), -1);
    assert_int_equal(stopwatch_read_ms(&w, 90000), 600);
    stopwatch_start(&w, 100000);
    stopwatch_start(&w, 100100); /* again: nothing */
    assert_int_equal(stopwatch_left_ms(&w, 100400), 1);
    assert_int_equal(stopwatch_left_ms(&w, 100401), 0);
    assert_int_equal(stopwatch_left_ms(&w, 200000), 0);
}

static void a_new_limit_holds_at_once_and_none_never_ends(void **state)
{
    struct stopwatch w = {.limit_ms = 1000};

    stopwatch_start(&w, 0);
    w.limit_ms = 5000;
    assert_int_equal(stopwatch_left_ms(&w, 2000), 3001);
    w.limit_ms = 0;
    assert_int_equal(stopwatch_left_ms(&w, 999999), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suspended_time_does_not_count),
        cmocka_unit_test(a_new_limit_holds_at_once_and_none_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
