#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <tm.h>

#include "tasks.h"

enum { EXIT_5 = 5 << 8, KILLED = 9 };

struct told {
    struct tasks_waiter w;
    int times, status;
};

static void ended(struct tasks_waiter *w, const struct tasks_entry *x)
{
    struct told *t = (struct told *)w;

    t->times++;
    t->status = x->status;
}

static void numbers_tell_the_host_and_are_not_given_twice(void **state)
{
    struct tasks *t = tasks_create(3);
    unsigned first = tasks_number(t), second;

    (void)state;
    assert_int_equal(first >> TMX_TASK_BITS, 3);
    tasks_add(t, first, 100);
    second = tasks_number(t);
    assert_true(second != first && second >> TMX_TASK_BITS == 3);
    assert_non_null(tasks_find(t, first));
    assert_null(tasks_find(t, second));
    tasks_destroy(t);
}

static void an_end_is_told_when_the_output_is_gone_too(void **state)
{
    struct tasks *t = tasks_create(0);
    struct tasks_entry *x = tasks_add(t, 2, 100);
    struct told before = {.w.ended = ended}, after = {.w.ended = ended};

    (void)state;
    tasks_wait(x, &before.w);
    tasks_over(t, x); /* has not ended: nothing */
    tasks_ended(t, x, EXIT_5);
    assert_null(tasks_find_pid(t, 100));
    assert_int_equal(before.times, 0);
    tasks_over(t, x);
    tasks_over(t, x);
    assert_int_equal(before.times, 1);
    assert_int_equal(before.status, 5);
    tasks_wait(tasks_find(t, 2), &after.w);
    assert_int_equal(after.times, 1);
    tasks_destroy(t);
}

static void a_signal_shows_above_256(void **state)
{
    struct tasks *t = tasks_create(0);
    struct tasks_entry *x = tasks_add(t, 2, 100);

    (void)state;
    tasks_ended(t, x, KILLED);
    tasks_ended(t, x, EXIT_5); /* a second end is none */
    assert_int_equal(x->status, 256 + 9);
    assert_int_equal(tasks_alive(t), 0);
    tasks_destroy(t);
}

static void the_oldest_ends_are_forgotten(void **state)
{
    struct tasks *t = tasks_create(0);

    (void)state;
    for (int i = 0; i < TASKS_ENDED_MAX + 3; i++) {
        struct tasks_entry *x = tasks_add(t, tasks_number(t), 1000 + i);

        tasks_ended(t, x, 0);
        tasks_over(t, x);
    }
    assert_null(tasks_find(t, 2));
    assert_null(tasks_find(t, 4));
    assert_non_null(tasks_find(t, 5));
    tasks_destroy(t);
}

static void a_letter_finds_its_task_again(void **state)
{
    struct tasks *t = tasks_create(1);
    struct tasks_entry *x = tasks_add(t, tasks_number(t), 100);

    (void)state;
    x->from = 2;
    x->number = 7;
    assert_ptr_equal(tasks_find_letter(t, 2, 7), x);
    assert_null(tasks_find_letter(t, 2, 8));
    assert_null(tasks_find_letter(t, 0, 7));
    x->number = 0;
    assert_null(tasks_find_letter(t, 2, 0)); /* not asked for by letter */
    tasks_destroy(t);
}

static void published_data_is_replaced_by_name(void **state)
{
    struct tasks *t = tasks_create(0);
    struct tasks_entry *x = tasks_add(t, 2, 100);

    (void)state;
    assert_int_equal(tasks_publish(x, "a", "one", 3), 0);
    assert_int_equal(tasks_publish(x, "b", "", 0), 0);
    assert_int_equal(tasks_publish(x, "a", "three", 5), 0);
    assert_int_equal(tasks_info(x, "a")->n, 5);
    assert_memory_equal(tasks_info(x, "a")->bytes, "three", 5);
    assert_int_equal(tasks_info(x, "b")->n, 0);
    assert_null(tasks_info(x, "c"));
    tasks_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_tell_the_host_and_are_not_given_twice),
        cmocka_unit_test(an_end_is_told_when_the_output_is_gone_too),
        cmocka_unit_test(a_signal_shows_above_256),
        cmocka_unit_test(the_oldest_ends_are_forgotten),
        cmocka_unit_test(a_letter_finds_its_task_again),
        cmocka_unit_test(published_data_is_replaced_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
