#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ledger.h"
#include "strbuf.h"

enum { AT = 1000000 * 60 };

static void what_was_spent_counts_for_an_hour(void **state)
{
    struct ledger l = {0};

    ledger_add(&l, AT, 10);
    ledger_add(&l, AT + 59, 5);
    ledger_add(&l, AT + 60, 1);
    assert_int_equal(l.n, 2);
    assert_true(ledger_sum(&l, AT + 60) == 16);
    assert_true(ledger_sum(&l, AT + 3659) == 16);
    assert_int_equal(ledger_next_s(&l, AT + 3659), AT + 3660);
    assert_true(ledger_sum(&l, AT + 3660) == 1);
    assert_true(ledger_sum(&l, AT + 3720) == 0);
    assert_int_equal(ledger_next_s(&l, AT + 3720), 0);
}

static void an_hour_of_spending_has_room(void **state)
{
    struct ledger l = {0};

    for (int minute = 0; minute < 200; minute++)
        ledger_add(&l, AT + 60 * minute, 1);
    assert_true(l.n <= LEDGER_MINUTES);
    assert_true(ledger_sum(&l, AT + 60 * 199) == 61);
    ledger_add(&l, AT, 7); /* a clock that was set back */
    assert_true(ledger_sum(&l, AT + 60 * 199) == 68);
}

static void its_text_reads_back_and_bad_text_is_left_out(void **state)
{
    struct ledger l = {0}, back;
    struct strbuf b;

    ledger_add(&l, AT, 10.5);
    ledger_add(&l, AT + 600, 2);
    strbuf_init(&b, 1000);
    assert_int_equal(ledger_format(&l, &b), 0);
    assert_string_equal(strbuf_str(&b), "1000000=10.5 1000010=2.0");
    ledger_parse(strbuf_str(&b), &back);
    assert_true(back.n == 2 && ledger_sum(&back, AT) == 12.5);
    strbuf_fini(&b);
    ledger_parse("x 5 7=-3 9=nan 1000000=4 1000000=5 3=1 =", &back);
    assert_true(back.n == 1 && ledger_sum(&back, AT) == 4);
    ledger_parse(NULL, &back);
    assert_int_equal(back.n, 0);
}

static void what_was_not_spent_goes_back_into_its_minute(void **state)
{
    struct ledger l = {0};

    ledger_add(&l, AT, 10.5);
    ledger_add(&l, AT + 600, 2);
    ledger_take_back(&l, AT + 600, 1.5);
    assert_true(ledger_sum(&l, AT) == 11);
    ledger_take_back(&l, AT, 10.5);
    assert_true(l.n == 1 && ledger_sum(&l, AT) == 0.5);
    ledger_take_back(&l, AT, 3); /* that minute has gone */
    ledger_take_back(&l, AT + 600, 3);
    assert_int_equal(l.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_spent_counts_for_an_hour),
        cmocka_unit_test(an_hour_of_spending_has_room),
        cmocka_unit_test(what_was_not_spent_goes_back_into_its_minute),
        cmocka_unit_test(its_text_reads_back_and_bad_text_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
