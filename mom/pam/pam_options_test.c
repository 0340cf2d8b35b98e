#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pam_options.h"

static void no_words_attach_all_but_root(void **state)
{
    struct pam_options o;

    assert_null(pam_options_parse(&o, 0, NULL));
    assert_false(o.no_attach || o.debug || o.refuse_root);
    assert_null(o.users);
    assert_null(o.groups);
    assert_null(o.services);
    assert_null(o.conf);
}

static void each_word_sets_what_it_names(void **state)
{
    const char *const words[] = {"no_attach", "debug",        "refuse_root", "users=a,b",
                                 "groups=g",  "service=sshd", "conf=/x"};
    const char *const back[] = {"refuse_root", "ignore_root"};
    struct pam_options o;

    assert_null(pam_options_parse(&o, 7, words));
    assert_true(o.no_attach && o.debug && o.refuse_root);
    assert_string_equal(o.users, "a,b");
    assert_string_equal(o.groups, "g");
    assert_string_equal(o.services, "sshd");
    assert_string_equal(o.conf, "/x");
    assert_null(pam_options_parse(&o, 2, back));
    assert_false(o.refuse_root);
}

static void what_is_not_an_option_is_named_and_left_out(void **state)
{
    static const char *const bad[] = {"no_attac", "no_attach=1", "users=", "users", "NO_ATTACH", "", "="};
    struct pam_options o;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const words[] = {"debug", bad[i], "groups=g"};

        assert_ptr_equal(pam_options_parse(&o, 3, words), bad[i]);
        assert_true(o.debug && !o.no_attach && !o.users);
        assert_string_equal(o.groups, "g");
    }
}

static void a_list_has_whole_names(void **state)
{
    assert_true(pam_options_has("a", "a"));
    assert_true(pam_options_has("a,bc,d", "bc"));
    assert_true(pam_options_has(",,d", "d"));
    assert_false(pam_options_has("a,bc,d", "b"));
    assert_false(pam_options_has("a,bc,d", "bcd"));
    assert_false(pam_options_has("a,,d", ""));
    assert_false(pam_options_has("a,bc", "a,bc"));
    assert_false(pam_options_has(NULL, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_words_attach_all_but_root),
        cmocka_unit_test(each_word_sets_what_it_names),
        cmocka_unit_test(what_is_not_an_option_is_named_and_left_out),
        cmocka_unit_test(a_list_has_whole_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
