#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon.h"
#include "file.h"

static char lock_path[64];

static int set_up(void **state)
{
    char dir[] = "/tmp/daemon_test.XXXXXX";

    assert_non_null(mkdtemp(dir));
    snprintf(lock_path, sizeof lock_path, "%s/lock", dir);
    *state = strdup(dir);
    return 0;
}

static int tear_down(void **state)
{
    assert_int_equal(file_remove_tree(AT_FDCWD, *state, NULL), 0);
    free(*state);
    return 0;
}

enum fate { FATE_READY, FATE_FAIL, FATE_EXIT, FATE_KILLED };

/* What a daemon's main does; becomes ready and then waits for a signal, or not. */
static int daemon_main(enum fate fate)
{
    struct daemon_options o = {.name = "testd", .lock_path = lock_path};
    struct err e;
    int exit_code;
    struct daemon *d = daemon_begin(&o, &exit_code);

    if (!d)
        return exit_code;
    switch (fate) {
    case FATE_READY:
        daemon_ready(d);
        pause();
        break;
    case FATE_FAIL:
        err_set(&e, ENOENT, "no home at /x");
        exit_code = daemon_fail(d, &e);
        break;
    case FATE_EXIT:
        _exit(9);
    case FATE_KILLED:
        raise(SIGKILL);
    }
    daemon_end(d);
    return exit_code;
}

/* Start it as a command would be started: its exit code, and what it wrote to stderr. */
static int start(enum fate fate, char text[static 256])
{
    int fds[2], status;
    pid_t pid;
    ssize_t n;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        _exit(daemon_main(fate));
    }
    close(fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    n = read(fds[0], text, 255);
    text[n < 0 ? 0 : n] = '\0';
    close(fds[0]);
    return WEXITSTATUS(status);
}

static void the_start_ends_when_the_daemon_is_ready(void **state)
{
    char text[256], want[256];
    pid_t pid;

    assert_int_equal(start(FATE_READY, text), 0);
    assert_string_equal(text, "");
    pid = file_lock_holder(lock_path, NULL);
    assert_true(pid > 0);
    assert_int_equal(getsid(pid), pid);
    assert_int_equal(start(FATE_READY, text), DAEMON_EXIT_LOCK); /* only one of its kind */
    snprintf(want, sizeof want, "testd: another testd running: %s is locked by process %ld\n", lock_path,
             (long)pid);
    assert_string_equal(text, want);
    assert_int_equal(kill(pid, SIGTERM), 0);
    while (file_lock_holder(lock_path, NULL) == pid)
        usleep(1000);
}

static void a_failed_start_says_why(void **state)
{
    char text[256];

    assert_int_equal(start(FATE_FAIL, text), 1);
    assert_string_equal(text, "testd: no home at /x\n");
    assert_int_equal(start(FATE_EXIT, text), 1);
    assert_string_equal(text, "testd: ended with status 9 before it was ready\n");
    assert_int_equal(start(FATE_KILLED, text), 1);
    assert_string_equal(text, "testd: ended by signal 9 before it was ready\n");
}

static void limits_are_set(void **state)
{
    struct rlimit files;

    assert_int_equal(daemon_set_limits(0, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    assert_true(files.rlim_cur == files.rlim_max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_start_ends_when_the_daemon_is_ready, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_start_says_why, set_up, tear_down),
        cmocka_unit_test(limits_are_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
