#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "vnodes.h"

static void lines_are_taken_and_later_ones_count(void **state)
{
    struct vnodes v = {0};
    struct err e;

    (void)state;
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
                                      "$configversion 2\nn1: state = free\n",
                                      "$configversion 2\nn1: resources_available = 1\n",
                                      "$configversion 2\nn1: sharing.x = 1\n",
                                      "$configversion 2\n: sharing = x\n"};
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vnodes v = {0};

        memset(&e, 0, sizeof e);
        assert_int_equal(vnodes_parse(&v, bad[i], "thefile", &e), -1);
        assert_non_null(strstr(e.text, i < 3 ? "version" : "thefile, line 2"));
        vnodes_clear(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_and_later_ones_count),
        cmocka_unit_test(bad_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
