#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "mom_config.h"

static void what_is_not_said_has_its_default(void **state)
{
    struct config *c = config_parse("", "config", NULL);

    assert_non_null(c);
    assert_int_equal(c->log_mask, 975);
    assert_string_equal(c->tmpdir, "/tmp");
    assert_int_equal(c->min_check_s, 10);
    assert_int_equal(c->suspend_signal, SIGSTOP);
    assert_int_equal(c->resume_signal, SIGCONT);
    assert_null(config_resource(c, "ncpus"));
    config_destroy(c);
}

static void directives_and_resources_are_taken(void **state)
{
    struct config *c =
        config_parse("$logevent 0x1ff\n$usecp *:/home /nfs/home\n$usecp h:/ /\nncpus 8\nmem 16gb\n"
                     "$suspendsig TSTP 18\n$enforce mem\n",
                     "config", NULL);

    assert_non_null(c);
    assert_int_equal(c->log_mask, 0x1ff);
    assert_int_equal(c->n_usecp, 2);
    assert_string_equal(c->usecp[0].prefix, "*:/home");
    assert_string_equal(c->usecp[1].local, "/");
    assert_string_equal(config_resource(c, "mem"), "16gb");
    assert_int_equal(c->suspend_signal, SIGTSTP);
    assert_int_equal(c->resume_signal, 18);
    assert_true(c->enforce.mem);
    config_destroy(c);
}

static void actions_have_a_limit_a_script_and_arguments(void **state)
{
    struct config *c =
        config_parse("$action terminate 1 !/old\n$action terminate 60 !/site/end %jobid 'a b'\n"
                     "$checkpoint_path /ckpt shared\n",
                     "config", NULL);
    const struct config_action *a;

    assert_non_null(c);
    a = &c->actions[ACTION_TERMINATE];
    assert_int_equal(a->limit_s, 60);
    assert_int_equal(a->argv.n, 3);
    assert_string_equal(a->argv.w[0], "/site/end");
    assert_string_equal(a->argv.w[2], "a b");
    assert_int_equal(c->actions[ACTION_RESTART].argv.n, 0);
    assert_string_equal(c->checkpoint_path, "/ckpt");
    assert_true(c->checkpoint_shared);
    config_destroy(c);
}

static void bad_lines_are_named(void **state)
{
    static const char *const bad[] = {"$nonsense 1\n",
                                      "$usecp here\n",
                                      "$logevent abc\n",
                                      "$tmpdir tmp\n",
                                      "$action multinodebusy 1 suspend\n",
                                      "$action multinodebusy requeue\n",
                                      "$kbd_idle\n",
                                      "$kbd_idle 10 1 0\n",
                                      "$restrict_user_exceptions no-user-of-that-name\n",
                                      "$restrict_user_exceptions 1,2,3,4,5,6,7,8,9,10,11\n",
                                      "$action terminate 1 x\n",
                                      "$action terminate !/x\n",
                                      "$checkpoint_path here\n",
                                      "load !true\n",
                                      "load !\n",
                                      "$max_load 5 stop\n",
                                      "$max_load much\n",
                                      "$configversion 2\n",
                                      "$min_check_poll 20\n$max_check_poll 10\n"};
    struct err e;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&e, 0, sizeof e);
        assert_null(config_parse(bad[i], "config", &e));
        assert_int_not_equal(e.code, 0);
        assert_true(strlen(e.text) > 10);
    }
}

static void who_else_uses_the_host_is_said(void **state)
{
    struct err e = {0};
    struct config *c =
        config_parse("$max_load 5 suspend\n$ideal_load 2\n$kbd_idle 1800 7\n$kbd_devices /a/* /b\n"
                     "$action multinodebusy 3 requeue\n$restrict_user true\n"
                     "$restrict_user_exceptions root,70001\n$restrict_user_maxsysid 500\n",
                     "config", &e);

    assert_non_null(c);
    assert_true(c->max_load_suspends && c->kbd.on && c->multinode_requeue && c->restrict_user);
    assert_true(c->max_load > 4.9 && c->max_load < 5.1 && c->ideal_load > 1.9 && c->ideal_load < 2.1);
    assert_int_equal(c->kbd.idle_s, 1800);
    assert_int_equal(c->kbd.inuse_s, 7);
    assert_int_equal(c->kbd.poll_s, 1);
    assert_int_equal(c->kbd.devices.n, 2);
    assert_int_equal(c->multinode_wait_s, 3);
    assert_int_equal(c->n_restrict_exceptions, 2);
    assert_int_equal(c->restrict_exceptions[1], 70001);
    assert_int_equal(c->restrict_maxsysid, 500);
    config_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(directives_and_resources_are_taken),
        cmocka_unit_test(actions_have_a_limit_a_script_and_arguments),
        cmocka_unit_test(who_else_uses_the_host_is_said),
        cmocka_unit_test(bad_lines_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
