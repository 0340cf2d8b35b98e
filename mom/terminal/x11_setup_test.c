#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "x11_setup.h"

enum { HEAD = 12, NAME_FILLED = 20, WHOLE = HEAD + NAME_FILLED + X11_COOKIE_SIZE, REST = 5 };

static const struct x11_cookies cookies = {
    .shown = "made up for you!", .real = "opens every door", .has_real = true};
static const struct x11_cookies open_house = {.shown = "made up for you!"};

/* What a client says first, and some bytes of what it says then. */
static size_t make(unsigned char *b, char order, const char *name, const char *cookie)
{
    const int high = order == 'B' ? 0 : 1;
    size_t n = strlen(name);

    memset(b, 0, WHOLE + REST);
    b[0] = (unsigned char)order;
    b[2 + !high] = 11;
    b[6 + !high] = (unsigned char)n;
    b[8 + !high] = X11_COOKIE_SIZE;
    memcpy(b + HEAD, name, n);
    memcpy(b + HEAD + NAME_FILLED, cookie, strnlen(cookie, X11_COOKIE_SIZE));
    memcpy(b + WHOLE, "hello", REST);
    return WHOLE + REST;
}

static void the_cookie_of_the_job_is_exchanged_for_the_true_one(void **state)
{
    for (const char *order = "Bl"; *order; order++) {
        unsigned char b[WHOLE + REST];
        size_t n = make(b, *order, "MIT-MAGIC-COOKIE-1", "made up for you!");

        assert_int_equal(x11_setup_admit(&cookies, b, &n), 1);
        assert_int_equal(n, WHOLE + REST);
        assert_memory_equal(b + HEAD + NAME_FILLED, "opens every doorhello", X11_COOKIE_SIZE + REST);
    }
}

static void without_a_true_one_none_is_shown(void **state)
{
    unsigned char b[WHOLE + REST];
    size_t n = make(b, 'l', "MIT-MAGIC-COOKIE-1", "made up for you!");

    assert_int_equal(x11_setup_admit(&open_house, b, &n), 1);
    assert_int_equal(n, HEAD + REST);
    assert_memory_equal(b + 6, "\0\0\0\0\0\0hello", 6 + REST);
}

static void it_comes_in_any_pieces(void **state)
{
    unsigned char b[WHOLE + REST];

    for (size_t part = 0; part < WHOLE; part++) {
        size_t n = part;

        make(b, 'B', "MIT-MAGIC-COOKIE-1", "made up for you!");
        assert_int_equal(x11_setup_admit(&cookies, b, &n), 0);
        assert_int_equal(n, part);
    }
}

static void whoever_does_not_know_it_gets_nothing(void **state)
{
    unsigned char b[WHOLE + REST];
    size_t n = make(b, 'l', "MIT-MAGIC-COOKIE-1", "made up for me!!");

    assert_int_equal(x11_setup_admit(&cookies, b, &n), -1);
    n = make(b, 'l', "MIT-MAGIC-COOKIE-2", "made up for you!");
    assert_int_equal(x11_setup_admit(&cookies, b, &n), -1);
    n = make(b, 'l', "", "");
    assert_int_equal(x11_setup_admit(&cookies, b, &n), -1);
    n = make(b, 'x', "MIT-MAGIC-COOKIE-1", "made up for you!");
    assert_int_equal(x11_setup_admit(&cookies, b, &n), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cookie_of_the_job_is_exchanged_for_the_true_one),
        cmocka_unit_test(without_a_true_one_none_is_shown),
        cmocka_unit_test(it_comes_in_any_pieces),
        cmocka_unit_test(whoever_does_not_know_it_gets_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
