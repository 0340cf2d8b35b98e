#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"
#include "worker.h"

enum { MANY = 20000 };

struct bench {
    struct loop *l;
    struct worker *w;
    pthread_t loop_thread;
    pthread_mutex_t gate;
    int worked, done, dropped;
};

static void work(void *arg)
{
    struct bench *b = arg;

    assert_false(pthread_equal(pthread_self(), b->loop_thread));
    pthread_mutex_lock(&b->gate);
    b->worked++;
    pthread_mutex_unlock(&b->gate);
}

static void done(void *arg, bool ran)
{
    struct bench *b = arg;

    assert_true(pthread_equal(pthread_self(), b->loop_thread));
    b->done += ran;
    b->dropped += !ran;
    if (b->done == MANY)
        loop_stop(b->l);
}

static void set_up(struct bench *b, size_t max_queued)
{
    struct err e;

    *b = (struct bench){.gate = PTHREAD_MUTEX_INITIALIZER, .loop_thread = pthread_self()};
    b->l = loop_create(NULL, &e);
    b->w = worker_create(b->l, "a long name of a worker", max_queued, &e);
    assert_non_null(b->w);
}

static void all_work_is_done_once(void **state)
{
    struct bench b;

    set_up(&b, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(worker_submit(b.w, work, done, &b, NULL), 0);
    assert_int_equal(loop_run(b.l, NULL), 0);
    assert_int_equal(b.worked, MANY);
    assert_int_equal(b.done, MANY);
    worker_destroy(b.w);
    loop_destroy(b.l);
}

static void a_full_queue_refuses_and_destroy_drops(void **state)
{
    struct bench b;
    struct err e = {0};
    int accepted = 0;

    set_up(&b, 5);
    pthread_mutex_lock(&b.gate); /* the thread is held inside its first piece, or has none yet */
    while (worker_submit(b.w, work, done, &b, &e) == 0)
        accepted++;
    assert_int_equal(e.code, EAGAIN);
    assert_true(accepted == 5 || accepted == 6);
    pthread_mutex_unlock(&b.gate);
    worker_destroy(b.w);
    assert_int_equal(b.done, b.worked);
    assert_int_equal(b.done + b.dropped, accepted);
    assert_int_equal(loop_turn(b.l, 0, NULL), 0); /* the call that was posted finds no worker */
    loop_destroy(b.l);
}

static void drain_waits_for_all(void **state)
{
    struct bench b;

    set_up(&b, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(worker_submit(b.w, work, done, &b, NULL), 0);
    worker_drain(b.w);
    assert_int_equal(b.done, 100);
    assert_int_equal(loop_turn(b.l, 0, NULL), 0);
    worker_destroy(b.w);
    loop_destroy(b.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_work_is_done_once),
        cmocka_unit_test(a_full_queue_refuses_and_destroy_drops),
        cmocka_unit_test(drain_waits_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
