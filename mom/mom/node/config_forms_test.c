#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "config_forms.h"

static void masks_are_numbers_of_32_bits(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        unsigned value;
    } rows[] = {
        {"0x3cf", true, 0x3cf},    {"975", true, 975}, {"017", true, 15}, {"0xffffffff", true, 0xffffffff},
        {"0x100000000", false, 0}, {"-1", false, 0},   {"", false, 0},    {"12 ", false, 0},
        {"all", false, 0},         {"0x", false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned out = 7;
        struct err e = {0};

        assert_int_equal(config_form_mask(rows[i].text, &out, &e), rows[i].ok ? 0 : -1);
        assert_int_equal(out, rows[i].ok ? rows[i].value : 7);
        assert_int_equal(e.code, rows[i].ok ? 0 : EINVAL);
    }
}

static void signals_have_names_and_numbers(void **state)
{
    assert_int_equal(config_form_signal("SIGSTOP", NULL), SIGSTOP);
    assert_int_equal(config_form_signal("stop", NULL), SIGSTOP);
    assert_int_equal(config_form_signal("19", NULL), 19);
    assert_int_equal(config_form_signal("NULL", NULL), 0);
    assert_int_equal(config_form_signal("SIG", NULL), -1);
    assert_int_equal(config_form_signal("STOPS", NULL), -1);
    assert_int_equal(config_form_signal("-9", NULL), -1);
    assert_int_equal(config_form_signal("9999", NULL), -1);
}

static int event_of(const char *value, struct words *argv, int64_t *limit_s)
{
    struct config_action a = {.limit_s = -1};
    int event;

    words_init(&a.argv);
    event = config_form_action(value, &a, NULL);
    *limit_s = a.limit_s;
    *argv = a.argv;
    return event;
}

static void an_action_names_event_limit_and_script(void **state)
{
    static const char *const wrong[] = {"",
                                        "terminate",
                                        "terminate 5",
                                        "terminate 5 /bin/x",
                                        "terminate 5 !bin/x",
                                        "terminate x !/bin/x",
                                        "terminate -1 !/bin/x",
                                        "Terminate 5 !/bin/x",
                                        "checkpoint_abor 5 !/bin/x",
                                        "terminate 5 !/bin/x \"open"};
    struct words argv;
    int64_t limit_s;

    assert_int_equal(event_of("checkpoint_abort 5 !/bin/x %jobid 'two words'", &argv, &limit_s),
                     ACTION_CHECKPOINT_ABORT);
    assert_int_equal(limit_s, 5);
    assert_int_equal(argv.n, 3);
    assert_string_equal(argv.w[0], "/bin/x");
    assert_string_equal(argv.w[1], "%jobid");
    assert_string_equal(argv.w[2], "two words");
    words_fini(&argv);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(event_of(wrong[i], &argv, &limit_s), -1);
        assert_int_equal(argv.n, 0);
        words_fini(&argv);
    }
}

static void a_longer_word_than_multinodebusy_is_another_event(void **state)
{
    assert_true(config_form_is_multinode("multinodebusy 30 requeue"));
    assert_true(config_form_is_multinode("multinodebusy\t30 requeue"));
    assert_true(config_form_is_multinode("multinodebusy"));
    assert_false(config_form_is_multinode("multinodebusyness 30 requeue"));
    assert_false(config_form_is_multinode("multinode 30 requeue"));
}

static void a_shared_directory_is_absolute_and_says_so(void **state)
{
    char *dir = NULL;
    bool shared = false;

    assert_int_equal(config_form_shared_dir("/scratch shared", &dir, &shared, NULL), 0);
    assert_string_equal(dir, "/scratch");
    assert_true(shared);
    free(dir);
    assert_int_equal(config_form_shared_dir("/scratch", &dir, &shared, NULL), 0);
    assert_false(shared);
    free(dir);
    assert_int_equal(config_form_shared_dir("scratch", NULL, &shared, NULL), -1);
    assert_int_equal(config_form_shared_dir("/a Shared", NULL, &shared, NULL), -1);
    assert_int_equal(config_form_shared_dir("/a shared x", NULL, &shared, NULL), -1);
    assert_int_equal(config_form_shared_dir("", NULL, &shared, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_numbers_of_32_bits),
        cmocka_unit_test(signals_have_names_and_numbers),
        cmocka_unit_test(an_action_names_event_limit_and_script),
        cmocka_unit_test(a_longer_word_than_multinodebusy_is_another_event),
        cmocka_unit_test(a_shared_directory_is_absolute_and_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
