#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "confine_group.h"

static volatile long *counter;

static void wait_until_counting(void)
{
    long was = *counter;

    for (int i = 0; i < 2000 && *counter == was; i++)
        usleep(1000);
    assert_int_not_equal(*counter, was);
}

static pid_t start_counting(void)
{
    pid_t child = fork();

    if (child)
        return child;
    if (fork() == 0) { /* leaves the session, and its parent dies: only the subreaper still knows it */
        setsid();
        for (;;) {
            ++*counter;
            usleep(200);
        }
    }
    _exit(0);
}

static void suspend_and_resume(const struct confine_place *place, bool prepared)
{
    struct confine *c;
    struct err e = {0};
    long at;
    pid_t child;

    *counter = 0;
    child = start_counting();
    waitpid(child, NULL, 0);
    c = confine_create(place, "confine_test", getpid(), SIGSTOP, SIGCONT);
    wait_until_counting();
    if (prepared)
        confine_prepare(c);
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_true(confine_is_suspended(c));
    at = *counter;
    usleep(30000);
    assert_int_equal(*counter, at);
    assert_int_equal(confine_resume(c, &e), 0);
    wait_until_counting();
    assert_int_equal(confine_suspend(c, 2000, &e), 0);
    assert_int_equal(confine_signal(c, SIGKILL), 1);
    assert_int_equal(confine_resume(c, &e), 0);
    assert_true(wait(NULL) > 0);
    assert_int_equal(confine_signal(c, 0), 0);
    confine_destroy(c);
}

static void signals_stop_and_continue_a_whole_job(void **state)
{
    struct confine_place place = {.kind = CONFINE_SIGNALS};

    (void)state;
    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

static void whatever_this_host_offers_does_too(void **state)
{
    struct confine_place place;

    (void)state;
    confine_probe(&place);
    print_message("this host: %s %s\n", confine_name(place.kind), place.dir);
    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

static void the_older_freezer_does_where_it_is_there(void **state)
{
    struct confine_place place = {.kind = CONFINE_V1};

    (void)state;
    if (confine_group_find(&confine_v1, place.dir, sizeof place.dir) < 0)
        skip();
    suspend_and_resume(&place, false);
    suspend_and_resume(&place, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_stop_and_continue_a_whole_job),
        cmocka_unit_test(whatever_this_host_offers_does_too),
        cmocka_unit_test(the_older_freezer_does_where_it_is_there),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
