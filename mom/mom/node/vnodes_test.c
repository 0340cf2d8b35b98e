#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "vnodes.h"

static void lines_are_taken_and_later_ones_count(void **state)
{
    struct vnodes v = {0};
    struct err e;

    assert_int_equal(vnodes_parse(&v,
                                  "# comment\n$configversion 2\n"
                                  "n1[0]: resources_available.ncpus = 8\n"
                                  "n1[0]:sharing=default_excl\n"
                                  "n1[1] : resources_available.mem = 4gb\n"
                                  "n1[0]: resources_available.ncpus = 6\n",
                                  "f", &e),
                     0);
    assert_int_equal(v.n, 2);
    assert_string_equal(v.list[0].name, "n1[0]");
    assert_int_equal(v.list[0].n, 2);
    assert_string_equal(v.list[0].attrs[0].resource, "ncpus");
    assert_string_equal(v.list[0].attrs[0].value, "6");
    assert_string_equal(v.list[0].attrs[1].name, "sharing");
    assert_string_equal(v.list[1].attrs[0].value, "4gb");
    vnodes_clear(&v);
}

static void bad_files_are_named(void **state)
{
    static const char *const bad[] = {"",
                                      "n1: sharing = ignore_excl\n",
                                      "$configversion 1\n",
                                      "$configversion 2\nn1 sharing = x\n",
                                      "$configversion 2\nn1: = 1\n",
                                      "$configversion 2\n: sharing = x\n"};
    struct err e;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vnodes v = {0};

        memset(&e, 0, sizeof e);
        assert_int_equal(vnodes_parse(&v, bad[i], "thefile", &e), -1);
        assert_non_null(strstr(e.text, i < 3 ? "version" : "thefile, line 2"));
        vnodes_clear(&v);
    }
}

static void an_attribute_that_a_host_may_not_say_is_a_fault_of_its_line(void **state)
{
    static const char *const bad[] = {"state = free", "resources_available = 1", "sharing.x = 1",
                                      "colour = red", "Priority = 3"};
    struct err e;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vnodes v = {0};
        char text[256];

        snprintf(text, sizeof text, "$configversion 2\nn1: %s\nn1: sharing = default_excl\n", bad[i]);
        assert_int_equal(vnodes_parse(&v, text, "thefile", &e), 0);
        assert_int_equal(v.n_faults, 1);
        assert_non_null(strstr(v.errors[0], "thefile, line 2: \""));
        assert_int_equal(v.list[0].n, 2);
        assert_string_equal(v.list[0].attrs[1].value, "default_excl");
        vnodes_clear(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_and_later_ones_count),
        cmocka_unit_test(bad_files_are_named),
        cmocka_unit_test(an_attribute_that_a_host_may_not_say_is_a_fault_of_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
