/* The queues of the background, and when it must leave the time to others: without a loop and without a clock. */
#include "background.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void nothing(void *arg)
{
}

static char common[] = "c", soon[] = "s";

static void add(struct background *b, enum background_queue queue, char *name, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(background_add(b, queue, nothing, name), 0);
}

static void expect(struct background *b, const char *names)
{
    for (; *names; names++) {
        struct call *c = background_take(b);

        assert_non_null(c);
        assert_int_equal(*(const char *)c->arg, *names);
        free(c);
    }
}

static void calls_of_both_queues_alternate(void **state)
{
    struct background b;

    background_init(&b);
    add(&b, BACKGROUND_COMMON, common, 5);
    add(&b, BACKGROUND_SOON, soon, 2);
    expect(&b, "scscc");
    add(&b, BACKGROUND_SOON, soon, 2);
    expect(&b, "scsc");
    assert_false(background_has_calls(&b));
    assert_null(background_take(&b));
}

static void a_crowd_keeps_to_its_share_while_something_presses(void **state)
{
    struct background b;
    int64_t rests_us;

    background_init(&b);
    add(&b, BACKGROUND_COMMON, common, BACKGROUND_CROWD + 1);
    assert_true(background_is_free(&b, 1000, true));
    assert_false(background_is_free(&b, 1000, false));
    background_press(&b, 1000);
    assert_false(background_is_free(&b, 1000, true));
    assert_true(turn_share_slice(&b.share, 1000, false) > 0); /* what was saved may be had at once */
    assert_int_equal(background_rests_us(&b, 1000), 0);
    turn_share_spend(&b.share, 1000);
    rests_us = background_rests_us(&b, 1000);
    assert_in_range(rests_us, 3000, 4100);
    assert_int_equal(background_rests_us(&b, 1000 + rests_us), 0);
    assert_true(background_is_free(&b, 1000 + BACKGROUND_PRESS_US, true)); /* it does not press any more */
    background_drop(&b);
}

static void a_few_are_no_crowd(void **state)
{
    struct background b;

    background_init(&b);
    add(&b, BACKGROUND_COMMON, common, BACKGROUND_CROWD / 2);
    add(&b, BACKGROUND_SOON, soon, BACKGROUND_CROWD - BACKGROUND_CROWD / 2);
    background_press(&b, 1000);
    turn_share_spend(&b.share, 1000000);
    assert_true(background_is_free(&b, 1000, true));
    assert_int_equal(background_rests_us(&b, 1000), 0);
    background_forget(&b, nothing, common);
    background_drop(&b);
    assert_false(background_has_calls(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_both_queues_alternate),
        cmocka_unit_test(a_crowd_keeps_to_its_share_while_something_presses),
        cmocka_unit_test(a_few_are_no_crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
