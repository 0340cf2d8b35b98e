#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fault.h"

#ifdef CEDE_FAULTS
static void rules_fail_the_pass_they_name(void **state)
{
    pid_t child;
    int status;

    (void)state;
    setenv("CEDE_FAULT", "a=EIO,b:2=7,c:2+=ENOSPC,d=kill", 1);
    assert_int_equal(fault_at("a"), EIO);
    assert_int_equal(fault_at("a"), 0);
    assert_int_equal(fault_at("b"), 0);
    assert_int_equal(fault_at("b"), 7);
    assert_int_equal(fault_at("b"), 0);
    assert_int_equal(fault_at("c"), 0);
    assert_int_equal(fault_at("c"), ENOSPC);
    assert_int_equal(fault_at("c"), ENOSPC);
    assert_int_equal(fault_at("none"), 0);
    child = fork();
    if (child == 0) {
        fault_at("d");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
#else
static void rules_fail_the_pass_they_name(void **state)
{
    (void)state;
    setenv("CEDE_FAULT", "a=EIO", 1);
    assert_int_equal(fault_at("a"), 0); /* an ordinary build cannot be made to fail */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_fail_the_pass_they_name)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
