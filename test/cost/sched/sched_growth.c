/* What a cycle costs at ten times the size: at most twelve times as much, in steps, which are the same on any machine. And what
 * a hundred top jobs cost beside the same without any: a search for a time costs little of what there is, vnodes and jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "crowd.h"

/* A linear part grows by 10, one that sorts by a little more. What grows with the square is at 100. */
enum { TIMES = 10, MOST = 12 };

static const struct crowd_size once = {.nodes = 1000, .jobs = 10000, .classes = 100};

static struct crowd_size crowd_size_of(int times, bool strict)
{
    struct crowd_size x = once;

    x.nodes *= times;
    x.jobs *= times;
    x.classes *= times;
    x.strict = strict;
    return x;
}

enum row { FILL, ASKED, ENDS, URGENT_TENTH, URGENT_ALL, EXPLAINED, N_ROWS };
static const char *const words[N_ROWS] = {
    "until every vnode runs a job",  "an asked cycle with nothing to do",
    "one job ends, the next runs",   "an urgent job over a tenth of the vnodes",
    "an urgent job over all vnodes", "the last job that waits is explained"};

static void growth_measure(struct crowd_size size, uint64_t steps[N_ROWS])
{
    struct crowd *w = crowd_create(size);

    steps[FILL] = crowd_cycle(w);
    assert_int_equal(w->n_running, size.nodes);
    while (cycle_has_news(w->c, w->now_s))
        crowd_cycle(w);
    steps[ASKED] = crowd_ask(w);
    assert_int_equal(w->n_started, 0);
    crowd_end_one(w); /* the first one may make what is kept from then on */
    steps[ENDS] = crowd_end_one(w);
    assert_int_equal(w->n_running, size.nodes);
    steps[URGENT_TENTH] = crowd_urge(w, size.nodes / 10);
    assert_int_equal(w->n_victims, size.nodes / 10);
    steps[URGENT_ALL] = crowd_urge(w, size.nodes);
    assert_int_equal(w->n_victims, size.nodes);
    steps[EXPLAINED] = crowd_explain(w);
    assert_true(w->n_before > 0);
    crowd_destroy(w);
}

static void growth_compare(const char *const *what, int n, const uint64_t *small, const uint64_t *large)
{
    int n_square = 0;

    for (int i = 0; i < n; i++) {
        print_message("%-44s %12llu %14llu steps, growth %.1f\n", what[i], (unsigned long long)small[i],
                      (unsigned long long)large[i], (double)large[i] / (double)small[i]);
        n_square += large[i] > MOST * small[i];
    }
    assert_int_equal(n_square, 0);
}

static uint64_t small[2][N_ROWS], large[2][N_ROWS]; /* measured once: of default order, of strict order */

static int growth_measure_all(void **state)
{
    for (int strict = 0; strict < 2; strict++) {
        growth_measure(crowd_size_of(1, strict), small[strict]);
        growth_measure(crowd_size_of(TIMES, strict), large[strict]);
    }
    return 0;
}

/* At the large size: strict order at most so many times the default one. Where each search by itself goes through all that ends and
 * gives way it is 19, 17, 13 and 35 times in the rows from ASKED on. */
static const int strict_times[N_ROWS] = {
    [FILL] = 2, [ASKED] = 10, [ENDS] = 10, [URGENT_TENTH] = 3, [URGENT_ALL] = 25, [EXPLAINED] = 3};

static void a_hundred_top_jobs_cost_a_small_part_of_a_search_through_all(void **state)
{
    int n_dear = 0;

    for (int i = 0; i < N_ROWS; i++) {
        print_message("%-44s strict order %.1f times\n", words[i], (double)large[1][i] / (double)large[0][i]);
        n_dear += large[1][i] > (uint64_t)strict_times[i] * large[0][i];
    }
    assert_int_equal(n_dear, 0);
}

/* So many hundredths of what it costs without reservations a cycle with nothing to do may cost with them. */
enum { MOST_RESERVED = 140 };

/* Every vnode is promised to a reservation of ten, and runs a job before that. */
enum { RESV_FIRST, RESV_ASKED, RESV_REACH, RESV_AGAIN, RESV_ENDS, N_RESV_ROWS };
static const char *const resv_words[N_RESV_ROWS] = {
    "all vnodes reserved: the first", "all vnodes reserved: all have a job now",
    "all vnodes reserved: a job would reach it now", "all vnodes reserved: nothing to do",
    "all vnodes reserved: one ends, the next runs"};

static void growth_measure_reserved(int times, uint64_t steps[N_RESV_ROWS])
{
    struct crowd_size size = crowd_size_of(times, false);

    size.resvs = size.nodes / 10;
    struct crowd *w = crowd_create(size);
    steps[RESV_FIRST] = crowd_cycle(w);
    assert_int_equal(w->n_running, size.nodes);
    while (cycle_has_news(w->c, w->now_s))
        crowd_cycle(w);
    steps[RESV_ASKED] = crowd_ask(w);
    assert_int_equal(w->n_started, 0);
    w->now_s++; /* a reservation comes within reach of a class */
    steps[RESV_REACH] = crowd_ask(w);
    w->now_s++;
    steps[RESV_AGAIN] = crowd_ask(w);
    assert_int_equal(w->n_started, 0);
    crowd_end_one(w);
    steps[RESV_ENDS] = crowd_end_one(w);
    assert_int_equal(w->n_running, size.nodes);
    crowd_destroy(w);
}

static void so_it_does_where_all_vnodes_are_reserved(void **state)
{
    uint64_t once_as_large[N_RESV_ROWS], ten_times[N_RESV_ROWS];

    growth_measure_reserved(1, once_as_large);
    growth_measure_reserved(TIMES, ten_times);
    growth_compare(resv_words, N_RESV_ROWS, once_as_large, ten_times);
}

/* What is kept for reservations is not made again. */
static void reservations_cost_next_to_nothing_in_a_cycle_with_nothing_to_do(void **state)
{
    uint64_t with[N_RESV_ROWS], without = small[0][ASKED];

    growth_measure_reserved(1, with);
    print_message("%llu steps, %llu without reservations\n", (unsigned long long)with[RESV_AGAIN],
                  (unsigned long long)without);
    assert_true(100 * with[RESV_AGAIN] < MOST_RESERVED * without);
}

static void a_cycle_costs_at_most_in_proportion_to_the_size(void **state)
{
    growth_compare(words, N_ROWS, small[0], large[0]);
}

static void so_it_does_with_fairshare_and_strict_order(void **state)
{
    growth_compare(words, N_ROWS, small[1], large[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_costs_at_most_in_proportion_to_the_size),
        cmocka_unit_test(so_it_does_with_fairshare_and_strict_order),
        cmocka_unit_test(a_hundred_top_jobs_cost_a_small_part_of_a_search_through_all),
        cmocka_unit_test(reservations_cost_next_to_nothing_in_a_cycle_with_nothing_to_do),
        cmocka_unit_test(so_it_does_where_all_vnodes_are_reserved)};

    return cmocka_run_group_tests(tests, growth_measure_all, NULL);
}
