#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "job_argv.h"

static void elements_are_arguments(void **state)
{
    struct words w;

    words_init(&w);
    assert_int_equal(job_argv_parse("<jsdl-hpcpa:Executable>/bin/echo</jsdl-hpcpa:Executable>",
                                    "<jsdl-hpcpa:Argument>a b</jsdl-hpcpa:Argument>"
                                    "<jsdl-hpcpa:Argument>&lt;&amp;&gt;</jsdl-hpcpa:Argument>"
                                    "<jsdl-hpcpa:Argument></jsdl-hpcpa:Argument>",
                                    &w, NULL),
                     0);
    assert_int_equal(w.n, 4);
    assert_string_equal(w.w[0], "/bin/echo");
    assert_string_equal(w.w[1], "a b");
    assert_string_equal(w.w[2], "<&>");
    assert_string_equal(w.w[3], "");
    words_fini(&w);
}

static void plain_text_is_cut_at_blanks(void **state)
{
    struct words w;

    words_init(&w);
    assert_int_equal(job_argv_parse("sleep", "1 '2 3'", &w, NULL), 0);
    assert_int_equal(w.n, 3);
    assert_string_equal(w.w[2], "2 3");
    words_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_arguments),
        cmocka_unit_test(plain_text_is_cut_at_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
