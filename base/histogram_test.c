#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "histogram.h"

static void a_bound_belongs_to_its_bucket(void **state)
{
    struct histogram h = {0};

    histogram_add(&h, 100);
    histogram_add(&h, 101);
    assert_int_equal(h.in[0], 1);
    assert_int_equal(h.in[1], 1);
}

static void what_is_beyond_all_bounds_is_counted(void **state)
{
    struct histogram h = {0};

    histogram_add(&h, INT64_C(30000001));
    assert_int_equal(h.in[HISTOGRAM_BOUNDS], 1);
    assert_int_equal(histogram_count(&h), 1);
    assert_int_equal(h.us, 30000001);
}

static void a_time_below_zero_counts_as_none(void **state)
{
    struct histogram h = {0};

    histogram_add(&h, -5);
    assert_int_equal(h.in[0], 1);
    assert_int_equal(h.us, 0);
}

static void bounds_ascend(void **state)
{
    for (int i = 1; i <= HISTOGRAM_BOUNDS; i++)
        assert_true(histogram_bounds[i - 1].us < histogram_bounds[i].us);
}

static void a_bound_is_called_by_its_seconds(void **state)
{
    for (int i = 0; i < HISTOGRAM_BOUNDS; i++)
        assert_int_equal(lround(strtod(histogram_bounds[i].text_s, NULL) * 1e6), histogram_bounds[i].us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_belongs_to_its_bucket),
        cmocka_unit_test(what_is_beyond_all_bounds_is_counted),
        cmocka_unit_test(a_time_below_zero_counts_as_none),
        cmocka_unit_test(bounds_ascend),
        cmocka_unit_test(a_bound_is_called_by_its_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
