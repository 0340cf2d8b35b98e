#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"
#include "spawn.h"

struct end {
    struct loop *l;
    int status, calls;
};

static void ended(void *arg, int status)
{
    struct end *end = arg;

    end->status = status;
    end->calls++;
    loop_stop(end->l);
}

/* Run `script` with its output in a pipe; returns what it wrote. */
static const char *output_of(const char *script, struct spawn_options o, int *status)
{
    static char text[4096];
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    struct err e = {0};
    struct end end = {.l = loop_create(NULL, NULL)};
    int pipe_fds[2], fds[3] = {-1, -1, STDERR_FILENO};
    ssize_t n;
    struct spawn *s;

    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    fds[1] = pipe_fds[1];
    o.path = "sh";
    o.argv = argv;
    o.fds = fds;
    o.n_fds = 3;
    s = spawn_start(end.l, &o, ended, &end, &e);
    if (!s)
        fail_msg("%s", e.text);
    close(pipe_fds[1]);
    assert_true(spawn_is_running(s));
    assert_int_equal(loop_run(end.l, NULL), 0);
    assert_int_equal(end.calls, 1);
    assert_false(spawn_is_running(s));
    n = read(pipe_fds[0], text, sizeof text - 1);
    text[n < 0 ? 0 : n] = '\0';
    close(pipe_fds[0]);
    spawn_destroy(s);
    loop_destroy(end.l);
    *status = end.status;
    return text;
}

static void the_end_is_reported_with_its_status(void **state)
{
    int status;

    assert_string_equal(output_of("echo out; exit 7", (struct spawn_options){0}, &status), "out\n");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_string_equal(output_of("kill -9 $$", (struct spawn_options){0}, &status), "");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void input_cwd_env_and_session_are_as_asked(void **state)
{
    char *envp[] = {(char *)"WORD=green", NULL};
    struct spawn_options o = {
        .cwd = "/usr", .envp = envp, .input = "a\nb\n", .input_len = 4, .new_session = true};
    int status;

    assert_string_equal(
        output_of("cat; pwd; echo $WORD; read a b c d e f g </proc/$$/stat; test $$ = $f && echo lead", o,
                  &status),
        "a\nb\n/usr\ngreen\nlead\n");
}

static void a_program_of_ours_gets_no_environment_and_a_session_of_its_own(void **state)
{
    char *argv[] = {
        (char *)"/bin/sh", (char *)"-c",
        (char *)"read a b c d e f g </proc/$$/stat; test $$ = $f -a -z \"$WORD\" -a $PWD = / && exit 7",
        NULL};
    struct end end = {.l = loop_create(NULL, NULL)};
    const struct spawn_options o = spawn_own(argv, NULL, 0);
    struct spawn *s;

    setenv("WORD", "red", 1);
    s = spawn_start(end.l, &o, ended, &end, NULL);
    unsetenv("WORD");
    assert_non_null(s);
    assert_int_equal(loop_run(end.l, NULL), 0);
    assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 7);
    spawn_destroy(s);
    loop_destroy(end.l);
}

static void no_other_descriptor_leaks(void **state)
{
    int leak = dup(STDERR_FILENO), status; /* without close-on-exec */

    assert_string_equal(output_of("ls -m /proc/$$/fd; true", (struct spawn_options){0}, &status),
                        "0, 1, 2\n");
    close(leak);
}

static void what_cannot_start_says_so(void **state)
{
    char *argv[] = {(char *)"x", NULL};
    struct end end = {.l = loop_create(NULL, NULL)};
    struct spawn_options o = {.path = "/nonexistent/program", .argv = argv};
    struct err e = {0};

    assert_null(spawn_start(end.l, &o, ended, &end, &e));
    assert_int_equal(e.code, ENOENT);
    o.path = "/bin/true";
    o.cwd = "/nonexistent";
    assert_null(spawn_start(end.l, &o, ended, &end, &e));
    assert_int_equal(e.code, ENOENT);
    loop_destroy(end.l);
}

static void signals_reach_the_whole_group(void **state)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 1000 & wait", NULL};
    struct end end = {.l = loop_create(NULL, NULL)};
    struct spawn_options o = {.path = "/bin/sh", .argv = argv, .new_session = true};
    struct spawn *s = spawn_start(end.l, &o, ended, &end, NULL);

    assert_non_null(s);
    assert_int_equal(spawn_signal_group(s, SIGTERM), 0);
    assert_int_equal(loop_run(end.l, NULL), 0);
    assert_true(WIFSIGNALED(end.status));
    assert_int_equal(spawn_signal_group(s, SIGTERM), -1); /* its number may be another group's by now */
    spawn_destroy(s);
    loop_destroy(end.l);
}

static void an_abandoned_child_is_reaped(void **state)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo $$", NULL}, text[32] = "";
    struct end end = {.l = loop_create(NULL, NULL)};
    int pipe_fds[2], fds[2] = {-1, -1};
    struct spawn_options o = {.path = "sh", .argv = argv, .fds = fds, .n_fds = 2};
    pid_t pid;

    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    fds[1] = pipe_fds[1];
    spawn_destroy(spawn_start(end.l, &o, ended, &end, NULL));
    close(pipe_fds[1]);
    assert_true(read(pipe_fds[0], text, sizeof text - 1) > 0);
    close(pipe_fds[0]);
    pid = (pid_t)atoi(text);
    while (kill(pid, 0) == 0)
        assert_int_equal(loop_turn(end.l, 1000, NULL), 0);
    assert_int_equal(end.calls, 0);
    loop_destroy(end.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_is_reported_with_its_status),
        cmocka_unit_test(input_cwd_env_and_session_are_as_asked),
        cmocka_unit_test(a_program_of_ours_gets_no_environment_and_a_session_of_its_own),
        cmocka_unit_test(no_other_descriptor_leaks),
        cmocka_unit_test(what_cannot_start_says_so),
        cmocka_unit_test(signals_reach_the_whole_group),
        cmocka_unit_test(an_abandoned_child_is_reaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
