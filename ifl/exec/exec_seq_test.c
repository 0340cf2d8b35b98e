/* Events once and in order, whatever is lost, repeated or reversed on the way. */
#include "exec_seq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void numbers_have_no_gaps(void **state)
{
    struct exec_seq s = {0};

    (void)state;
    assert_true(exec_seq_is_done(&s));
    assert_int_equal(exec_seq_next(&s), 1);
    assert_int_equal(exec_seq_next(&s), 2);
    assert_true(exec_seq_has_unsent(&s));
    s.sent = 2;
    assert_false(exec_seq_has_unsent(&s));
    assert_true(exec_seq_ack(&s, 1));
    assert_false(exec_seq_ack(&s, 1));
    assert_false(exec_seq_is_done(&s));
    exec_seq_rewind(&s);
    assert_int_equal(s.sent, 1);
    assert_true(exec_seq_ack(&s, 99));
    assert_int_equal(s.acked, 2);
    assert_int_equal(s.sent, 2);
    assert_true(exec_seq_is_done(&s));
}

/* Every order of three events, each sent twice: applied once each when the sender goes back after a gap. */
static void applied_once_in_order(void **state)
{
    static const uint64_t orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    int o, again, i;

    (void)state;
    for (o = 0; o < 6; o++) {
        uint64_t applied = 0;
        int n = 0;

        for (again = 0; again < 3; again++)
            for (i = 0; i < 3; i++) {
                uint64_t before = applied;
                enum exec_seq_verdict v = exec_seq_take(&applied, orders[o][i]);

                n += v == EXEC_SEQ_APPLY;
                assert_true((v == EXEC_SEQ_APPLY) == (applied == before + 1));
                assert_true((v == EXEC_SEQ_REPEAT) == (orders[o][i] <= before));
            }
        assert_int_equal(applied, 3);
        assert_int_equal(n, 3);
    }
}

static void late_outcomes_do_not_count(void **state)
{
    (void)state;
    assert_true(exec_seq_is_current(4, 4));
    assert_false(exec_seq_is_current(4, 3));
    assert_true(exec_seq_is_current(4, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_no_gaps),
        cmocka_unit_test(applied_once_in_order),
        cmocka_unit_test(late_outcomes_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
