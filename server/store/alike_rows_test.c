/* Rows with the same text in both columns are like one of the last; others are not, whatever they have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "alike_rows.h"

static const struct attr_list *alike_rows_test_find(const struct alike_rows *r, const char *fixed,
                                                    const char *attrs)
{
    return alike_rows_find(r, fixed, strlen(fixed), attrs, strlen(attrs));
}

static void alike_rows_test_keep(struct alike_rows *r, const char *fixed, const char *attrs,
                                 const struct attr_list *l)
{
    alike_rows_keep(r, fixed, strlen(fixed), attrs, strlen(attrs), l);
}

static void both_columns_must_be_the_same(void **state)
{
    struct alike_rows r = {0};
    struct attr_list l = {0};

    assert_null(alike_rows_test_find(&r, "{}", "{}"));
    alike_rows_test_keep(&r, "{\"A\":1}", "{}", &l);
    assert_ptr_equal(alike_rows_test_find(&r, "{\"A\":1}", "{}"), &l);
    assert_null(alike_rows_test_find(&r, "{}", "{\"A\":1}"));
    assert_null(alike_rows_test_find(&r, "{\"A\":1}{", "}")); /* the same bytes, in other columns */
    assert_null(alike_rows_test_find(&r, "{\"A\":2}", "{}"));
    assert_null(alike_rows_test_find(&r, "{\"A\":1}", "[]"));
    assert_null(alike_rows_test_find(&r, "", ""));
    alike_rows_fini(&r);
}

static void the_last_ones_are_kept(void **state)
{
    struct alike_rows r = {0};
    struct attr_list lists[3 * ALIKE_ROWS];
    char text[64];

    for (int i = 0; i < 3 * ALIKE_ROWS; i++) {
        snprintf(text, sizeof text, "%.*s%d", i, "------------------------------", i); /* of any length */
        alike_rows_test_keep(&r, "{}", text, &lists[i]);
        for (int k = 0; k <= i; k++) {
            snprintf(text, sizeof text, "%.*s%d", k, "------------------------------", k);
            assert_ptr_equal(alike_rows_test_find(&r, "{}", text), k > i - ALIKE_ROWS ? &lists[k] : NULL);
        }
    }
    alike_rows_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_columns_must_be_the_same),
                                       cmocka_unit_test(the_last_ones_are_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
