#include "json_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>

/* By a library that many programs read JSON with. */
static bool is_read(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    bool ok = v != NULL;

    json_decref(v);
    return ok;
}

static void a_text_is_json_only_if_every_reader_takes_it(void **state)
{
    static const char *const yes[] = {"1",
                                      "-1.5e3",
                                      "0",
                                      "true",
                                      "false",
                                      "null",
                                      "\"x\"",
                                      "{}",
                                      "[1, 2]",
                                      "{\"a\": [1, {\"b\": null}]}",
                                      " 1 ",
                                      "9223372036854775807",
                                      "-1e308",
                                      "\"\\u00e4\\ud83d\\udca1\\n\"",
                                      "\"\xc3\xa4\"",
                                      "{\"a\": 1, \"a\": 2}"},
                             *const no[] = {"",
                                            "True",
                                            "01",
                                            "1.",
                                            "00:01:00",
                                            "1 2",
                                            "{a:1}",
                                            "{\"a\":1",
                                            "[1,]",
                                            "x",
                                            "\"x",
                                            "-",
                                            "1e",
                                            "+1",
                                            "nan",
                                            "\"\\x\"",
                                            "[1]]",
                                            "1e400",
                                            "9223372036854775808",
                                            "\"\\u0000\"",
                                            "\"\\ud800\"",
                                            "[1e999]",
                                            "\"\\udca1\"",
                                            "\"\\ud83d\\n\"",
                                            "\"\\ud83dx\"",
                                            "\"\\u12\"",
                                            "\"\\u12g4\"",
                                            "\"\xff\"",
                                            "\"\xed\xa0\x80\"",
                                            "\"a\tb\"",
                                            "\"a\x01\"",
                                            "\xc3\xa4",
                                            "\\n"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!json_check(yes[i], strlen(yes[i])) || !is_read(yes[i]))
            fail_msg("%s is JSON", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (json_check(no[i], strlen(no[i])))
            fail_msg("%s is not JSON", no[i]);
}

static void brackets_are_taken_to_a_depth_and_no_deeper(void **state)
{
    char text[4 * JSON_DEPTH_MAX];
    size_t at, n = JSON_DEPTH_MAX;

    memset(text, '[', n);
    memset(text + n, ']', n);
    assert_true(json_check(text, 2 * n));
    memset(text, '[', n + 1);
    memset(text + n + 1, ']', n + 1);
    assert_false(json_check(text, 2 * n + 2));
    assert_non_null(strstr(json_check_fault(text, 2 * n + 2, &at), "deep"));
    assert_int_equal(at, n + 1);
    for (size_t i = 0; i < JSON_DEPTH_MAX; i++)
        memcpy(text + 3 * i, "[],", 3);
    text[0] = '[', text[1] = '1';
    text[3 * n - 1] = ']';
    assert_true(json_check(text, 3 * n)); /* beside one another they may be many */
}

static void a_fault_is_named_with_its_place(void **state)
{
    static const struct {
        const char *text, *fault;
        size_t at;
    } rows[] = {{"{\"a\": \"\xff\"}", "UTF-8", 7}, {"[\"a\nb\"]", "control", 3}, {"[1,", "early", 3},
                {"[1 2]", "not JSON", 3},          {"[\"\\q\"]", "escape", 4},   {"[1e999]", "number", 6}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t at;
        const char *fault = json_check_fault(rows[i].text, strlen(rows[i].text), &at);

        assert_non_null(fault);
        if (!strstr(fault, rows[i].fault) || at != rows[i].at)
            fail_msg("%s: %s at %zu", rows[i].text, fault, at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_json_only_if_every_reader_takes_it),
        cmocka_unit_test(brackets_are_taken_to_a_depth_and_no_deeper),
        cmocka_unit_test(a_fault_is_named_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
