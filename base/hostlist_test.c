#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hostlist.h"
#include "strbuf.h"
#include "words.h"

static void lists_expand(void **state)
{
    static const struct {
        const char *text, *names;
    } rows[] = {
        {"n[1-4,7]", "n1 n2 n3 n4 n7"},
        {"a,b c", "a b c"},
        {"gpu[08-11]x", "gpu08x gpu09x gpu10x gpu11x"},
        {"n[9-11],n1", "n9 n10 n11 n1"},
        {"n1,n2,m1", "n1 n2 m1"},
        {"n[1,1]", "n1 n1"},
        {"n01,n2", "n01 n2"},
        {"", ""},
        {"n1.x", "n1.x"},
        {"r1n[1-2],r2n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct words l;
        struct strbuf names;
        struct err e;

        words_init(&l);
        strbuf_init(&names, 1000);
        if (hostlist_parse(rows[i].text, &l, &e) < 0)
            fail_msg("%s", e.text);
        for (size_t w = 0; w < l.n; w++)
            strbuf_addf(&names, "%s%s", w ? " " : "", l.w[w]);
        assert_string_equal(strbuf_str(&names), rows[i].names);
        strbuf_fini(&names);
        words_fini(&l);
    }
}

static void bad_lists_are_refused_whole(void **state)
{
    static const char *const bad[] = {"n[1",  "n1]",     "n[]",    "n[1-]",         "n[3-1]",  "n[1,]",
                                      "n[a]", "n[1][2]", "n[1;2]", "n[1234567890]", "n[1 -2]", "n[[1]]"};
    struct words l;
    struct err e;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_expand),
        cmocka_unit_test(bad_lists_are_refused_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
