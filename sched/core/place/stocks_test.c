/* Running sums against sums over all vnodes, after each of many steps of random worlds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "buckets.h"
#include "pick.h"
#include "random_world.h"
#include "cycle_preempt.h"

enum { SEEDS = 150, STEPS = 60 };

static void sum_up(const struct asker *a, struct amounts *free_now, struct amounts *total)
{
    size_t n;
    struct node *const *nodes = cluster_nodes(a->cl, &n);

    for (size_t i = 0; i < n; i++) {
        if (!match_pool(a, nodes[i]))
            continue;
        amounts_add(total, &nodes[i]->total);
        if (!nodes[i]->state && !nodes[i]->exclusive)
            amounts_add(free_now, &nodes[i]->free);
    }
}

static bool are_equal(const struct amounts *a, const struct amounts *b)
{
    return amounts_cover(a, b, NULL) && amounts_cover(b, a, NULL);
}

static void compare(const struct random_world *w)
{
    struct picker k = cycle_preempt_picker(w->c);
    struct request nothing = {0};

    for (struct queue *q = cluster_next_queue(k.cl, NULL); q; q = cluster_next_queue(k.cl, q)) {
        struct asker a = {.cl = k.cl, .request = &nothing, .queue = q};
        struct amounts free_a = {0}, total_a = {0}, free_b = {0}, total_b = {0};
        assert_true(stocks_sum(buckets_stocks(k.buckets), &a, &free_a, &total_a));
        sum_up(&a, &free_b, &total_b);
        assert_true(are_equal(&total_a, &total_b));
        assert_true(are_equal(&free_a, &free_b));
        amounts_fini(&free_a);
        amounts_fini(&free_b);
        amounts_fini(&total_a);
        amounts_fini(&total_b);
    }
}

static void running_sums_are_those_of_the_vnodes_after_each_step(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random_world *w = random_world_create(seed);
        for (int i = 0; i < STEPS; i++) {
            struct decisions d = {0};
            random_world_step(w);
            compare(w);
            random_world_cycle(w, &d);
            compare(w);
            decisions_fini(&d);
        }
        random_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_sums_are_those_of_the_vnodes_after_each_step)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
