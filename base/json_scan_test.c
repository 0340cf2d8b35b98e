#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_scan.h"
#include "strbuf.h"

/* What a scan tells of a text: "name kind value;" of each member, those of objects and arrays in brackets, and at the end
 * "." for whole, "+" for something behind it, "!" for no JSON. */
static void tell(struct strbuf *out, char *text)
{
    struct json_scan s;
    struct json_member m;
    int rc;

    if (json_scan_begin(&s, text) < 0) {
        strbuf_add(out, "none");
        return;
    }
    while ((rc = json_scan_next(&s, &m)) > 0) {
        strbuf_addf(out, "%s ", m.name ? m.name : "-");
        if (m.kind == JSON_SCAN_TEXT)
            strbuf_addf(out, "T%s;", m.text);
        else if (m.kind == JSON_SCAN_INTEGER)
            strbuf_addf(out, "I%lld;", (long long)m.n);
        else if (m.kind == JSON_SCAN_BOOLEAN)
            strbuf_addf(out, "B%d;", (int)m.n);
        else if (m.kind == JSON_SCAN_OTHER)
            strbuf_addf(out, "O%.*s;", (int)m.len, m.text);
        else {
            strbuf_add(out, "(");
            tell(out, m.text);
            strbuf_add(out, ");");
        }
    }
    /* what is inside another has its rest behind it */
    strbuf_add(out, rc < 0 ? "!" : json_scan_is_over(&s) ? "." : "+");
}

static void expect(const char *text, const char *want)
{
    char *copy = strdup(text);
    struct strbuf b;

    strbuf_init(&b, 4096);
    tell(&b, copy);
    assert_string_equal(strbuf_str(&b), want);
    strbuf_fini(&b);
    free(copy);
}

static void members_come_in_order_each_with_its_kind(void **state)
{
    expect("{}", ".");
    expect(" { } ", ".");
    expect("[]", ".");
    expect("{\"a\":\"x y\",\"b\":-12,\"c\":true,\"d\":false}", "a Tx y;b I-12;c B1;d B0;.");
    expect("{ \"a\" : \"\" ,\n\t\"b\" : 0 }\n", "a T;b I0;.");
    expect("[\"a\",2, true]", "- Ta;- I2;- B1;.");
    expect("{\"a\":{\"b\":{\"c\":\"}]\"}},\"d\":[1,[2]]}", "a (b (c T}];+);+);d (- I1;- (- I2;+);+);.");
}

static void what_is_rare_comes_as_it_stands(void **state)
{
    expect("{\"a\":\"x\\\"y\\\\\",\"b\":1.5,\"c\":null,\"d\":1e3,\"e\":99999999999999999999}",
           "a O\"x\\\"y\\\\\";b O1.5;c Onull;d O1e3;e O99999999999999999999;.");
}

static void what_is_no_json_is_said(void **state)
{
    expect("", "none");
    expect("\"a\"", "none");
    expect("{", "!");
    expect("{\"a\"", "!");
    expect("{\"a\":", "!");
    expect("{\"a\":1", "a I1;!");
    expect("{\"a\":1]", "a I1;!");
    expect("{\"a\":1 \"b\":2}", "a I1;!");
    expect("{\"a\":\"x", "!");
    expect("{\"a\":\"x\\", "!");
    expect("{\"a\":{\"b\":1}", "a (b I1;.);!");
    expect("{a:1}", "!");
    expect("{} x", "+");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_order_each_with_its_kind),
        cmocka_unit_test(what_is_rare_comes_as_it_stands),
        cmocka_unit_test(what_is_no_json_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
