#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "job_options.h"

static void forms(void **state)
{
    static const struct {
        char letter;
        const char *good[8], *bad[10];
    } rows[] = {
        {'c', {"n", "s", "c", "w", "c=5", "w=10"}, {"u", "", "c=", "c=0", "x", "c=5x", "s=1"}},
        {'h', {"u", "uo", "n"}, {"", "x", "un"}},
        {'j', {"oe", "eo", "n"}, {"", "o", "y"}},
        {'J',
         {"0-5", "1-10:3", "1-10%2", "1-10:3%2"},
         {"", "5", "5-1", "5-5", "1-10:0", "1-10%0", "-1-5", "1-10x", "1-10:"}},
        {'k', {"n", "o", "eo", "doe"}, {"", "d", "x", "oo"}},
        {'m', {"n", "a", "abe", "nj"}, {"", "j", "x", "an", "aa"}},
        {'M', {"a", "a@b,c"}, {"", ",a", "a,"}},
        {'N', {"x", "1a"}, {""}},
        {'p', {"0", "-1024", "1023"}, {"", "1024", "-1025", "x", "1x"}},
        {'r', {"y", "n"}, {"", "yes"}},
        {'R', {"o", "e", "oe", "eo"}, {"", "x", "oo"}},
        {'a', {"1200", "12011200"}, {"", "x", "2500"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < 8 && rows[i].good[k]; k++)
            if (!job_options_is_good(rows[i].letter, rows[i].good[k]))
                fail_msg("-%c %s is good", rows[i].letter, rows[i].good[k]);
        for (int k = 0; k < 10 && rows[i].bad[k]; k++)
            if (job_options_is_good(rows[i].letter, rows[i].bad[k]))
                fail_msg("-%c %s is bad", rows[i].letter, rows[i].bad[k]);
    }
}

static void take(struct job_options *o, char letter, const char *value)
{
    const struct option_row row = JOB_OPTION(letter, "x", "x");
    struct err e;

    assert_int_equal(job_options_take(o, &row, value, &e), 0);
    assert_int_equal(o->a.errors, 0);
}

static void they_become_attributes(void **state)
{
    struct job_options o = {0};

    take(&o, 'l', "ncpus=2,select=1:ncpus=1");
    take(&o, 'l', "ncpus=4");
    take(&o, 'r', "n");
    take(&o, 'J', "1-9:2%3");
    take(&o, 'W', "block=true,depend=afterok:1,before:2,interactive=false");
    take(&o, 'e', "host:rel/path");
    assert_string_equal(attrs_find(&o.attrs, ATTR_l, "ncpus"), "4");
    assert_string_equal(attrs_find(&o.attrs, ATTR_l, "select"), "1:ncpus=1");
    assert_string_equal(attrs_find(&o.attrs, ATTR_r, NULL), "FALSE");
    assert_string_equal(attrs_find(&o.attrs, ATTR_J, NULL), "1-9:2");
    assert_string_equal(attrs_find(&o.attrs, ATTR_max_run_subjobs, NULL), "3");
    assert_string_equal(attrs_find(&o.attrs, ATTR_block, NULL), "1");
    assert_null(attrs_find(&o.attrs, ATTR_inter, NULL));
    assert_string_equal(attrs_find(&o.attrs, ATTR_depend, NULL), "afterok:1,before:2");
    assert_string_equal(attrs_find(&o.attrs, ATTR_e, NULL), "host:rel/path");
    job_options_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(they_become_attributes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
