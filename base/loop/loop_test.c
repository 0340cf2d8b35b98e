#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock.h"
#include "loop.h"

/* What happened, as letters in order. */
struct trace {
    struct loop *l;
    struct loop_hook *hook[2];
    struct loop_timer *timer;
    struct loop_watch *watch;
    int pipe[2];
    int posted, more;
    char text[64];
    size_t n;
};

static void note(struct trace *t, char c)
{
    assert_true(t->n + 1 < sizeof t->text);
    t->text[t->n++] = c;
    t->text[t->n] = '\0';
}

static int set_up(void **state)
{
    struct trace *t = calloc(1, sizeof *t);

    t->l = loop_create(NULL, NULL);
    assert_non_null(t->l);
    assert_int_equal(pipe(t->pipe), 0);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct trace *t = *state;

    for (int i = 0; i < 2; i++)
        loop_hook_destroy(t->hook[i]);
    loop_timer_destroy(t->timer);
    loop_watch_destroy(t->watch);
    loop_destroy(t->l);
    close(t->pipe[0]);
    close(t->pipe[1]);
    free(t);
    return 0;
}

static void hook_a(void *arg)
{
    note(arg, 'a');
}

static void hook_b_marks_a(void *arg)
{
    struct trace *t = arg;

    note(t, 'b');
    if (t->n < 6)
        loop_hook_mark(t->hook[0]);
}

static void deferred(void *arg)
{
    note(arg, 'd');
}

static void readable(void *arg, unsigned ready)
{
    struct trace *t = arg;
    char c;

    assert_int_equal(ready, LOOP_READ);
    assert_int_equal(read(t->pipe[0], &c, 1), 1);
    note(t, c);
    loop_hook_mark(t->hook[1]);
    loop_hook_mark(t->hook[0]);
    assert_int_equal(loop_defer(t->l, deferred, t), 0);
    assert_true(loop_is_busy(t->l));
    if (c == '2')
        loop_stop(t->l);
}

static void hooks_run_in_order_until_none_is_marked(void **state)
{
    struct trace *t = *state;

    t->hook[1] = loop_hook_create(t->l, 20, hook_b_marks_a, t);
    t->hook[0] = loop_hook_create(t->l, 10, hook_a, t);
    t->watch = loop_watch_create(t->l, t->pipe[0], LOOP_READ, readable, t, NULL);
    assert_int_equal(write(t->pipe[1], "12", 2), 2);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "1daba2dab");
    assert_false(loop_is_busy(t->l));
}

static void destroy_itself(void *arg)
{
    struct trace *t = arg;

    note(t, 't');
    loop_timer_destroy(t->timer);
    t->timer = NULL;
}

static void stop(void *arg)
{
    struct trace *t = arg;

    note(t, 's');
    loop_stop(t->l);
}

static void timers_fire_once_in_order(void **state)
{
    struct trace *t = *state;
    struct loop_timer *last = loop_timer_create(t->l, LOOP_REAL, stop, t);
    struct loop_timer *never = loop_timer_create(t->l, LOOP_REAL, hook_a, t);
    int64_t start_ms = clock_real_mono_ms();

    t->timer = loop_timer_create(t->l, LOOP_CLOCK, destroy_itself, t);
    loop_timer_set(last, 1);
    loop_timer_set(last, 30); /* set again: the first is forgotten */
    loop_timer_set(never, 5);
    loop_timer_cancel(never);
    loop_timer_set(t->timer, -5);
    assert_true(loop_timer_is_set(last));
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "ts");
    assert_true(clock_real_mono_ms() - start_ms >= 30);
    assert_false(loop_timer_is_set(last));
    loop_timer_destroy(last);
    loop_timer_destroy(never);
}

static void a_driven_clock_fires_its_timers(void **state)
{
    struct trace t = {0};
    struct clock *c = clock_create_driven(0);

    t.l = loop_create(c, NULL);
    t.timer = loop_timer_create(t.l, LOOP_CLOCK, destroy_itself, &t);
    loop_timer_set(t.timer, 3600000);
    assert_int_equal(loop_next_due_mono_ms(t.l), 3600000);
    assert_int_equal(loop_turn(t.l, 1, NULL), 0);
    assert_string_equal(t.text, "");
    clock_advance(c, 3600LL * 1000000000);
    assert_int_equal(loop_turn(t.l, -1, NULL), 0); /* does not wait: the clock has woken it */
    assert_string_equal(t.text, "t");
    assert_int_equal(loop_next_due_mono_ms(t.l), INT64_MAX);
    loop_destroy(t.l);
    clock_destroy(c);
}

enum { POSTS = 50000 };

static void count_post(void *arg)
{
    struct trace *t = arg;

    if (++t->posted == 2 * POSTS)
        loop_stop(t->l);
}

static void *post_many(void *arg)
{
    struct trace *t = arg;

    for (int i = 0; i < POSTS; i++)
        assert_int_equal(loop_post(t->l, count_post, t), 0);
    return NULL;
}

static void posts_of_threads_all_arrive(void **state)
{
    struct trace *t = *state;
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, t), 0);
    assert_int_equal(loop_run(t->l, NULL), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(t->posted, 2 * POSTS);
}

static void signals_are_callbacks(void **state)
{
    struct trace *t = *state;
    struct loop_signal *s = loop_signal_create(t->l, SIGUSR1, stop, t, NULL);

    assert_non_null(s);
    raise(SIGUSR1);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "s");
    loop_signal_destroy(s);
}

static void watch_stops(void *arg, unsigned ready)
{
    stop(arg);
}

static void a_signal_that_two_want_is_watched_until_both_are_gone(void **state)
{
    struct trace *t = *state;
    struct loop_signal *first = loop_signal_create(t->l, SIGUSR1, stop, t, NULL);
    struct loop_signal *second = loop_signal_create(t->l, SIGUSR1, stop, t, NULL);
    struct sigaction before;

    raise(SIGUSR1);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "ss");
    loop_signal_destroy(first);
    raise(SIGUSR1);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "sss");
    loop_signal_destroy(second);
    assert_int_equal(sigaction(SIGUSR1, NULL, &before), 0);
    assert_true(before.sa_handler == SIG_DFL);
}

/* Both pipes are ready at once: the callback that comes first destroys the other's watch, or silences it. */
struct rivals {
    struct loop *l;
    struct loop_watch *watch[2];
    int called;
    bool destroys;
};

static void end_rival(struct rivals *r, int rival)
{
    r->called++;
    if (r->destroys) {
        loop_watch_destroy(r->watch[rival]);
        r->watch[rival] = NULL;
    } else {
        loop_watch_set(r->watch[rival], 0);
    }
}

static void first_is_ready(void *arg, unsigned ready)
{
    end_rival(arg, 1);
}

static void second_is_ready(void *arg, unsigned ready)
{
    end_rival(arg, 0);
}

static void a_watch_that_another_callback_has_ended_is_not_called(void **state)
{
    struct trace *t = *state;
    int other[2];

    assert_int_equal(pipe(other), 0);
    for (int destroys = 0; destroys < 2; destroys++) {
        struct rivals r = {.l = t->l, .destroys = destroys};

        r.watch[0] = loop_watch_create(t->l, t->pipe[0], LOOP_READ, first_is_ready, &r, NULL);
        r.watch[1] = loop_watch_create(t->l, other[0], LOOP_READ, second_is_ready, &r, NULL);
        assert_int_equal(write(t->pipe[1], "x", 1) + write(other[1], "x", 1), 2);
        assert_int_equal(loop_turn(t->l, -1, NULL), 0);
        assert_int_equal(r.called, 1);
        loop_watch_destroy(r.watch[0]);
        loop_watch_destroy(r.watch[1]);
    }
    close(other[0]);
    close(other[1]);
}

static void a_silent_watch_does_not_show_that_its_peer_has_closed(void **state)
{
    struct trace *t = *state;

    t->watch = loop_watch_create(t->l, t->pipe[0], LOOP_READ, watch_stops, t, NULL);
    loop_watch_set(t->watch, 0);
    close(t->pipe[1]);
    assert_int_equal(loop_turn(t->l, 0, NULL), 0);
    assert_string_equal(t->text, "");
    loop_watch_set(t->watch, LOOP_READ);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_string_equal(t->text, "s");
}

static void a_descriptor_that_cannot_be_watched_is_refused(void **state)
{
    struct trace *t = *state;
    struct err e = {0};

    assert_null(loop_watch_create(t->l, -1, LOOP_READ, watch_stops, t, &e));
    assert_int_equal(e.code, EBADF);
}

static void mark_again(void *arg)
{
    struct trace *t = arg;

    t->posted++;
    loop_hook_mark(t->hook[0]);
}

static void a_hook_that_feeds_itself_starves_nobody(void **state)
{
    struct trace *t = *state;

    t->hook[0] = loop_hook_create(t->l, 0, mark_again, t);
    loop_hook_mark(t->hook[0]);
    t->watch = loop_watch_create(t->l, t->pipe[0], LOOP_READ, watch_stops, t, NULL);
    assert_int_equal(write(t->pipe[1], "x", 1), 1);
    assert_int_equal(loop_run(t->l, NULL), 0);
    assert_true(t->posted >= 1);
}

/* Two pieces of endless work: each asks again until the test has stopped the loop. */
static void work(void *arg)
{
    struct trace *t = arg;

    t->posted++;
    assert_int_equal(loop_background(t->l, work, t), 0);
}

static void more_work(void *arg)
{
    struct trace *t = arg;

    t->more++;
    assert_int_equal(loop_background(t->l, more_work, t), 0);
}

static void endless_work_in_the_background_starves_nobody(void **state)
{
    struct trace *t = *state;

    assert_int_equal(loop_background(t->l, work, t), 0);
    assert_int_equal(loop_background(t->l, more_work, t), 0);
    t->watch = loop_watch_create(t->l, t->pipe[0], LOOP_READ, watch_stops, t, NULL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(loop_turn(t->l, -1, NULL), 0); /* which does not wait */
    assert_true(t->posted >= 1 && t->more >= 1);
    assert_in_range(t->posted - t->more, 0, 1); /* in turn */
    assert_true(loop_is_busy(t->l));
    assert_int_equal(write(t->pipe[1], "x", 1), 1);
    assert_int_equal(loop_run(t->l, NULL), 0);
    loop_forget(t->l, work, t);
    loop_forget(t->l, more_work, t);
    assert_false(loop_is_busy(t->l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(endless_work_in_the_background_starves_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hooks_run_in_order_until_none_is_marked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timers_fire_once_in_order, set_up, tear_down),
        cmocka_unit_test(a_driven_clock_fires_its_timers),
        cmocka_unit_test_setup_teardown(posts_of_threads_all_arrive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signals_are_callbacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_signal_that_two_want_is_watched_until_both_are_gone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_watch_that_another_callback_has_ended_is_not_called, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_silent_watch_does_not_show_that_its_peer_has_closed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_that_cannot_be_watched_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hook_that_feeds_itself_starves_nobody, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
