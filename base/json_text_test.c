#include "json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "strbuf.h"

static void expect(const char *text, const char *json)
{
    struct strbuf b;

    strbuf_init(&b, 1000);
    assert_int_equal(json_text_add(&b, text), 0);
    assert_string_equal(strbuf_str(&b), json);
    strbuf_fini(&b);
}

static void what_json_knows_is_escaped(void **state)
{
    expect("plain", "\"plain\"");
    expect("", "\"\"");
    expect(NULL, "null");
    expect("a\"b\\c\nd\te\x01", "\"a\\\"b\\\\c\\nd\\te\\u0001\"");
    expect("\b\f\r", "\"\\b\\f\\r\"");
    expect("\x7f", "\"\\u007f\"");
    expect("gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"");
}

/* A parser undoes the escapes; here there are none, so only the quotes go. */
static void there_and_back(const char *text)
{
    struct strbuf b;
    char back[100];

    strbuf_init(&b, 1000);
    assert_int_equal(json_text_add(&b, text), 0);
    assert_in_range(b.len, 2, sizeof back);
    memcpy(back, b.s + 1, b.len - 2);
    back[b.len - 2] = '\0';
    json_text_restore(back);
    assert_string_equal(back, text);
    strbuf_fini(&b);
}

static void bytes_that_are_no_utf8_come_back(void **state)
{
    there_and_back("M\xfcller");
    there_and_back("\xff\xfe\x80");
    there_and_back("\xc0\xaf");
    there_and_back("\xed\xa0\x80");
    there_and_back("\xf4\x8f\xbe\x85");
    there_and_back("\xf4\x90\x80\x80");
    there_and_back("\xe2\x82");
    there_and_back("\xe2\x82\xac");
}

/* What was checked before a text is restored (no control character, no slash) holds afterwards. */
static void no_character_becomes_a_byte_of_ascii(void **state)
{
    char text[] = "a\xf4\x8f\xbc\x80\xf4\x8f\xbc\xaf\xf4\x8f\xbd\xbf\xf4\x8f\xbe\x80z", as_is[sizeof text];

    memcpy(as_is, text, sizeof text);
    assert_int_equal(json_text_restore(text), 15);
    assert_memory_equal(text, as_is, 13);
    assert_string_equal(text + 13, "\x80z");
}

static void cleaning_keeps_what_is_well_formed(void **state)
{
    char text[] = "gr\xc3\xbc\xff!";

    json_text_clean(text);
    assert_string_equal(text, "gr\xc3\xbc?!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_json_knows_is_escaped),
        cmocka_unit_test(bytes_that_are_no_utf8_come_back),
        cmocka_unit_test(no_character_becomes_a_byte_of_ascii),
        cmocka_unit_test(cleaning_keeps_what_is_well_formed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
