#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "explain_text.h"

/* Wednesday 2026-11-18 12:00:00 UTC. */
enum { NOW = 1795003200, DAY_S = 86400 };

static void dates_have_a_year_where_it_is_not_the_present_one(void **state)
{
    char out[EXPLAIN_TEXT_DATE_MAX];

    assert_string_equal(explain_text_date(NOW, NOW, out), "today 12:00:00");
    assert_string_equal(explain_text_date(NOW + 43199, NOW, out), "today 23:59:59");
    assert_string_equal(explain_text_date(NOW + DAY_S, NOW, out), "Thu Nov 19 12:00:00");
    assert_string_equal(explain_text_date(NOW - 17 * DAY_S, NOW, out), "Sun Nov  1 12:00:00");
    assert_string_equal(explain_text_date(NOW + 365 * DAY_S, NOW, out), "Thu Nov 18 12:00:00 2027");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_have_a_year_where_it_is_not_the_present_one),
    };

    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
