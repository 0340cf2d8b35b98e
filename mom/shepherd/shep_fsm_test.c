#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shep_fsm.h"

static void from_every_state_a_job_can_be_brought_to_its_end(void **state)
{
    static const enum shep_event way[] = {SHEP_EV_LAUNCHED, SHEP_EV_KILL, SHEP_EV_ALL_ENDED, SHEP_EV_CLOSE};

    for (int s = 0; s < SHEP_STATE_COUNT; s++) {
        enum shep_state at = (enum shep_state)s;

        for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
            const struct shep_row *r = shep_fsm_find(at, way[i]);

            if (r)
                at = r->next;
        }
        assert_int_equal(at, SHEP_CLOSED);
    }
}

static void the_end_is_recorded_once_on_every_path(void **state)
{
    for (int s = 0; s < SHEP_STATE_COUNT; s++)
        for (int ev = 0; ev < SHEP_EVENT_COUNT; ev++) {
            const struct shep_row *r = shep_fsm_find((enum shep_state)s, (enum shep_event)ev);

            if (!r)
                continue;
            assert_int_equal(r->action == SHEP_ACT_RECORD, r->next == SHEP_ENDED);
            assert_true(r->next >= r->state || s == SHEP_WITHDRAWN); /* nothing else goes back */
            assert_false(s == SHEP_CLOSED);
        }
}

static void a_repeated_order_leaves_the_grace_and_a_harder_one_ends_it(void **state)
{
    assert_int_equal(shep_fsm_find(SHEP_RUNNING, SHEP_EV_TERMINATE)->action, SHEP_ACT_TERM);
    assert_null(shep_fsm_find(SHEP_STOPPING, SHEP_EV_TERMINATE));
    assert_int_equal(shep_fsm_find(SHEP_STOPPING, SHEP_EV_KILL)->action, SHEP_ACT_KILL);
    assert_null(shep_fsm_find(SHEP_ENDED, SHEP_EV_TERMINATE));
}

static void a_withdrawn_order_kills_nothing_unless_the_first_process_ends(void **state)
{
    assert_int_equal(shep_fsm_find(SHEP_STOPPING, SHEP_EV_WITHDRAW)->next, SHEP_WITHDRAWN);
    assert_int_equal(shep_fsm_find(SHEP_WITHDRAWN, SHEP_EV_GRACE_OVER)->next, SHEP_RUNNING);
    assert_int_equal(shep_fsm_find(SHEP_WITHDRAWN, SHEP_EV_MAIN_ENDED)->next, SHEP_STOPPING);
    assert_int_equal(shep_fsm_find(SHEP_WITHDRAWN, SHEP_EV_TERMINATE)->action, SHEP_ACT_TERM);
    for (int s = 0; s < SHEP_STATE_COUNT; s++)
        assert_int_equal(s == SHEP_STOPPING, shep_fsm_find((enum shep_state)s, SHEP_EV_WITHDRAW) != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_every_state_a_job_can_be_brought_to_its_end),
        cmocka_unit_test(the_end_is_recorded_once_on_every_path),
        cmocka_unit_test(a_withdrawn_order_kills_nothing_unless_the_first_process_ends),
        cmocka_unit_test(a_repeated_order_leaves_the_grace_and_a_harder_one_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
