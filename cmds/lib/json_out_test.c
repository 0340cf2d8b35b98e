#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "json_out.h"

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
    json_out_any(&j, "d", "\"\xc3\xa4\"");
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
        "        \"d\":\"\\\"\xc3\xa4\\\"\",\n"
        "        \"c\":\"q\\\"\\\\\\n\\u0001\xc3\xa4\xf4\x8f\xbf\xbf\",\n        \"list\":[\n            \"x\"\n"
        "        ],\n        \"empty\":{}\n    }\n}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
