#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hostlist.h"
#include "strbuf.h"
#include "words.h"

static void lists_expand_and_fold(void **state)
{
    static const struct {
        const char *text, *names, *folded;
    } rows[] = {
        {"n[1-4,7]", "n1 n2 n3 n4 n7", "n[1-4,7]"},
        {"a,b c", "a b c", "a,b,c"},
        {"gpu[08-11]x", "gpu08x gpu09x gpu10x gpu11x", "gpu[08-11]x"},
        {"n[9-11],n1", "n9 n10 n11 n1", "n[9-11,1]"},
        {"n1,n2,m1", "n1 n2 m1", "n[1-2],m1"},
        {"n[1,1]", "n1 n1", "n[1,1]"},
        {"n01,n2", "n01 n2", "n[01,2]"},
        {"", "", ""},
        {"n1.x", "n1.x", "n1.x"},
        {"r1n[1-2],r2n[1-2]", "r1n1 r1n2 r2n1 r2n2", "r1n[1-2],r2n[1-2]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct words l, again;
        struct strbuf names, folded;
        struct err e;

        words_init(&l);
        words_init(&again);
        strbuf_init(&names, 1000);
        strbuf_init(&folded, 1000);
        if (hostlist_parse(rows[i].text, &l, &e) < 0)
            fail_msg("%s", e.text);
        words_join(&names, &l, " ");
        assert_string_equal(strbuf_str(&names), rows[i].names);
        assert_int_equal(hostlist_format((const char *const *)l.w, l.n, &folded), 0);
        assert_string_equal(strbuf_str(&folded), rows[i].folded);
        strbuf_reset(&names);
        assert_int_equal(hostlist_parse(strbuf_str(&folded), &again, NULL), 0);
        words_join(&names, &again, " ");
        assert_string_equal(strbuf_str(&names), rows[i].names);
        strbuf_fini(&names);
        strbuf_fini(&folded);
        words_fini(&l);
        words_fini(&again);
    }
}

static void bad_lists_are_refused_whole(void **state)
{
    static const char *const bad[] = {"n[1",  "n1]",     "n[]",    "n[1-]",         "n[3-1]",  "n[1,]",
                                      "n[a]", "n[1][2]", "n[1;2]", "n[1234567890]", "n[1 -2]", "n[[1]]"};
    struct words l;
    struct err e;

    (void)state;
    words_init(&l);
    assert_int_equal(words_add(&l, "kept", NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (hostlist_parse(bad[i], &l, &e) == 0)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(e.code, EINVAL);
        assert_int_equal(l.n, 1);
    }
    assert_int_equal(hostlist_parse("n[1-999999999]", &l, &e), -1);
    assert_int_equal(e.code, E2BIG);
    assert_int_equal(l.n, 1);
    words_fini(&l);
}

/* Any names fold to a text that gives the same names. */
static void random_names_come_back(void **state)
{
    unsigned seed = 5;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        char text[12][16];
        const char *names[12];
        size_t n = (size_t)rand_r(&seed) % 12;
        struct strbuf b;
        struct words l;

        for (size_t i = 0; i < n; i++) {
            snprintf(text[i], sizeof text[i], "%s%0*d%s", rand_r(&seed) % 4 ? "n" : "m",
                     1 + rand_r(&seed) % 2, rand_r(&seed) % 12, rand_r(&seed) % 5 ? "" : "x");
            names[i] = text[i];
        }
        strbuf_init(&b, 1000);
        words_init(&l);
        assert_int_equal(hostlist_format(names, n, &b), 0);
        assert_int_equal(hostlist_parse(strbuf_str(&b), &l, NULL), 0);
        assert_int_equal(l.n, n);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(l.w[i], names[i]);
        words_fini(&l);
        strbuf_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_expand_and_fold),
        cmocka_unit_test(bad_lists_are_refused_whole),
        cmocka_unit_test(random_names_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
