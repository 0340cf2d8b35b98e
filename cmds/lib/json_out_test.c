#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "json_out.h"

/* By a library that many programs read JSON with. */
static bool is_read(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    bool ok = v != NULL;

    json_decref(v);
    return ok;
}

static void what_is_json(void **state)
{
    static const char *const yes[] = {"1",      "-1.5e3",
                                      "0",      "true",
                                      "false",  "null",
                                      "\"x\"",  "{}",
                                      "[1, 2]", "{\"a\": [1, {\"b\": null}]}",
                                      " 1 ",    "9223372036854775807",
                                      "-1e308"},
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
                                            "[1e999]"};
    char deep[400];

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!json_out_is_json(yes[i], strlen(yes[i])) || !is_read(yes[i]))
            fail_msg("%s is JSON", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (json_out_is_json(no[i], strlen(no[i])))
            fail_msg("%s is not JSON", no[i]);
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    assert_false(json_out_is_json(deep, sizeof deep));
}

static void layout(void **state)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct json_out j;

    json_out_begin(&j, f);
    json_out_number(&j, "timestamp", 5);
    json_out_open(&j, "Jobs", '{');
    json_out_any(&j, "a", "12");
    json_out_any(&j, "b", "True");
    json_out_string(&j, "c", "q\"\\\n\x01\xc3\xa4\xff");
    json_out_open(&j, "list", '[');
    json_out_string(&j, NULL, "x");
    json_out_close(&j, ']');
    json_out_open(&j, "empty", '{');
    json_out_close(&j, '}');
    json_out_close(&j, '}');
    json_out_end(&j);
    fclose(f);
    assert_string_equal(
        text,
        "{\n    \"timestamp\":5,\n    \"Jobs\":{\n        \"a\":12,\n        \"b\":\"True\",\n"
        "        \"c\":\"q\\\"\\\\\\n\\u0001\xc3\xa4\xef\xbf\xbd\",\n        \"list\":[\n            \"x\"\n"
        "        ],\n        \"empty\":{}\n    }\n}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_json), cmocka_unit_test(layout)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
