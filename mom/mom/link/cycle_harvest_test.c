#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cycle_harvest.h"

enum { IDLE = 1800, INUSE = 20 };

static void look(struct cycle_harvest_user *p, double now, double last)
{
    cycle_harvest_note_input(p, now, last, IDLE, INUSE);
}

static void one_key_is_nobody_who_works(void **state)
{
    struct cycle_harvest_user p = {.known = true};

    for (double now = 1000; now < 1100; now++) {
        look(&p, now, 1000);
        assert_false(p.works);
    }
}

static void who_goes_on_for_a_while_works_until_nothing_has_happened_for_long(void **state)
{
    struct cycle_harvest_user p = {.known = true};

    for (double now = 1000; now < 1020; now++) {
        look(&p, now, now - (int)now % 8); /* as the kernel rounds it */
        assert_false(p.works);
    }
    look(&p, 1021, 1016);
    assert_true(p.works);
    look(&p, 1016 + IDLE - 1, 1016);
    assert_true(p.works);
    look(&p, 1016 + IDLE, 1016);
    assert_false(p.works);
}

static void at_first_only_a_host_that_was_idle_for_long_is_nobodys(void **state)
{
    struct cycle_harvest_user p = {0}, q = {0};

    look(&p, 5000, 5001 - IDLE);
    assert_true(p.works);
    look(&q, 5000, 5000 - IDLE);
    assert_false(q.works);
}

static void without_any_device_nobody_works(void **state)
{
    struct cycle_harvest_user p = {0};

    look(&p, 1000000, 0);
    assert_false(p.works);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key_is_nobody_who_works),
        cmocka_unit_test(who_goes_on_for_a_while_works_until_nothing_has_happened_for_long),
        cmocka_unit_test(at_first_only_a_host_that_was_idle_for_long_is_nobodys),
        cmocka_unit_test(without_any_device_nobody_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
