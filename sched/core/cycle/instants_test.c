/* Times to try: the list of a search is in order, and has of each window the last one with what is remarkable of all in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "instants.h"
#include "cycle.h"

enum { NOW_S = 1000000, ENDS = 200, BOOKINGS = 40, ROUNDS = 200, SPAN_S = 3000 };

static int instants_test_by_time(const void *a, const void *b)
{
    const struct release *x = a, *y = b;

    return x->at_s < y->at_s ? -1 : x->at_s > y->at_s;
}

/* What is in the window of `at_s`: the last time, and whether a booking is in it. */
static struct instant window_of(const struct release *ends, const struct booking *b, int64_t window_s,
                                int64_t at_s)
{
    struct instant x = {0};

    for (int i = 0; i < ENDS; i++)
        if (ends[i].at_s / window_s == at_s / window_s && ends[i].at_s > x.at_s)
            x.at_s = ends[i].at_s;
    for (int i = 0; i < BOOKINGS; i++)
        if (b[i].to_s / window_s == at_s / window_s) {
            x.is_apart = true;
            x.at_s = b[i].to_s > x.at_s ? b[i].to_s : x.at_s;
        }
    return x;
}

static bool is_listed(const struct instants *l, int64_t window_s, int64_t at_s)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->a[i].at_s / window_s == at_s / window_s)
            return true;
    return false;
}

static void instants_test_round(const struct cluster *cl, int64_t window_s)
{
    struct release ends[ENDS];
    struct release_times l = {.a = ends, .n = ENDS};
    struct booking b[BOOKINGS];
    struct instants of_ends = {0}, all = {0};

    for (int i = 0; i < ENDS; i++)
        ends[i] = (struct release){.at_s = NOW_S + 1 + rand() % SPAN_S};
    qsort(ends, ENDS, sizeof *ends, instants_test_by_time);
    for (int i = 0; i < BOOKINGS; i++)
        b[i] = (struct booking){.to_s = NOW_S + 1 + rand() % SPAN_S};

    instants_of_ends(&of_ends, &l, window_s);
    instants_merge(&all, &of_ends, cl, b, BOOKINGS, NOW_S);
    for (size_t i = 0; i < all.n; i++) {
        struct instant x = window_of(ends, b, window_s, all.a[i].at_s);
        assert_true(i == 0 || all.a[i - 1].at_s / window_s < all.a[i].at_s / window_s);
        assert_int_equal(all.a[i].at_s, x.at_s);
        assert_int_equal(all.a[i].is_apart, x.is_apart);
        assert_false(all.a[i].is_policy);
    }
    for (int i = 0; i < ENDS; i++)
        assert_true(is_listed(&all, window_s, ends[i].at_s));
    for (int i = 0; i < BOOKINGS; i++)
        assert_true(is_listed(&all, window_s, b[i].to_s));
    instants_fini(&of_ends);
    instants_fini(&all);
}

static void of_each_window_the_last_time_is_listed(void **state)
{
    static const int64_t windows_s[] = {1, 60, 600};

    for (size_t w = 0; w < sizeof windows_s / sizeof *windows_s; w++) {
        struct policy p;
        policy_init(&p);
        p.fuzzy_s = windows_s[w];
        struct cycle *c = cycle_create("default", &p);
        srand(1);
        for (int i = 0; i < ROUNDS; i++)
            instants_test_round(cycle_cluster(c), windows_s[w]);
        cycle_destroy(c);
        policy_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_each_window_the_last_time_is_listed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
