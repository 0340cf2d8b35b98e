#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coproc.h"
#include "loop.h"

struct seen {
    struct loop *l;
    struct coproc *c;
    char text[4096];
    int calls, last_code;
};

static void note(void *arg, const char *line, const struct err *why)
{
    struct seen *s = arg;
    size_t n = strlen(s->text);

    s->calls++;
    s->last_code = why ? why->code : 0;
    snprintf(s->text + n, sizeof s->text - n, "%s;", line ? line : "-");
}

static void start(struct seen *s, const char *script, size_t max_waiting)
{
    static char *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};
    struct coproc_options o = {.path = "/bin/sh", .argv = argv, .max_line = 1000, .max_waiting = max_waiting};

    argv[2] = (char *)(uintptr_t)script;
    *s = (struct seen){.l = loop_create(NULL, NULL)};
    s->c = coproc_create(s->l, &o, NULL);
    assert_non_null(s->c);
}

static void wait_for(struct seen *s, int calls)
{
    while (s->calls < calls)
        assert_int_equal(loop_turn(s->l, 10000, NULL), 0);
}

static void stop(struct seen *s)
{
    coproc_destroy(s->c);
    loop_turn(s->l, 1000, NULL); /* the killed child is reaped */
    loop_destroy(s->l);
}

static void answers_come_in_order_from_one_child(void **state)
{
    struct seen s;

    (void)state;
    start(&s, "n=0; while read x; do n=$((n+1)); echo $n:$x; done", 0);
    coproc_ask(s.c, "a", 10000, note, &s);
    coproc_ask(s.c, "b b", 10000, note, &s);
    assert_int_equal(s.calls, 0);
    wait_for(&s, 2);
    coproc_ask(s.c, "c", 10000, note, &s);
    wait_for(&s, 3);
    assert_string_equal(s.text, "1:a;2:b b;3:c;");
    stop(&s);
}

static void a_child_that_ends_is_started_again(void **state)
{
    struct seen s;

    (void)state;
    start(&s, "read x; test $x = bad && exit 1; echo ok $x; read y", 0);
    coproc_ask(s.c, "bad", 10000, note, &s);
    coproc_ask(s.c, "more", 10000, note, &s);
    wait_for(&s, 2);
    assert_int_equal(s.last_code, EPIPE);
    coproc_ask(s.c, "good", 10000, note, &s);
    wait_for(&s, 3);
    assert_string_equal(s.text, "-;-;ok good;");
    stop(&s);
}

static void one_that_hangs_is_killed(void **state)
{
    struct seen s;

    (void)state;
    start(&s, "read x; sleep 1000", 0);
    coproc_ask(s.c, "a", 20, note, &s);
    wait_for(&s, 1);
    assert_int_equal(s.last_code, ETIMEDOUT);
    stop(&s);
}

static void too_much_is_refused(void **state)
{
    struct seen s;

    (void)state;
    start(&s, "while read x; do head -c 2000 /dev/zero | tr '\\0' x; echo; done", 2);
    coproc_ask(s.c, "a\nb", 10000, note, &s);
    wait_for(&s, 1);
    assert_int_equal(s.last_code, EINVAL);
    coproc_ask(s.c, "a", 10000, note, &s);
    coproc_ask(s.c, "b", 10000, note, &s);
    coproc_ask(s.c, "c", 10000, note, &s);
    assert_int_equal(s.calls, 1);
    loop_turn(s.l, 0, NULL);
    assert_int_equal(s.last_code, EAGAIN);
    wait_for(&s, 4);
    assert_int_equal(s.last_code, EMSGSIZE);
    stop(&s);
}

static void what_cannot_start_fails_each_question(void **state)
{
    static char *argv[] = {(char *)"x", NULL};
    struct coproc_options o = {.path = "/nonexistent/program", .argv = argv};
    struct seen s = {.l = loop_create(NULL, NULL)};

    (void)state;
    s.c = coproc_create(s.l, &o, NULL);
    coproc_ask(s.c, "a", 1000, note, &s);
    wait_for(&s, 1);
    assert_int_equal(s.last_code, ENOENT);
    coproc_ask(s.c, "b", 1000, note, &s);
    coproc_destroy(s.c);
    assert_int_equal(loop_turn(s.l, 0, NULL), 0);
    assert_int_equal(s.calls, 1); /* destroyed before it was told */
    loop_destroy(s.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_in_order_from_one_child),
        cmocka_unit_test(a_child_that_ends_is_started_again),
        cmocka_unit_test(one_that_hangs_is_killed),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(what_cannot_start_fails_each_question),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
