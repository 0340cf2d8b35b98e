#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <tm.h>

#include "poll_set.h"
#include "output_relay.h"

/* What the relays hand on, and whether it arrives at once. */
struct sink {
    struct output_relays *all;
    char text[2][256];
    size_t n[2];
    struct task_relay *waiting;
    int waiting_stream;
    bool slow;
    unsigned drained;
};

static void take(void *arg, struct task_relay *p, const struct tmx_output_args *a)
{
    struct sink *s = arg;
    int i = a->stream == TMX_STDERR;

    assert_int_equal(a->offset, s->n[i]);
    memcpy(s->text[i] + s->n[i], a->bytes.bytes_val, a->bytes.bytes_len);
    s->n[i] += a->bytes.bytes_len;
    if (s->slow) {
        s->waiting = p;
        s->waiting_stream = a->stream;
    } else {
        output_relay_done(p, a->stream);
    }
}

static void drained(void *arg, unsigned task)
{
    ((struct sink *)arg)->drained = task;
}

static void turn(struct sink *s)
{
    struct poll_set p;

    poll_set_init(&p);
    output_relays_poll(s->all, &p);
    poll(p.fds, p.n, 0);
    output_relays_turn(s->all, &p);
    poll_set_fini(&p);
}

static struct task_relay *begin(struct sink *s, int *out, int *err)
{
    const struct output_relays_hooks hooks = {.send = take, .drained = drained, .arg = s};
    const struct output_relay_target to = {.task = 9};
    struct err e;
    struct task_relay *p;

    s->all = output_relays_create(&hooks);
    p = output_relay_create(s->all, &to, out, err, &e);
    assert_non_null(p);
    return p;
}

static void put(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void what_is_written_arrives_in_order(void **state)
{
    struct sink s = {0};
    int out, err;

    begin(&s, &out, &err);
    put(out, "one ");
    put(err, "bad");
    turn(&s);
    put(out, "two");
    turn(&s);
    assert_memory_equal(s.text[0], "one two", 7);
    assert_memory_equal(s.text[1], "bad", 3);
    close(out);
    close(err);
    turn(&s); /* both ends seen */
    output_relays_destroy(s.all);
}

static void one_piece_of_a_stream_is_under_way(void **state)
{
    struct sink s = {.slow = true};
    struct task_relay *p;
    int out, err;

    p = begin(&s, &out, &err);
    put(out, "one ");
    turn(&s);
    put(out, "two");
    turn(&s);
    assert_int_equal(s.n[0], 4);
    output_relay_done(p, TMX_STDOUT);
    turn(&s);
    assert_int_equal(s.n[0], 7);
    output_relay_done(p, TMX_STDOUT);
    close(out);
    close(err);
    output_relays_destroy(s.all);
}

static void the_end_comes_after_the_output(void **state)
{
    struct sink s = {.slow = true};
    struct task_relay *p;
    int out, err;

    p = begin(&s, &out, &err);
    put(out, "last words");
    close(out);
    output_relay_task_ended(p);
    assert_int_equal(s.n[0], 10);
    assert_int_equal(s.drained, 0);
    output_relay_done(p, TMX_STDOUT);
    assert_int_equal(s.drained, 9);
    close(err);
    turn(&s);
    output_relays_destroy(s.all);
}

/* A child that has kept the pipe may write for ever: the task has ended all the same. */
static void a_child_that_goes_on_writing_does_not_hold_the_end_back(void **state)
{
    struct sink s = {0};
    struct task_relay *p;
    int out, err;

    p = begin(&s, &out, &err);
    output_relay_task_ended(p);
    assert_int_equal(s.drained, 9);
    put(out, "later");
    turn(&s);
    assert_memory_equal(s.text[0], "later", 5);
    close(out);
    close(err);
    output_relays_destroy(s.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_arrives_in_order),
        cmocka_unit_test(one_piece_of_a_stream_is_under_way),
        cmocka_unit_test(the_end_comes_after_the_output),
        cmocka_unit_test(a_child_that_goes_on_writing_does_not_hold_the_end_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
