#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "task_env.h"

static const char *const job[] = {"PATH=/bin",
                                  "PBS_JOBID=1.s",
                                  "HOME=/home/a",
                                  "PBS_NODENUM=0",
                                  "PBS_TASKNUM=1",
                                  "LANG=C",
                                  "PBS_CHECKPOINT_DIR=/n2/app"};
static const char *const given[] = {
    "LANG=de",       "MORE=yes",      "no equals sign", "=nameless",
    "PBS_JOBID=9.s", "PBS_TASKNUM=7", "LANGUAGE=x",     "PBS_CHECKPOINT_DIR=/n1/app"};

/* The struct takes what main() gets, which no code writes to. */
static struct words make(const char *const *more, unsigned n)
{
    const struct task_env_facts f = {.job = (char *const *)(uintptr_t)job,
                                     .n_job = sizeof job / sizeof job[0],
                                     .given = (char *const *)(uintptr_t)more,
                                     .n_given = n,
                                     .task = 5,
                                     .node = 3};
    struct words w;
    struct err e;

    words_init(&w);
    assert_int_equal(task_env_make(&f, &w, &e), 0);
    return w;
}

static const char *of(const struct words *w, const char *name)
{
    return task_env_find(w->w, (unsigned)w->n, name);
}

static void what_is_given_lies_over_the_job(void **state)
{
    struct words w = make(given, sizeof given / sizeof given[0]);

    assert_string_equal(of(&w, "LANG"), "de");
    assert_string_equal(of(&w, "LANGUAGE"), "x");
    assert_string_equal(of(&w, "MORE"), "yes");
    assert_string_equal(of(&w, "PATH"), "/bin");
    assert_int_equal(w.n, 9);
    words_fini(&w);
}

static void what_belongs_to_host_and_task_cannot_be_given(void **state)
{
    struct words w = make(given, sizeof given / sizeof given[0]);

    assert_string_equal(of(&w, "PBS_JOBID"), "1.s");
    assert_string_equal(of(&w, "PBS_TASKNUM"), "5");
    assert_string_equal(of(&w, "PBS_NODENUM"), "3");
    assert_string_equal(of(&w, "PBS_CHECKPOINT_DIR"), "/n2/app");
    words_fini(&w);
}

static void nothing_given_is_the_jobs_own(void **state)
{
    struct words w = make(NULL, 0);

    assert_int_equal(w.n, 7);
    assert_string_equal(of(&w, "LANG"), "C");
    assert_null(of(&w, "LAN"));
    assert_null(of(&w, "MORE"));
    words_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_lies_over_the_job),
        cmocka_unit_test(what_belongs_to_host_and_task_cannot_be_given),
        cmocka_unit_test(nothing_given_is_the_jobs_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
