#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term_out.h"

typedef void put_fn(FILE *out, const char *text, size_t width);

static void expect(put_fn *put, const char *text, size_t width, const char *shown)
{
    char *got = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&got, &n);

    put(f, text, width);
    fclose(f);
    assert_string_equal(got, shown);
    free(got);
}

static void fields_are_padded_to_their_width(void **state)
{
    expect(term_out_left, "abc", 5, "abc  ");
    expect(term_out_right, "abc", 5, "  abc");
    expect(term_out_whole_left, "abc", 5, "abc  ");
    expect(term_out_left, "abcde", 5, "abcde");
    expect(term_out_left, "", 2, "  ");
}

static void a_text_that_is_too_long_ends_in_a_star_or_is_whole(void **state)
{
    expect(term_out_left, "abcdef", 5, "abcd*");
    expect(term_out_right, "abcdef", 5, "abcd*");
    expect(term_out_whole_left, "abcdef", 5, "abcdef");
    expect(term_out_left, "ab", 1, "*");
}

/* Scripts cut lines at bytes: the next column begins where it does in other rows. */
static void a_letter_of_several_bytes_that_does_not_fit_leaves_blanks(void **state)
{
    expect(term_out_left, "abc\u00e4\u00e4", 5, "abc* ");
    expect(term_out_left, "ab\u20ac\u20ac", 5, "ab*  ");
    expect(term_out_right, "abc\u00e4\u00e4", 5, "abc* ");
    expect(term_out_left, "ab\u00e4", 4, "ab\u00e4");
}

static void control_characters_are_made_visible(void **state)
{
    expect(term_out_whole_left, "a\033b", 3, "a^[b");
    expect(term_out_left, "a\377b", 3, "a\\377b");
}

static void blanks_of_any_number(void **state)
{
    char *got = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&got, &n);

    term_out_blanks(f, 1000);
    fclose(f);
    assert_int_equal(n, 1000);
    assert_int_equal(strspn(got, " "), 1000);
    free(got);
}

static void columns_share_the_room_of_a_line_within_their_bounds(void **state)
{
    size_t a = 10, b = 10;
    const struct term_out_column c[] = {{&a, 5, 12}, {&b, 8, 30}};

    term_out_share_width(80, 0, c, 2); /* not a terminal */
    assert_int_equal(a, 10);
    term_out_share_width(20, 27, c, 2);
    assert_int_equal(a, 12);
    assert_int_equal(b, 15);
    term_out_share_width(27, 10, c, 2); /* less than both can give */
    assert_int_equal(a, 5);
    assert_int_equal(b, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_padded_to_their_width),
        cmocka_unit_test(a_text_that_is_too_long_ends_in_a_star_or_is_whole),
        cmocka_unit_test(a_letter_of_several_bytes_that_does_not_fit_leaves_blanks),
        cmocka_unit_test(control_characters_are_made_visible),
        cmocka_unit_test(blanks_of_any_number),
        cmocka_unit_test(columns_share_the_room_of_a_line_within_their_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
