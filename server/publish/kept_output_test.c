#include "kept_output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FAILED(why) "Unable to copy file a to b\n>>> error from copy\n" why "\n>>> end error output\n"

static void says(const char *note, const char *expected)
{
    struct strbuf b;

    strbuf_init(&b, 4096);
    assert_int_equal(kept_output_add(&b, "n1", note), expected[0] != '\0');
    assert_string_equal(strbuf_str(&b), expected);
    strbuf_fini(&b);
}

static void each_kept_file_has_its_place_and_reason_in_one_line(void **state)
{
    says(FAILED("scp ended") "Output retained on that host in: /s/1.n1.OU\n",
         "output kept on n1: /s/1.n1.OU (scp ended)");
    says(FAILED("one\ntwo") "Output retained on that host in: /s/O\n" FAILED(
             "x") "Output retained on that host in: /s/E\n",
         "output kept on n1: /s/O (one two); output kept on n1: /s/E (x)");
}

static void a_note_that_names_no_kept_file_adds_nothing(void **state)
{
    says("", "");
    says("no memory for the list of files\n", "");
    says(">>> error from copy\nand no end", "");
    says(">>> error from copy\nx\n>>> end error output\n", "");
    says("other words\n>>> error from copy\nx\n>>> end error output\n", "");
}

static void a_file_that_stays_where_it_is_is_named_with_the_reason(void **state)
{
    says(FAILED("not there"), "n1: Unable to copy file a to b (not there)");
    says("words\n" FAILED("first") FAILED("second") "Output retained on that host in: /s/E",
         "n1: Unable to copy file a to b (first); output kept on n1: /s/E (second)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kept_file_has_its_place_and_reason_in_one_line),
        cmocka_unit_test(a_note_that_names_no_kept_file_adds_nothing),
        cmocka_unit_test(a_file_that_stays_where_it_is_is_named_with_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
