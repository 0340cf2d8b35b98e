#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"
#include "stream.h"

enum { BIG = 3000000 };

/* One end of a socket pair; takes what it is told to take and counts the rest. */
struct end {
    struct loop *l;
    struct stream *s;
    char *got;
    size_t n, unit; /* unit: uses only whole multiples of it */
    int drained, closed, pulls;
    bool destroy_in_data, stop_at_close;
    struct err why;
    size_t to_pull;
};

static size_t data(void *arg, const void *bytes, size_t n)
{
    struct end *x = arg;

    if (x->destroy_in_data) {
        stream_destroy(x->s);
        x->s = NULL;
        return 0;
    }
    n -= n % x->unit;
    memcpy(x->got + x->n, bytes, n);
    x->n += n;
    return n;
}

static void drained(void *arg)
{
    ((struct end *)arg)->drained++;
}

static void closed(void *arg, const struct err *why)
{
    struct end *x = arg;

    x->closed++;
    x->why = *why;
    if (x->stop_at_close)
        loop_stop(x->l);
}

static const struct stream_events events = {.data = data, .drained = drained, .closed = closed};

struct pair {
    struct loop *l;
    struct end a, b;
    int b_fd; /* of b.s */
};

static void end_init(struct end *x, struct loop *l, int fd, const struct stream_options *o)
{
    x->l = l;
    x->unit = 1;
    x->got = malloc(BIG + 10);
    x->s = stream_create(l, fd, o, &events, x, NULL);
    assert_non_null(x->s);
}

static struct pair *pair_create(const struct stream_options *o)
{
    struct pair *p = calloc(1, sizeof *p);
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    p->l = loop_create(NULL, NULL);
    end_init(&p->a, p->l, fds[0], o);
    end_init(&p->b, p->l, fds[1], o);
    p->b_fd = fds[1];
    return p;
}

static void pair_destroy(struct pair *p)
{
    stream_destroy(p->a.s);
    stream_destroy(p->b.s);
    loop_turn(p->l, 0, NULL);
    loop_destroy(p->l);
    free(p->a.got);
    free(p->b.got);
    free(p);
}

static char pattern(size_t i)
{
    return (char)(i * 31 % 253);
}

static void check_pattern(const struct end *x, size_t n)
{
    assert_int_equal(x->n, n);
    for (size_t i = 0; i < n; i++)
        if (x->got[i] != pattern(i))
            fail_msg("byte %zu differs", i);
}

static void much_output_arrives_whole_and_drains(void **state)
{
    struct pair *p = pair_create(NULL);
    char *text = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        text[i] = pattern(i);
    assert_int_equal(stream_write(p->a.s, text, BIG, NULL), 0);
    assert_true(stream_is_full(p->a.s));
    stream_close_when_sent(p->a.s, 60000);
    assert_int_equal(stream_write(p->a.s, "x", 1, NULL), -1);
    p->b.stop_at_close = true;
    assert_int_equal(loop_run(p->l, NULL), 0);
    check_pattern(&p->b, BIG);
    assert_int_equal(p->a.drained, 1);
    assert_int_equal(p->a.closed, 1);
    assert_int_equal(p->b.why.code, 0);
    free(text);
    pair_destroy(p);
}

static int pull(void *arg)
{
    struct end *x = arg;
    char piece[1000];

    x->pulls++;
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = pattern(x->to_pull + i);
    assert_int_equal(stream_write(x->s, piece, sizeof piece, NULL), 0);
    assert_true(stream_unsent(x->s) <= 20000 + sizeof piece);
    x->to_pull += sizeof piece;
    if (x->to_pull < BIG)
        return 1;
    stream_close_when_sent(x->s, 60000);
    return 0;
}

static void a_puller_is_asked_only_when_there_is_room(void **state)
{
    struct stream_options o = {.out_high = 20000, .in_max = 5000};
    struct pair *p = pair_create(&o);

    p->b.unit = 7; /* leaves a rest each time */
    stream_pull(p->a.s, pull, &p->a);
    p->b.stop_at_close = true;
    assert_int_equal(loop_run(p->l, NULL), 0);
    check_pattern(&p->b, BIG - BIG % 7);
    assert_int_equal(p->a.pulls, BIG / 1000);
    pair_destroy(p);
}

static void unused_input_stops_reading_until_woken(void **state)
{
    struct stream_options o = {.in_max = 1000, .out_max = 100000000};
    struct pair *p = pair_create(&o);
    char *text = calloc(1, BIG);

    p->b.unit = BIG; /* uses nothing */
    assert_int_equal(stream_write(p->a.s, text, BIG, NULL), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(loop_turn(p->l, 0, NULL), 0);
    assert_int_equal(p->b.n, 0);
    assert_true(stream_unsent(p->a.s) > BIG / 4); /* the kernel's buffers hold the rest */
    p->b.unit = 1;
    stream_wake(p->b.s);
    while (p->b.n < BIG)
        assert_int_equal(loop_turn(p->l, 1000, NULL), 0);
    free(text);
    pair_destroy(p);
}

static void a_stream_may_be_destroyed_by_its_callback(void **state)
{
    struct pair *p = pair_create(NULL);

    p->b.destroy_in_data = true;
    p->a.stop_at_close = true;
    assert_int_equal(stream_write(p->a.s, "hello", 5, NULL), 0);
    assert_int_equal(loop_run(p->l, NULL), 0);
    assert_null(p->b.s);
    assert_int_equal(p->b.closed, 0);
    assert_int_equal(p->a.closed, 1);
    pair_destroy(p);
}

static void half_closing_lets_the_answer_come(void **state)
{
    struct pair *p = pair_create(NULL);
    char c;

    assert_int_equal(stream_write(p->a.s, "ask", 3, NULL), 0);
    stream_hold_input(p->b.s, true);
    stream_finish(p->a.s);
    for (int i = 0; i < 5; i++)
        assert_int_equal(loop_turn(p->l, 0, NULL), 0);
    assert_int_equal(recv(p->b_fd, &c, 1, MSG_PEEK), 1);
    assert_int_equal(stream_write(p->b.s, "answer", 6, NULL), 0);
    while (p->a.n < 6)
        assert_int_equal(loop_turn(p->l, 1000, NULL), 0);
    assert_memory_equal(p->a.got, "answer", 6);
    assert_int_equal(p->a.closed, 0);
    p->b.stop_at_close = true;
    stream_hold_input(p->b.s, false);
    assert_int_equal(loop_run(p->l, NULL), 0);
    assert_memory_equal(p->b.got, "ask", 3);
    pair_destroy(p);
}

static void output_outlives_the_end_of_input(void **state)
{
    struct pair *p = pair_create(NULL);
    char *text = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        text[i] = pattern(i);
    assert_int_equal(stream_write(p->b.s, text, BIG, NULL), 0);
    stream_finish(p->a.s); /* asks nothing more, but wants the answer */
    p->a.stop_at_close = true;
    assert_int_equal(loop_run(p->l, NULL), 0);
    check_pattern(&p->a, BIG);
    assert_int_equal(p->b.why.code, 0);
    free(text);
    pair_destroy(p);
}

static void too_much_output_is_refused(void **state)
{
    struct stream_options o = {.out_high = 10, .out_max = 100};
    struct pair *p = pair_create(&o);
    struct err e = {0};
    char text[101] = "";

    assert_int_equal(stream_write(p->a.s, text, 101, &e), -1);
    assert_int_equal(e.code, ENOBUFS);
    assert_int_equal(stream_write(p->a.s, text, 100, &e), 0);
    assert_int_equal(stream_write(p->a.s, text, 1, &e), -1);
    pair_destroy(p);
}

/* A transform that adds one to each byte, and whose good-bye is a zero byte. */
struct shift {
    char in[200000], out[200000];
    size_t n_in, n_out;
    bool said_goodbye;
    int *destroyed;
};

static int shift_from_wire(void *ctx, const void *bytes, size_t n, struct err *e)
{
    struct shift *t = ctx;
    const char *p = bytes;

    for (size_t i = 0; i < n; i++) {
        if (t->said_goodbye)
            return err_set(e, EPROTO, "bytes after good-bye");
        if (p[i] == 0)
            t->said_goodbye = true;
        else
            t->in[t->n_in++] = (char)(p[i] - 1);
    }
    return 0;
}

static ssize_t move_out(char *from, size_t *n, void *out, size_t max)
{
    size_t some = *n < max ? *n : max;

    memcpy(out, from, some);
    memmove(from, from + some, *n - some);
    *n -= some;
    return (ssize_t)some;
}

static ssize_t shift_clear_out(void *ctx, void *out, size_t max, struct err *e)
{
    struct shift *t = ctx;

    return move_out(t->in, &t->n_in, out, max);
}

static ssize_t shift_clear_in(void *ctx, const void *bytes, size_t n, struct err *e)
{
    struct shift *t = ctx;
    const char *p = bytes;

    for (size_t i = 0; i < n; i++)
        t->out[t->n_out++] = (char)(p[i] + 1);
    return (ssize_t)n;
}

static ssize_t shift_to_wire(void *ctx, void *out, size_t max, struct err *e)
{
    struct shift *t = ctx;

    return move_out(t->out, &t->n_out, out, max);
}

static void shift_finish(void *ctx)
{
    struct shift *t = ctx;

    t->out[t->n_out++] = 0;
}

static bool shift_peer_finished(void *ctx)
{
    return ((struct shift *)ctx)->said_goodbye;
}

static void shift_destroy(void *ctx)
{
    ++*((struct shift *)ctx)->destroyed;
    free(ctx);
}

static const struct stream_transform shift = {
    .from_wire = shift_from_wire,
    .clear_out = shift_clear_out,
    .clear_in = shift_clear_in,
    .to_wire = shift_to_wire,
    .finish = shift_finish,
    .peer_finished = shift_peer_finished,
    .destroy = shift_destroy,
};

static void wrap(struct end *x, int *destroyed)
{
    struct shift *t = calloc(1, sizeof *t);

    t->destroyed = destroyed;
    assert_int_equal(stream_set_transform(x->s, &shift, t, NULL), 0);
}

static void a_transform_sits_between(void **state)
{
    struct pair *p = pair_create(NULL);
    int destroyed = 0;

    assert_int_equal(stream_write(p->a.s, "clear ", 6, NULL), 0); /* before: goes out as it is */
    wrap(&p->a, &destroyed);
    assert_int_equal(stream_write(p->a.s, "HAL", 3, NULL), 0);
    while (p->b.n < 9)
        assert_int_equal(loop_turn(p->l, 1000, NULL), 0);
    assert_memory_equal(p->b.got, "clear IBM", 9);
    wrap(&p->b, &destroyed);
    assert_int_equal(stream_write(p->a.s, "both", 4, NULL), 0);
    stream_close_when_sent(p->a.s, 60000);
    p->b.stop_at_close = true;
    assert_int_equal(loop_run(p->l, NULL), 0);
    assert_memory_equal(p->b.got + 9, "both", 4);
    assert_int_equal(p->b.why.code, 0);
    pair_destroy(p);
    assert_int_equal(destroyed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_output_arrives_whole_and_drains),
        cmocka_unit_test(a_puller_is_asked_only_when_there_is_room),
        cmocka_unit_test(unused_input_stops_reading_until_woken),
        cmocka_unit_test(a_stream_may_be_destroyed_by_its_callback),
        cmocka_unit_test(half_closing_lets_the_answer_come),
        cmocka_unit_test(too_much_output_is_refused),
        cmocka_unit_test(output_outlives_the_end_of_input),
        cmocka_unit_test(a_transform_sits_between),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
