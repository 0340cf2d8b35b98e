#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "intern.h"

enum { N = 100000 };

static void equal_texts_have_one_address(void **state)
{
    char other[] = "workq";
    const char *a = intern_ref("workq"), *b = intern_ref(other), *c = intern_ref_bytes("workqueue", 5);

    assert_ptr_equal(a, b);
    assert_ptr_equal(a, c);
    assert_ptr_not_equal(a, other);
    assert_int_equal(intern_count(), 1);
    assert_ptr_equal(intern_again(a), a);
    for (int i = 0; i < 3; i++)
        intern_unref(a);
    assert_string_equal(a, "workq");
    intern_unref(a);
    assert_int_equal(intern_count(), 0);
    assert_int_equal(intern_bytes(), 0);
    assert_null(intern_ref(NULL));
    assert_null(intern_again(NULL));
    intern_unref(NULL);
}

static void many_texts_stay_apart(void **state)
{
    const char **held = calloc(N, sizeof *held);
    char text[32];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            snprintf(text, sizeof text, "user%d@host", i);
            const char *s = intern_ref(text);
            assert_true(!held[i] || held[i] == s);
            held[i] = s;
        }
    assert_int_equal(intern_count(), N);
    assert_true(intern_bytes() < N * 64);
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "user%d@host", i);
        assert_string_equal(held[i], text);
        intern_unref(held[i]);
        intern_unref(held[i]);
    }
    assert_int_equal(intern_bytes(), 0);
    const char *empty = intern_ref("");
    assert_string_equal(empty, "");
    intern_unref(empty);
    free(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_one_address),
        cmocka_unit_test(many_texts_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
