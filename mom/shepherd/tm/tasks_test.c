#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
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

    tasks_ended(t, x, KILLED);
    tasks_ended(t, x, EXIT_5); /* a second end does not count */
    assert_int_equal(x->status, 256 + 9);
    assert_int_equal(tasks_alive(t), 0);
    tasks_destroy(t);
}

static void the_oldest_ends_are_forgotten(void **state)
{
    struct tasks *t = tasks_create(0);

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

    assert_int_equal(tasks_publish(t, x, "a", "one", 3, NULL), 0);
    assert_int_equal(tasks_publish(t, x, "b", "", 0, NULL), 0);
    assert_int_equal(tasks_publish(t, x, "a", "three", 5, NULL), 0);
    assert_int_equal(tasks_info(x, "a")->n, 5);
    assert_memory_equal(tasks_info(x, "a")->bytes, "three", 5);
    assert_int_equal(tasks_info(x, "b")->n, 0);
    assert_null(tasks_info(x, "c"));
    tasks_destroy(t);
}

static void what_all_tasks_publish_is_bounded_and_goes_with_them(void **state)
{
    static char megabyte[1 << 20];
    struct tasks *t = tasks_create(0);
    struct tasks_entry *x = tasks_add(t, 2, 100), *y = tasks_add(t, 3, 101);
    struct err e = {0};
    char name[16];
    int n = 0;

    while (snprintf(name, sizeof name, "%d", n) > 0 &&
           tasks_publish(t, n % 2 ? x : y, name, megabyte, sizeof megabyte, &e) == 0)
        n++;
    assert_int_equal(n, (TASKS_INFO_BYTES_MAX >> 20) - 1);
    assert_int_equal(e.code, ENOSPC);
    assert_null(tasks_info(n % 2 ? x : y, name));
    for (int again = 0; again < 100; again++) /* replaces what was there */
        assert_int_equal(tasks_publish(t, y, "0", megabyte, sizeof megabyte - (size_t)again, NULL), 0);
    assert_int_equal(tasks_publish(t, y, "0", "", 0, NULL), 0);
    assert_int_equal(tasks_publish(t, x, "more", megabyte, sizeof megabyte, NULL), 0);
    tasks_destroy(t);
}

static void names_are_bounded_too(void **state)
{
    struct tasks *t = tasks_create(0);
    struct tasks_entry *x = tasks_add(t, 2, 100);
    char name[16];
    int n = 0;

    while (snprintf(name, sizeof name, "%d", n) > 0 && tasks_publish(t, x, name, "", 0, NULL) == 0)
        n++;
    assert_int_equal(n, TASKS_INFO_NAMES_MAX);
    assert_int_equal(tasks_publish(t, x, "0", "new", 3, NULL), 0);
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
        cmocka_unit_test(what_all_tasks_publish_is_bounded_and_goes_with_them),
        cmocka_unit_test(names_are_bounded_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
