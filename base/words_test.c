#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "strbuf.h"
#include "words.h"

enum { QB = WORDS_QUOTES | WORDS_BACKSLASH };

static void words_are_cut_as_flags_say(void **state)
{
    static const struct {
        const char *text, *separators;
        unsigned flags;
        const char *joined; /* by | */
    } rows[] = {
        {"a b  c", " ", WORDS_PLAIN, "a|b|c"},
        {"", " ", WORDS_PLAIN, ""},
        {"", ",", WORDS_EMPTY, ""},
        {"a,,b,", ",", WORDS_EMPTY, "a||b|"},
        {" a , b c ,d", ",", WORDS_TRIM, "a|b c|d"},
        {"a='b,c',d", ",", QB, "a=b,c|d"},
        {"\"x \\\" y\" 'p\\q'", " ", QB, "x \" y|p\\q"},
        {"a\\,b,c", ",", QB, "a,b|c"},
        {"'' x", " ", QB, "|x"},
        {"' a ' ,b", ",", QB | WORDS_TRIM, " a |b"},
        {"a\\ ,b", ",", QB | WORDS_TRIM, "a |b"},
        {"a='b,c',d\\,e", ",", QB | WORDS_KEEP, "a='b,c'|d\\,e"},
        {"it's", " ", WORDS_PLAIN, "it's"},
        {"it\"'\"s", " ", QB, "it's"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct words l;
        struct strbuf b;

        words_init(&l);
        strbuf_init(&b, 1000);
        assert_int_equal(words_parse(rows[i].text, rows[i].separators, rows[i].flags, &l, NULL), 0);
        for (size_t w = 0; w < l.n; w++)
            strbuf_addf(&b, "%s%s", w ? "|" : "", l.w[w]);
        assert_string_equal(strbuf_str(&b), rows[i].joined);
        assert_true(!l.n || !l.w[l.n]);
        strbuf_fini(&b);
        words_fini(&l);
    }
}

static void what_is_open_is_refused_and_nothing_is_appended(void **state)
{
    struct words l;
    struct err e;

    words_init(&l);
    assert_int_equal(words_add(&l, "first", &e), 0);
    assert_int_equal(words_parse("a 'b c", " ", QB, &l, &e), -1);
    assert_int_equal(e.code, EINVAL);
    assert_int_equal(words_parse("a b\\", " ", QB, &l, &e), -1);
    assert_int_equal(l.n, 1);
    char *many = malloc(2 * WORDS_MAX + 3);
    for (size_t i = 0; i <= WORDS_MAX; i++)
        memcpy(many + 2 * i, "a ", 3);
    assert_int_equal(words_parse(many, " ", QB, &l, &e), -1);
    assert_int_equal(e.code, E2BIG);
    assert_int_equal(l.n, 1);
    assert_null(l.w[1]);
    free(many);
    words_fini(&l);
}

static void trimming_in_place(void **state)
{
    char text[] = " \t two words \n";
    char none[] = "  ";

    assert_string_equal(words_trim(text), "two words");
    assert_string_equal(words_trim(none), "");
}

static void words_in_place(void **state)
{
    const char *at = "  mom:n1 mom:n22  ", *word;
    size_t n;

    word = words_next(&at, ' ', &n);
    assert_int_equal(n, 6);
    assert_memory_equal(word, "mom:n1", 6);
    word = words_next(&at, ' ', &n);
    assert_int_equal(n, 7);
    assert_memory_equal(word, "mom:n22", 7);
    assert_null(words_next(&at, ' ', &n));
    assert_null(words_next(&at, ' ', &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_as_flags_say),
        cmocka_unit_test(what_is_open_is_refused_and_nothing_is_appended),
        cmocka_unit_test(trimming_in_place),
        cmocka_unit_test(words_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
