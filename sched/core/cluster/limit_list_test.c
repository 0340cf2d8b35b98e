/* Run limits of both syntaxes as rows. */
#include "limit_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "intern.h"

static void a_name_has_its_own_row_and_others_the_one_for_each(void **state)
{
    struct catalogue *c = catalogue_create();
    struct limit_list l = {0};
    const char *anna = intern_ref("anna"), *ben = intern_ref("ben");

    assert_true(limit_list_take(&l, c, "max_run", NULL, "[u:PBS_GENERIC=4],[u:anna=8],[o:PBS_ALL=100]"));
    assert_true(limit_list_take(&l, c, "max_run_res", "mem", "[g:PBS_GENERIC=2gb]"));
    assert_true(limit_list_take(&l, c, "max_run_soft", NULL, "[u:PBS_GENERIC=1]"));
    assert_int_equal(limit_list_find(&l, LIMIT_OF_USER, anna, RES_NONE, false)->most, 8);
    assert_int_equal(limit_list_find(&l, LIMIT_OF_USER, ben, RES_NONE, false)->most, 4);
    assert_int_equal(limit_list_find(&l, LIMIT_OF_USER, anna, RES_NONE, true)->most, 1);
    assert_int_equal(limit_list_find(&l, LIMIT_OF_ALL, NULL, RES_NONE, false)->most, 100);
    assert_int_equal(limit_list_find(&l, LIMIT_OF_GROUP, anna, RES_MEM, false)->most, 2 << 20);
    assert_null(limit_list_find(&l, LIMIT_OF_GROUP, anna, RES_NCPUS, false));
    assert_true(limit_list_have(&l, LIMIT_OF_GROUP));
    assert_false(limit_list_have(&l, LIMIT_OF_PROJECT));
    limit_list_fini(&l);
    intern_unref(anna);
    intern_unref(ben);
    catalogue_destroy(c);
}

static void old_attributes_are_the_same_rows(void **state)
{
    struct catalogue *c = catalogue_create();
    struct limit_list l = {0};

    assert_true(limit_list_take(&l, c, "max_running", NULL, "7"));
    assert_true(limit_list_take(&l, c, "max_group_res_soft", "ncpus", "3"));
    assert_int_equal(limit_list_find(&l, LIMIT_OF_ALL, NULL, RES_NONE, false)->most, 7);
    assert_int_equal(limit_list_find(&l, LIMIT_OF_GROUP, NULL, RES_NCPUS, true)->most, 3);
    limit_list_fini(&l);
    catalogue_destroy(c);
}

static void what_is_no_limit_or_cannot_be_read_limits_nothing(void **state)
{
    static const char *const bad[] = {"",          "[",         "[u", "[u:",  "[u:anna",
                                      "[u:anna=5", "u:anna=5]", "[]", "[]]=", "=[]"};
    struct catalogue *c = catalogue_create();
    struct limit_list l = {0};

    assert_false(limit_list_take(&l, c, "Priority", NULL, "7"));
    assert_false(limit_list_take(&l, c, "max_queued", NULL, "[u:anna=5]"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_true(limit_list_take(&l, c, "max_run", NULL, bad[i]));
    assert_true(limit_list_take(&l, c, "max_run_res", "nosuch", "[u:anna=5]"));
    assert_int_equal(l.n, 0);
    limit_list_fini(&l);
    catalogue_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_its_own_row_and_others_the_one_for_each),
        cmocka_unit_test(old_attributes_are_the_same_rows),
        cmocka_unit_test(what_is_no_limit_or_cannot_be_read_limits_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
