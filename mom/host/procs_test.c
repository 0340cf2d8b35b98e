#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "procs.h"
#include "procs_marked.h"

static void whoever_left_the_session_is_still_found(void **state)
{
    struct procs p;
    int up[2];
    char c;
    pid_t child;
    struct err e;

    assert_int_equal(pipe(up), 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setsid();
            (void)!write(up[1], "x", 1);
        }
        pause();
        _exit(0);
    }
    assert_int_equal(read(up[0], &c, 1), 1);
    procs_init(&p);
    assert_int_equal(procs_below(&p, getpid(), &e), 0);
    assert_int_equal(p.n, 2);
    for (size_t i = 0; i < p.n; i++)
        print_message("pid %d parent %d session %d %c\n", (int)p.list[i].pid, (int)p.list[i].parent,
                      (int)p.list[i].session, p.list[i].state);
    assert_int_equal(p.list[0].pid, child);
    assert_int_equal(p.list[1].parent, child);
    assert_int_equal(p.list[1].session, p.list[1].pid);
    assert_true(procs_add_up(&p).mem_kb > 0);
    kill(p.list[1].pid, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    procs_fini(&p);
    close(up[0]);
    close(up[1]);
}

static void a_process_that_is_gone_cannot_be_read(void **state)
{
    struct procs_entry entry;

    assert_int_equal(procs_read(999999999, &entry), -1);
    assert_int_equal(procs_read(getpid(), &entry), 0);
    assert_int_equal(entry.parent, getppid());
}

/* No more than `left` descriptors can be opened from here on. */
static struct rlimit few_descriptors(unsigned left)
{
    struct rlimit before, few;
    int next = open("/dev/null", O_RDONLY);

    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)next + left, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    return before;
}

/* One descriptor lists the children of a process, the next one would be for each of them. */
static void processes_that_cannot_be_read_are_not_gone(void **state)
{
    struct procs p;
    struct err e = {0};
    pid_t child = fork();
    struct procs_sessions session = {.list = &child, .n = 1};

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        kill(getpid(), SIGSTOP);
        _exit(0);
    }
    waitpid(child, NULL, WUNTRACED);
    procs_init(&p);
    for (unsigned left = 0; left <= 2; left++) {
        struct rlimit before = few_descriptors(left);
        int below = procs_below(&p, getpid(), &e);
        size_t n = p.n;
        int of = procs_of(&p, child, &session, &e);

        setrlimit(RLIMIT_NOFILE, &before);
        assert_int_equal(below, left < 2 ? -1 : 0);
        assert_int_equal(of, left < 2 ? -1 : 0);
        if (left < 2)
            assert_int_equal(e.code, EMFILE);
        else
            assert_true(n == 1 && p.n == 1 && p.list[0].pid == child);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    procs_fini(&p);
}

/* A session of its own, whose leader waits to be killed. */
static pid_t make_session(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        kill(getpid(), SIGSTOP);
        _exit(0);
    }
    waitpid(pid, NULL, WUNTRACED);
    return pid;
}

static void a_session_that_began_after_the_note_is_a_strangers(void **state)
{
    pid_t pid = make_session();
    struct procs_sessions one = {.list = &pid, .n = 1};
    time_t now = time(NULL), began = 0;
    struct procs_marks m = {.sessions = &one, .since = now - 60, .uid = getuid(), .mark = "ABSENT=has this"};

    assert_int_equal(procs_began(pid, &began), 0);
    assert_true(began >= now - 30 && began <= now + 2);
    assert_int_equal(procs_marked_signal(&m, SIGKILL), 0);
    m.since = now;
    assert_int_equal(procs_marked_signal(&m, SIGKILL), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(procs_marked_signal(&m, SIGKILL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_left_the_session_is_still_found),
        cmocka_unit_test(a_process_that_is_gone_cannot_be_read),
        cmocka_unit_test(processes_that_cannot_be_read_are_not_gone),
        cmocka_unit_test(a_session_that_began_after_the_note_is_a_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
