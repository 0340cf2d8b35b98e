#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

enum { N = 8, RUNS = 100 };

/* Threads of a core are together, though their numbers do not. */
static unsigned numbers[N] = {0, 4, 1, 5, 2, 6, 3, 7};
static const struct cpus host = {.n = N, .number = numbers};

static void pick(unsigned weights[N], size_t from, size_t n, size_t want, const char *expected)
{
    char chosen[N] = {0}, *list;

    cpus_pick(&host, &(struct cpus_wish){{from, n}, want, RUNS}, weights, chosen);
    list = cpus_list(&host, chosen);
    if (expected)
        assert_string_equal(list, expected);
    else
        assert_null(list);
    free(list);
}

static void an_idle_host_gives_neighbours(void **state)
{
    unsigned weights[N] = {0};

    pick(weights, 0, N, 2, "0,4");
    pick(weights, 0, N, 4, "1-2,5-6");
    pick(weights, 0, N, 2, "3,7");
}

static void what_others_use_comes_last_and_what_stands_still_before_it(void **state)
{
    unsigned weights[N] = {0};

    cpus_weigh(&host, weights, "0-2,4", RUNS);
    cpus_weigh(&host, weights, "5", 1);
    cpus_weigh(&host, weights, NULL, RUNS);
    pick(weights, 0, N, 4, "3,5-7");
    pick(weights, 0, N, 1, "0");
}

static void a_share_is_not_left_and_not_more_than_it_is_given(void **state)
{
    unsigned weights[N] = {0};

    pick(weights, 2, 2, 5, "1,5");
    pick(weights, 6, 5, 5, "3,7");
    pick(weights, 0, N, 0, NULL);
}

static void the_processors_of_this_host_are_found(void **state)
{
    struct cpus here;

    assert_int_equal(cpus_look(&here, NULL), 0);
    assert_true(here.n >= 1);
    cpus_fini(&here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_host_gives_neighbours),
        cmocka_unit_test(what_others_use_comes_last_and_what_stands_still_before_it),
        cmocka_unit_test(a_share_is_not_left_and_not_more_than_it_is_given),
        cmocka_unit_test(the_processors_of_this_host_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
