#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "clock.h"

static void driven_clock_moves_only_when_driven(void **state)
{
    struct clock *c = clock_create_driven(1000000000LL * 5);

    assert_true(clock_is_driven(c));
    assert_int_equal(clock_wall_s(c), 5);
    assert_int_equal(clock_mono_ms(c), 0);
    assert_int_equal(clock_advance(c, 1500000000LL), 0);
    assert_int_equal(clock_wall_ms(c), 6500);
    assert_int_equal(clock_mono_ms(c), 1500);
    assert_int_equal(clock_advance(c, -1), -1);
    clock_destroy(c);
}

static void setting_back_leaves_monotonic_time(void **state)
{
    struct clock *c = clock_create_driven(1000000000LL * 100);

    assert_int_equal(clock_set(c, 1000000000LL * 40), 0);
    assert_int_equal(clock_wall_s(c), 40);
    assert_int_equal(clock_mono_ms(c), 0);
    assert_int_equal(clock_set(c, -1), 0);
    assert_int_equal(clock_wall_s(c), -1);
    clock_destroy(c);
}

static void real_clock_is_the_systems(void **state)
{
    struct clock *c = clock_real();
    int64_t before_s = time(NULL);
    int64_t mono_ms = clock_mono_ms(c);

    assert_false(clock_is_driven(c));
    assert_in_range(clock_wall_s(c), before_s - 1, before_s + 5);
    assert_true(clock_mono_ms(c) >= mono_ms);
    assert_int_equal(clock_set(c, 0), -1);
    clock_destroy(c);
}

static void a_steady_clock_goes_on_until_it_adopts_a_step(void **state)
{
    struct clock *c = clock_create_steady();
    int64_t before_s, hour_ns = 3600 * (int64_t)1000000000;

    assert_non_null(c);
    assert_false(clock_is_driven(c));
    assert_true(clock_lag_ns(c) < hour_ns && clock_lag_ns(c) > -hour_ns);
    before_s = clock_wall_s(c);
    clock_adopt(c, hour_ns);
    assert_in_range(clock_wall_s(c) - before_s, 3600, 3660);
    assert_true(clock_lag_ns(c) < -hour_ns / 2);
    clock_adopt(c, -hour_ns);
    assert_in_range(clock_wall_s(c) - before_s, 0, 60);
    assert_int_equal(clock_lag_ns(clock_real()), 0);
    clock_destroy(c);
}

static void the_nearest_second_is_found_on_either_side_of_zero(void **state)
{
    const int64_t s = 1000000000;

    assert_int_equal(clock_nearest_s(5 * s - 1), 5);
    assert_int_equal(clock_nearest_s(5 * s + 1), 5);
    assert_int_equal(clock_nearest_s(-5 * s + 1), -5);
    assert_int_equal(clock_nearest_s(-5 * s - 1), -5);
    assert_int_equal(clock_nearest_s(s / 2), 1);
    assert_int_equal(clock_nearest_s(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_second_is_found_on_either_side_of_zero),
        cmocka_unit_test(a_steady_clock_goes_on_until_it_adopts_a_step),
        cmocka_unit_test(driven_clock_moves_only_when_driven),
        cmocka_unit_test(setting_back_leaves_monotonic_time),
        cmocka_unit_test(real_clock_is_the_systems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
