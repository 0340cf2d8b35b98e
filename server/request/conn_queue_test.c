/* The calls of a connection in their turn, on a loop and without a connection. A call is a letter: capitals look. */
#include "conn_queue.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "clock.h"
#include "loop.h"

struct trace {
    struct clock *clock;
    struct loop *l;
    struct conn_queue *conn_queue[2];
    char text[128];
    const char *ends; /* the call that destroys the first line */
};

static struct trace t;

static void note(const char *call)
{
    size_t n = strlen(t.text);

    assert_true(n + 2 < sizeof t.text);
    t.text[n] = *call;
    t.text[n + 1] = '\0';
}

static void make(void *arg, void *call)
{
    assert_ptr_equal(arg, &t);
    note(call);
    if (call == t.ends) {
        conn_queue_destroy(t.conn_queue[0]);
        t.conn_queue[0] = NULL;
    }
}

static void drop(void *call)
{
    note("-");
    note(call);
}

static const struct conn_queue_ops ops = {.make = make, .drop = drop};

static int set_up(void **state)
{
    memset(&t, 0, sizeof t);
    t.clock = clock_create_driven(0);
    t.l = loop_create(t.clock, NULL);
    for (int i = 0; i < 2; i++)
        t.conn_queue[i] = conn_queue_create(t.l, &ops, &t);
    return t.l && t.conn_queue[1] ? 0 : -1;
}

static int tear_down(void **state)
{
    conn_queue_destroy(t.conn_queue[0]);
    conn_queue_destroy(t.conn_queue[1]);
    loop_destroy(t.l);
    clock_destroy(t.clock);
    return 0;
}

static void call_all(struct conn_queue *n, const char *calls)
{
    for (; *calls; calls++)
        assert_int_equal(conn_queue_call(n, (void *)(uintptr_t)calls, isupper((unsigned char)*calls)), 0);
}

static void turn_until_quiet(void)
{
    while (loop_is_busy(t.l))
        assert_int_equal(loop_turn(t.l, 0, NULL), 0);
}

static void who_changes_does_not_wait_behind_another_who_looks(void **state)
{
    conn_queue_open(t.conn_queue[0]);
    conn_queue_open(t.conn_queue[1]);
    call_all(t.conn_queue[0], "LOOK");
    call_all(t.conn_queue[1], "change");
    assert_string_equal(t.text, "change");
    turn_until_quiet();
    assert_string_equal(t.text, "changeLOOK");
}

static void the_order_on_one_connection_stays(void **state)
{
    conn_queue_open(t.conn_queue[0]);
    call_all(t.conn_queue[0], "abCdeFGh");
    assert_string_equal(t.text, "ab");
    turn_until_quiet();
    assert_string_equal(t.text, "abCdeFGh");
    call_all(t.conn_queue[0], "i");
    assert_string_equal(t.text, "abCdeFGhi");
}

enum { CROWD = 20 };

/* Where the call of line 0 comes among those of the crowd, each of whom looks once. */
static size_t place_in(struct conn_queue *crowd[CROWD])
{
    t.text[0] = '\0';
    for (int i = 0; i < CROWD; i++)
        call_all(crowd[i], "C");
    call_all(t.conn_queue[0], "S");
    turn_until_quiet();
    assert_int_equal(strlen(t.text), CROWD + 1);
    return (size_t)(strchr(t.text, 'S') - t.text);
}

static void who_looks_seldom_does_not_stand_behind_a_crowd(void **state)
{
    struct conn_queue *crowd[CROWD];

    conn_queue_open(t.conn_queue[0]);
    for (int i = 0; i < CROWD; i++) {
        t.text[0] = '\0';
        crowd[i] = conn_queue_create(t.l, &ops, &t);
        conn_queue_open(crowd[i]);
        call_all(crowd[i], "LOOK"); /* what it has before others */
        turn_until_quiet();
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(place_in(crowd), 0, 1);
    assert_int_equal(place_in(crowd), CROWD);
    assert_int_equal(clock_set(t.clock, (int64_t)600 * 1000000), 0); /* all may look once more */
    for (int i = 0; i < CROWD; i++)
        call_all(crowd[i], "C");
    turn_until_quiet();
    assert_in_range(place_in(crowd), 0, 1);
    assert_int_equal(place_in(crowd), CROWD);
    for (int i = 0; i < CROWD; i++)
        conn_queue_destroy(crowd[i]);
}

static void a_line_that_is_held_keeps_its_calls(void **state)
{
    call_all(t.conn_queue[0], "abC");
    turn_until_quiet();
    assert_string_equal(t.text, "");
    conn_queue_open(t.conn_queue[0]);
    assert_string_equal(t.text, "ab");
    turn_until_quiet();
    assert_string_equal(t.text, "abC");
}

static void a_call_may_end_the_line_that_makes_it(void **state)
{
    static const char calls[] = "abCde";

    t.ends = &calls[2];
    conn_queue_open(t.conn_queue[0]);
    call_all(t.conn_queue[0], calls);
    turn_until_quiet();
    assert_string_equal(t.text, "abC-d-e");
}

static void what_waits_is_let_go_with_the_line(void **state)
{
    conn_queue_open(t.conn_queue[0]);
    call_all(t.conn_queue[0], "aBc");
    conn_queue_destroy(t.conn_queue[0]);
    t.conn_queue[0] = NULL;
    assert_string_equal(t.text, "a-B-c");
    assert_false(loop_is_busy(t.l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_changes_does_not_wait_behind_another_who_looks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_order_on_one_connection_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_looks_seldom_does_not_stand_behind_a_crowd, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_line_that_is_held_keeps_its_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_may_end_the_line_that_makes_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_waits_is_let_go_with_the_line, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
