#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "err.h"

static void set_fills_and_returns_minus_one(void **state)
{
    struct err e = {0};

    assert_int_equal(err_set(&e, EINVAL, "no %s", "queue"), -1);
    assert_int_equal(e.code, EINVAL);
    assert_string_equal(e.text, "no queue");
    assert_int_equal(err_set(NULL, EINVAL, "no server listens"), -1);
    assert_int_equal(err_prefix(NULL, "nobody"), -1);
    err_clear(&e);
    assert_int_equal(e.code, 0);
    assert_string_equal(e.text, "");
}

static void old_text_may_be_an_argument(void **state)
{
    struct err e = {0};

    err_set(&e, ENOENT, "inner");
    err_set(&e, EIO, "outer (%s)", e.text);
    assert_string_equal(e.text, "outer (inner)");
    err_prefix(&e, "file %d", 7);
    assert_string_equal(e.text, "file 7: outer (inner)");
    assert_int_equal(e.code, EIO);
}

static void errno_text_stands_behind(void **state)
{
    struct err e = {0};

    err_errno(&e, ENOENT, "cannot open %s", "/x");
    assert_string_equal(e.text, "cannot open /x: No such file or directory");
    assert_int_equal(e.code, ENOENT);
}

static void long_text_is_cut_on_a_character(void **state)
{
    struct err e = {0};
    char text[ERR_TEXT_MAX + 8];

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    err_set(&e, EINVAL, "%s", text);
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
    memcpy(text + ERR_TEXT_MAX - 3, "\xe2\x82\xac", 3); /* its last byte no longer fits */
    err_set(&e, EINVAL, "%s", text);
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 3);
    memcpy(text + ERR_TEXT_MAX - 4, "\xe2\x82\xac", 3); /* this one is whole */
    err_set(&e, EINVAL, "%s", text);
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_and_returns_minus_one),
        cmocka_unit_test(old_text_may_be_an_argument),
        cmocka_unit_test(errno_text_stands_behind),
        cmocka_unit_test(long_text_is_cut_on_a_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
