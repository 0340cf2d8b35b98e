#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "strbuf.h"

static void grows_and_is_taken(void **state)
{
    struct strbuf b;
    char *s;

    strbuf_init(&b, 100000);
    assert_string_equal(strbuf_str(&b), "");
    for (int i = 0; i < 10000; i++)
        assert_int_equal(strbuf_addf(&b, "%05d", i), 0);
    assert_int_equal(b.len, 50000);
    s = strbuf_take(&b);
    assert_int_equal(strlen(s), 50000);
    assert_memory_equal(s + 49995, "09999", 6);
    assert_int_equal(b.len, 0);
    assert_string_equal(strbuf_str(&b), "");
    free(s);
    s = strbuf_take(&b);
    assert_string_equal(s, "");
    free(s);
    strbuf_fini(&b);
}

static void bound_is_exact_and_failure_sticks(void **state)
{
    struct strbuf b;

    strbuf_init(&b, 4);
    assert_int_equal(strbuf_add(&b, "abcd"), 0);
    assert_true(strbuf_ok(&b));
    assert_int_equal(strbuf_add(&b, ""), 0);
    assert_int_equal(strbuf_add_char(&b, 'e'), -1);
    assert_string_equal(strbuf_str(&b), "abcd");
    strbuf_cut(&b, 1);
    assert_int_equal(strbuf_add(&b, "x"), -1); /* a hole in the middle would be worse than a short text */
    assert_false(strbuf_ok(&b));
    assert_null(strbuf_take(&b));
    assert_true(strbuf_ok(&b));
    assert_int_equal(strbuf_add(&b, "y"), 0);
    strbuf_fini(&b);
}

static void separator_stands_between_only(void **state)
{
    struct strbuf b;

    strbuf_init(&b, 100);
    for (int i = 0; i < 3; i++) {
        strbuf_add_sep(&b, ", ");
        strbuf_addf(&b, "%d", i);
    }
    assert_string_equal(strbuf_str(&b), "0, 1, 2");
    strbuf_reset(&b);
    assert_string_equal(strbuf_str(&b), "");
    assert_int_equal(strbuf_add_bytes(&b, "a\0b", 3), 0);
    assert_int_equal(b.len, 3);
    strbuf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_is_taken),
        cmocka_unit_test(bound_is_exact_and_failure_sticks),
        cmocka_unit_test(separator_stands_between_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
