#include "json_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "err.h"
#include "json_check.h"

static void refused(const char *text, int code, const char *why)
{
    struct err e;

    assert_null(json_read(text, strlen(text), 1000, &e));
    if (e.code != code || !strstr(e.text, why))
        fail_msg("%s: %d, %s", text, e.code, e.text);
}

static void what_is_wrong_is_named_with_line_and_column(void **state)
{
    refused("{\n \"a\": 1,\n \"b\": \"\xff\"\n}", EINVAL, "line 3, column 8: a byte is not UTF-8");
    refused("{\"a\": 1, \"a\": 2}", EINVAL, "duplicate");
    refused("{\"a\": \"\\u0000\"}", EINVAL, "escape");
    refused("{", EINVAL, "early");
    refused("", EINVAL, "early");
    refused("1", EINVAL, "expected");
}

static void what_is_too_large_or_too_deep_is_refused(void **state)
{
    char text[4 * JSON_DEPTH_MAX];
    struct err e;
    json_t *v;

    memset(text, '[', 2 * JSON_DEPTH_MAX);
    memset(text + 2 * JSON_DEPTH_MAX, ']', 2 * JSON_DEPTH_MAX);
    assert_null(json_read(text, sizeof text, sizeof text, &e));
    assert_int_equal(e.code, EINVAL);
    assert_non_null(strstr(e.text, "deep"));
    assert_null(json_read("[1,2]", 5, 4, &e));
    assert_int_equal(e.code, E2BIG);
    v = json_read("[1,2]xxx", 5, 5, &e);
    assert_int_equal(json_array_size(v), 2);
    json_decref(v);
}

static void rows_of_our_own_are_read_as_they_were_written(void **state)
{
    json_t *row = json_read_own("{\"a\": 1}"), *value = json_read_value("\"x\\ty\",", 6);

    assert_int_equal(json_integer_value(json_object_get(row, "a")), 1);
    assert_string_equal(json_string_value(value), "x\ty");
    assert_null(json_read_own(NULL));
    assert_null(json_read_own("{"));
    json_decref(row);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_named_with_line_and_column),
        cmocka_unit_test(what_is_too_large_or_too_deep_is_refused),
        cmocka_unit_test(rows_of_our_own_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
