/* What is left fails, and no part of it can go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ddmin.h"

enum { PARTS = 40 };

struct needs { /* it fails where all of these are there */
    size_t part[3];
    int n, asked;
};

static bool has_all(const bool *keep, void *arg)
{
    struct needs *x = arg;
    bool all = true;

    x->asked++;
    for (int i = 0; i < x->n; i++)
        all = all && keep[x->part[i]];
    return all;
}

static bool has_odd_number(const bool *keep, void *arg)
{
    const int *at_least = arg;
    int n = 0;

    for (int i = 0; i < PARTS; i++)
        n += keep[i];
    return n % 2 == 1 && n >= *at_least;
}

static void all_parts(bool *keep)
{
    for (int i = 0; i < PARTS; i++)
        keep[i] = true;
}

static void what_is_needed_is_left_alone(void **state)
{
    for (size_t first = 0; first < PARTS - 2; first++) {
        struct needs x = {.part = {first, first + 1, PARTS - 1}, .n = 3};
        bool keep[PARTS];
        size_t wanted = first + 1 == PARTS - 1 ? 2 : 3;
        all_parts(keep);
        assert_int_equal(ddmin(keep, PARTS, has_all, &x), wanted);
        assert_true(has_all(keep, &x));
        assert_in_range(x.asked, 1, 4 * PARTS);
    }
}

static void a_test_that_passes_leaves_the_parts_as_they_were(void **state)
{
    struct needs x = {.part = {3}, .n = 1};
    bool keep[PARTS], before[PARTS];

    all_parts(keep);
    keep[3] = false;
    memcpy(before, keep, sizeof keep);
    assert_int_equal(ddmin(keep, PARTS, has_all, &x), 0);
    assert_memory_equal(keep, before, sizeof keep);
}

static void parts_that_were_left_out_before_stay_out(void **state)
{
    struct needs x = {.part = {5}, .n = 1};
    bool keep[PARTS] = {false};

    keep[5] = keep[6] = true;
    assert_int_equal(ddmin(keep, PARTS, has_all, &x), 1);
    assert_true(keep[5] && !keep[6]);
}

/* Parity: no single part can go, pairs can. What is left may be long, but it fails. */
static void what_is_left_fails_also_where_parts_depend_on_each_other(void **state)
{
    int at_least = 5;
    bool keep[PARTS];

    all_parts(keep);
    keep[0] = false;
    size_t n = ddmin(keep, PARTS, has_odd_number, &at_least);
    assert_true(n % 2 == 1 && n >= 5);
    assert_true(has_odd_number(keep, &at_least));
}

static void nothing_fails_without_parts(void **state)
{
    struct needs x = {.n = 0};

    assert_int_equal(ddmin(NULL, 0, has_all, &x), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_is_left_alone),
        cmocka_unit_test(a_test_that_passes_leaves_the_parts_as_they_were),
        cmocka_unit_test(parts_that_were_left_out_before_stay_out),
        cmocka_unit_test(what_is_left_fails_also_where_parts_depend_on_each_other),
        cmocka_unit_test(nothing_fails_without_parts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
