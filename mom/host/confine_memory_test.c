#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

enum { LIMIT = 33554432 };
#define LIMIT_TEXT "33554432"

/* A child of the job that touches so much memory. Its wait status. */
static int take(struct confine *c, size_t bytes)
{
    pid_t child = confine_fork(c);
    int status;

    if (child == 0) {
        char *p;

        if (confine_enter(c, NULL) < 0)
            _exit(2);
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(p, 1, bytes);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static struct confine *limited(void)
{
    struct confine_place place;
    struct confine *c;

    confine_probe(&place);
    print_message("memory here: %s %s\n", confine_name(place.limit[CONFINE_MEMORY].kind),
                  place.limit[CONFINE_MEMORY].dir);
    if (place.limit[CONFINE_MEMORY].kind == CONFINE_SIGNALS)
        skip();
    c = confine_create(&place, "confine_memory_test", getpid(), SIGSTOP, SIGCONT);
    assert_non_null(c);
    assert_int_equal(confine_limit(c, CONFINE_MEMORY, LIMIT_TEXT, NULL), 0);
    return c;
}

static void within_the_limit_nothing_happens(void **state)
{
    struct confine *c = limited();
    struct pollfd p = {.fd = confine_memory_fd(c), .events = POLLIN};

    assert_int_equal(take(c, LIMIT / 4), 0);
    assert_int_equal(poll(&p, 1, 0), 0);
    assert_false(confine_has_run_out(c));
    confine_destroy(c);
}

static void beyond_it_a_process_is_killed_and_we_are_told(void **state)
{
    struct confine *c = limited();
    struct pollfd p = {.fd = confine_memory_fd(c), .events = POLLIN | POLLPRI};
    int status = take(c, 4 * (size_t)LIMIT);

    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_true(confine_memory_event(c));
    assert_true(confine_has_run_out(c));
    confine_destroy(c);
}

static void without_a_limit_there_is_nothing_to_enter(void **state)
{
    struct confine_place none = {.kind = CONFINE_SIGNALS};
    struct confine *c = confine_create(&none, "confine_memory_test", getpid(), SIGSTOP, SIGCONT);

    assert_int_equal(confine_limit(c, CONFINE_MEMORY, LIMIT_TEXT, NULL), 0);
    assert_int_equal(confine_enter(c, NULL), 0);
    assert_int_equal(confine_memory_fd(c), -1);
    assert_false(confine_memory_event(c));
    assert_false(confine_has_run_out(c));
    confine_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_the_limit_nothing_happens),
        cmocka_unit_test(beyond_it_a_process_is_killed_and_we_are_told),
        cmocka_unit_test(without_a_limit_there_is_nothing_to_enter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
