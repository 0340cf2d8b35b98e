#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "fairshare.h"

static const char tree[] = "# a comment\n"
                           "physics 10 root 60\n"
                           "biology 20 root 30   # and another\n"
                           "anna 11 physics 50\n"
                           "bert 12 physics 150\n"
                           "carl 21 biology 10\n";

static struct fairshare *planted(int64_t unknown)
{
    struct fairshare *f = fairshare_create();
    struct err e = {0};

    if (fairshare_plant(f, tree, unknown, &e) < 0)
        fail_msg("%s", e.text);
    return f;
}

static void is_near(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (1 + fabs(b)))
        fail_msg("%.17g should be %.17g", a, b);
}

static double fraction(struct fairshare *f, const char *name)
{
    return fairshare_fraction(fairshare_find(f, name));
}

static void shares_are_parts_of_the_group_above(void **state)
{
    struct fairshare *f = planted(10);

    is_near(fraction(f, "physics"), 0.6);
    is_near(fraction(f, "anna"), 0.15);
    is_near(fraction(f, "bert"), 0.45);
    is_near(fraction(f, "carl"), 0.3);
    is_near(fraction(f, "unknown"), 0.1);
    /* who is not in the file shares what unknown has */
    fairshare_entity(f, "dora");
    fairshare_entity(f, "emil");
    is_near(fraction(f, "dora"), 0.05);
    assert_null(fairshare_find(f, "fritz"));
    fairshare_destroy(f);
}

static void what_a_leaf_uses_its_groups_use_too(void **state)
{
    struct fairshare *f = planted(10);

    fairshare_use(fairshare_find(f, "anna"), 99);
    fairshare_use(fairshare_find(f, "bert"), 50);
    is_near(fairshare_usage(fairshare_find(f, "anna")), 100);
    is_near(fairshare_usage(fairshare_find(f, "physics")), 150);
    is_near(fairshare_usage(fairshare_find(f, "biology")), 1);
    is_near(fairshare_usage(fairshare_find(f, "root")), 150);
    fairshare_set(fairshare_find(f, "anna"), 11);
    is_near(fairshare_usage(fairshare_find(f, "TREEROOT")), 61);
    fairshare_destroy(f);
}

static void decay_fades_usage_and_never_below_one(void **state)
{
    struct fairshare *f = planted(10);

    fairshare_set(fairshare_find(f, "anna"), 100);
    fairshare_set(fairshare_find(f, "carl"), 1.5);
    fairshare_decay(f, 0.5);
    is_near(fairshare_usage(fairshare_find(f, "anna")), 50);
    is_near(fairshare_usage(fairshare_find(f, "carl")), 1);
    is_near(fairshare_usage(fairshare_find(f, "root")), 50);
    fairshare_destroy(f);
}

static void the_first_difference_on_the_path_decides(void **state)
{
    struct fairshare *f = planted(0);
    struct share *anna = fairshare_find(f, "anna"), *bert = fairshare_find(f, "bert"),
                 *carl = fairshare_find(f, "carl");

    assert_true(fairshare_compare(bert, anna) < 0); /* the same usage, more shares */
    fairshare_set(carl, 1000);
    assert_true(fairshare_compare(anna, carl) < 0); /* by their groups */
    fairshare_set(bert, 5000);
    assert_true(fairshare_compare(anna, bert) < 0);
    assert_true(fairshare_compare(carl, anna) < 0); /* bert's use is the group's */
    assert_int_equal(fairshare_compare(anna, anna), 0);
    /* unknown has no shares at all: last, whatever it has used */
    assert_true(fairshare_compare(anna, fairshare_entity(f, "dora")) < 0);
    fairshare_destroy(f);
}

static void what_is_expected_counts_until_it_is_forgotten(void **state)
{
    struct fairshare *f = planted(10);
    struct share *physics = fairshare_find(f, "physics"), *biology = fairshare_find(f, "biology");

    assert_true(fairshare_compare(physics, biology) < 0);
    fairshare_expect(f, fairshare_find(f, "anna"), 100);
    assert_true(fairshare_compare(biology, physics) < 0);
    is_near(fairshare_usage(physics), 1);
    fairshare_forget_expected(f);
    assert_true(fairshare_compare(physics, biology) < 0);
    fairshare_destroy(f);
}

static void over_is_who_has_used_more_than_his_part(void **state)
{
    struct fairshare *f = planted(10);

    fairshare_set(fairshare_find(f, "anna"), 20);
    fairshare_set(fairshare_find(f, "carl"), 100);
    assert_true(fairshare_is_over(fairshare_find(f, "carl")));
    assert_true(fairshare_is_over(fairshare_find(f, "anna"))); /* 20 of 119, and 15 % are hers */
    fairshare_set(fairshare_find(f, "anna"), 15);
    assert_false(fairshare_is_over(fairshare_find(f, "anna")));
    fairshare_destroy(f);
}

static void the_tree_usage_mixes_own_and_group_use(void **state)
{
    struct fairshare *f = planted(10);

    fairshare_set(fairshare_find(f, "anna"), 60);
    fairshare_set(fairshare_find(f, "carl"), 41);
    is_near(fairshare_tree_usage(fairshare_find(f, "physics")), 0.6);
    is_near(fairshare_tree_usage(fairshare_find(f, "anna")), 0.6);
    is_near(fairshare_tree_usage(fairshare_find(f, "bert")), 0.01 + (0.6 - 0.01) * 0.75);
    is_near(fairshare_factor(fairshare_find(f, "physics")), 0.5);
    fairshare_destroy(f);
}

static void a_new_file_keeps_what_was_used(void **state)
{
    struct fairshare *f = planted(10);
    struct err e;

    fairshare_set(fairshare_find(f, "anna"), 100);
    fairshare_set(fairshare_find(f, "bert"), 10);
    assert_int_equal(fairshare_plant(f, "anna 5 root 1\nnew 6 root 1\n", 0, &e), 0);
    is_near(fairshare_usage(fairshare_find(f, "anna")), 100);
    is_near(fraction(f, "anna"), 0.5);
    is_near(fairshare_usage(fairshare_find(f, "unknown")), 10);
    is_near(fairshare_usage(fairshare_find(f, "root")), 109);
    fairshare_destroy(f);
}

static void what_is_not_saved_is_added_to_what_others_wrote(void **state)
{
    struct fairshare *f = planted(10);
    struct share *anna = fairshare_find(f, "anna");

    fairshare_use(anna, 10);
    fairshare_saving(f);
    fairshare_use(anna, 1);
    fairshare_saved(f, true);
    fairshare_saving(f);
    fairshare_use(anna, 4);
    fairshare_saved(f, false); /* the 1 is not saved either */
    fairshare_forget(f);
    fairshare_set(anna, 100); /* the value of another writer */
    fairshare_add_unsaved(f);
    is_near(fairshare_usage(anna), 105);
    is_near(fairshare_usage(fairshare_find(f, "root")), 105);
    fairshare_destroy(f);
}

static void a_wrong_file_is_refused_by_line_and_changes_nothing(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {{"a 10 root", "resgroup: error on line 1."},
                {"\na ten root 5", "resgroup: error on line 2."},
                {"a 10 root -5", "line 1."},
                {"a 10 root 5\na 11 root 5", "line 2. entity a is not unique"},
                {"a 10 root 5\nb 10 root 5", "line 2. entity b is not unique"},
                {"a 1 root 5", "entity a is not unique"},
                {"unknown 7 root 5", "entity unknown is not unique"},
                {"a 10 b 5\nb 11 root 5", "Parent ginfo of a doesnt exist."}};
    struct fairshare *f = planted(10);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        if (fairshare_plant(f, rows[i].text, 1, &e) == 0 || e.code != EINVAL || !strstr(e.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, e.text);
        is_near(fraction(f, "anna"), 0.15);
    }
    fairshare_destroy(f);
}

static void the_tree_is_walked_in_the_order_of_the_file(void **state)
{
    static const char *const names[] = {"TREEROOT", "physics", "anna", "bert", "biology", "carl", "unknown"};
    struct fairshare *f = planted(10);
    size_t i = 0;

    for (struct share *s = fairshare_next(f, NULL); s; s = fairshare_next(f, s), i++)
        assert_string_equal(fairshare_name(s), names[i]);
    assert_int_equal(i, sizeof names / sizeof *names);
    fairshare_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_parts_of_the_group_above),
        cmocka_unit_test(what_a_leaf_uses_its_groups_use_too),
        cmocka_unit_test(decay_fades_usage_and_never_below_one),
        cmocka_unit_test(the_first_difference_on_the_path_decides),
        cmocka_unit_test(what_is_expected_counts_until_it_is_forgotten),
        cmocka_unit_test(over_is_who_has_used_more_than_his_part),
        cmocka_unit_test(the_tree_usage_mixes_own_and_group_use),
        cmocka_unit_test(a_new_file_keeps_what_was_used),
        cmocka_unit_test(what_is_not_saved_is_added_to_what_others_wrote),
        cmocka_unit_test(a_wrong_file_is_refused_by_line_and_changes_nothing),
        cmocka_unit_test(the_tree_is_walked_in_the_order_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
