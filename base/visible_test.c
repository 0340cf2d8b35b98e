#include "visible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *shown)
{
    char *out = NULL;
    size_t n;
    FILE *f = open_memstream(&out, &n);

    assert_non_null(f);
    visible_put(f, text, strlen(text));
    fclose(f);
    assert_string_equal(out, shown);
    free(out);
}

static void characters_are_shown_and_controls_are_named(void **state)
{
    expect("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x92\xa1\n\t",
           "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x92\xa1\n\t");
    expect("\x1b[31m\x7f", "^[[31m^?");
    expect("M\xfcller", "M\\374ller");
    expect("\xc2\x9b", "\\302\\233");
}

static void a_control_in_a_longer_form_does_not_reach_the_terminal(void **state)
{
    expect("\xe0\x82\x9b", "\\340\\202\\233");
    expect("\xe0\x80\x9b", "\\340\\200\\233");
    expect("\xf0\x80\x82\x9b", "\\360\\200\\202\\233");
    expect("\xed\xa0\x80", "\\355\\240\\200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_shown_and_controls_are_named),
        cmocka_unit_test(a_control_in_a_longer_form_does_not_reach_the_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
