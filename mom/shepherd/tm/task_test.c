/* The birth of a process: it waits for the word, and a program that stops it meanwhile does not stop its shepherd. */
#include "task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

struct birth {
    struct shep_order order;
    struct task task;
    int report[2];
    char go[64]; /* GO=FILE: the program waits for it */
};

static char program[] = "/bin/sh", option[] = "-c",
            text[] = "until [ -e $GO ]; do sleep 0.01; done; echo begun; exit 7",
            missing[] = "/no/such/program";
static char nothing[] = "", id[] = "1.server", root[] = "/", path_of[] = "PATH=/usr/bin:/bin";

static int begin(void **state)
{
    static struct birth b;

    b = (struct birth){
        .order = {.id = id, .cwd = root, .home = root, .exec_path = nothing, .input = nothing}};
    snprintf(b.go, sizeof b.go, "GO=/tmp/cede-task-%d", (int)getpid());
    task_init(&b.task);
    assert_int_equal(pipe2(b.report, O_CLOEXEC), 0);
    b.task.out = dup(b.report[1]);
    b.task.err = open("/dev/null", O_WRONLY | O_CLOEXEC);
    *state = &b;
    return 0;
}

static int end(void **state)
{
    struct birth *b = *state;

    task_fini(&b->task);
    unlink(b->go + strlen("GO="));
    close(b->report[0]);
    close(b->report[1]);
    return 0;
}

static void fork_it(struct birth *b, char *path)
{
    char *argv[] = {program, option, text}, *env[] = {path_of, b->go};
    const struct task_program p = {
        .path = path, .argv = argv, .n_argv = 3, .env = env, .n_env = 2, .input = nothing};
    struct err e = {0};

    if (task_fork_program(&b->task, &b->order, &p, &e) < 0)
        fail_msg("%s", e.text);
}

static bool has_begun(const struct birth *b)
{
    char said[16] = "";

    fcntl(b->report[0], F_SETFL, O_NONBLOCK);
    return read(b->report[0], said, sizeof said - 1) > 0 && strcmp(said, "begun\n") == 0;
}

static void expect_end(const struct birth *b, int code)
{
    int status = -1, fd = open(b->go + strlen("GO="), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(waitpid(b->task.pid, &status, 0), b->task.pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

static void it_begins_when_it_is_told(void **state)
{
    struct birth *b = *state;

    fork_it(b, program);
    assert_false(has_begun(b));
    assert_int_equal(task_go(&b->task, &b->order, NULL), 0);
    expect_end(b, 7);
    assert_true(has_begun(b));
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct birth *b = *state;
    struct err e = {0};

    fork_it(b, missing);
    assert_int_equal(task_go(&b->task, &b->order, &e), -1);
    assert_non_null(strstr(e.text, missing));
    waitpid(b->task.pid, NULL, 0);
}

static void one_that_was_stopped_before_it_began_stands_at_its_beginning(void **state)
{
    struct birth *b = *state;
    int status = 0;

    fork_it(b, program);
    assert_int_equal(kill(b->task.pid, SIGSTOP), 0);
    assert_int_equal(task_go(&b->task, &b->order, NULL), 0);
    do /* it is told of the stop before, and of continuing, if no other process was */
        assert_int_equal(waitpid(b->task.pid, &status, WUNTRACED), b->task.pid);
    while (!WIFSTOPPED(status));
    assert_int_equal(kill(b->task.pid, SIGCONT), 0);
    expect_end(b, 7);
    assert_true(has_begun(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_begins_when_it_is_told, begin, end),
        cmocka_unit_test_setup_teardown(a_program_that_is_not_there_is_named, begin, end),
        cmocka_unit_test_setup_teardown(one_that_was_stopped_before_it_began_stands_at_its_beginning, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
