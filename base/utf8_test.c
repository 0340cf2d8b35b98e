#include "utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static size_t length(const char *s)
{
    return utf8_length(s, strlen(s));
}

static void first_and_last_character_of_each_length_are_taken(void **state)
{
    assert_int_equal(utf8_length("", 1), 1);
    assert_int_equal(length("\x7f"), 1);
    assert_int_equal(length("\xc2\x80"), 2);
    assert_int_equal(length("\xdf\xbf"), 2);
    assert_int_equal(length("\xe0\xa0\x80"), 3);
    assert_int_equal(length("\xed\x9f\xbf"), 3);
    assert_int_equal(length("\xee\x80\x80"), 3);
    assert_int_equal(length("\xef\xbf\xbf"), 3);
    assert_int_equal(length("\xf0\x90\x80\x80"), 4);
    assert_int_equal(length("\xf4\x8f\xbf\xbf"), 4);
}

static void what_rfc_3629_forbids_is_no_character(void **state)
{
    static const char *const no[] = {"\x80",
                                     "\xbf",
                                     "\xc0\x80",
                                     "\xc1\xbf",
                                     "\xe0\x80\x9b", /* U+001B in three bytes */
                                     "\xe0\x9f\xbf",
                                     "\xed\xa0\x80", /* half of a pair */
                                     "\xed\xbf\xbf",
                                     "\xf0\x80\x80\x9b",
                                     "\xf0\x8f\xbf\xbf",
                                     "\xf4\x90\x80\x80", /* beyond U+10FFFF */
                                     "\xf5\x80\x80\x80",
                                     "\xfe",
                                     "\xff",
                                     "\xc3",
                                     "\xc3x",
                                     "\xe2\x82",
                                     "\xe2\x82x",
                                     "\xf0\x9f\x92",
                                     "\xf0\x9f\x92x"};

    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (length(no[i]))
            fail_msg("row %zu was taken for one", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_and_last_character_of_each_length_are_taken),
        cmocka_unit_test(what_rfc_3629_forbids_is_no_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
