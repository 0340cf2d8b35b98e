/* The interval of -c auto, against values computed by hand from the papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ckpt_interval.h"

enum { HOUR = 3600, DAY = 86400 };

static void it_is_dalys_interval(void **state)
{
    /* C = 300 s, M = 24 h: C/2M = 0.001736, sqrt 0.041667; 7200 (1 + 0.013889 + 0.000193) - 300 */
    assert_int_equal(ckpt_interval_s(300, 1.0 / DAY, 0), 7001);
    /* C = 1 s, M = 24 h: Young's is 415.7, Daly's a little less, as C is taken away */
    assert_in_range(ckpt_interval_s(1, 1.0 / DAY, 0), 414, 415);
}

static void where_saving_costs_more_than_a_loss_it_is_the_time_between_losses(void **state)
{
    assert_int_equal(ckpt_interval_s(2 * HOUR, 1.0 / HOUR, 0), HOUR);
    assert_int_equal(ckpt_interval_s(100 * HOUR, 1.0 / HOUR, 0), HOUR);
}

static void the_least_of_the_queue_bounds_it(void **state)
{
    assert_int_equal(ckpt_interval_s(1, 1.0 / DAY, 600), 600);
    assert_in_range(ckpt_interval_s(300, 1.0 / DAY, 600), 601, 7200);
}

static void it_falls_with_more_losses_and_rises_with_the_cost(void **state)
{
    int64_t last = INT64_MAX;

    for (double rate = 1e-7; rate < 1e-2; rate *= 10) {
        int64_t now = ckpt_interval_s(5, rate, 0);

        assert_true(now > 0 && now < last);
        last = now;
    }
    last = 0;
    for (double cost = 0.01; cost < 1000; cost *= 10) {
        int64_t now = ckpt_interval_s(cost, 1.0 / DAY, 0);

        assert_true(now > last);
        last = now;
    }
}

static void the_rate_is_the_prior_until_something_was_seen(void **state)
{
    struct ckpt_losses l = {0};

    assert_true(ckpt_losses_rate(&l, DAY) == 1.0 / DAY);
    ckpt_losses_add(&l, 0, 9 * DAY); /* quiet days make it rarer */
    assert_true(ckpt_losses_rate(&l, DAY) == 1.0 / (10 * DAY));
    ckpt_losses_add(&l, 9, 0);
    assert_true(ckpt_losses_rate(&l, DAY) == 1.0 / DAY);
    ckpt_losses_add(&l, 0, -5); /* a clock that was set back */
    assert_true(l.seconds == 9 * DAY);
}

static void what_is_old_counts_less_and_less(void **state)
{
    struct ckpt_losses l = {.lost = 1000, .seconds = 1000.0 * HOUR};
    double before = l.lost / l.seconds;

    ckpt_losses_add(&l, 1, HOUR);
    assert_true(l.lost < 501 && l.lost / l.seconds - before < 1e-9);
    for (int i = 0; i < 100000; i++)
        ckpt_losses_add(&l, 1, 60);
    assert_true(l.lost <= 1001 && l.seconds <= 864e6);
    assert_true(ckpt_losses_rate(&l, DAY) >
                1.0 / 400); /* it has followed the site: once a minute, beside the prior */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_dalys_interval),
        cmocka_unit_test(where_saving_costs_more_than_a_loss_it_is_the_time_between_losses),
        cmocka_unit_test(the_least_of_the_queue_bounds_it),
        cmocka_unit_test(it_falls_with_more_losses_and_rises_with_the_cost),
        cmocka_unit_test(the_rate_is_the_prior_until_something_was_seen),
        cmocka_unit_test(what_is_old_counts_less_and_less),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
