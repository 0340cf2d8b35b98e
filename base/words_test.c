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

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct words l;
        struct strbuf b;

        words_init(&l);
        strbuf_init(&b, 1000);
        assert_int_equal(words_parse(rows[i].text, rows[i].separators, rows[i].flags, &l, NULL), 0);
        words_join(&b, &l, "|");
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

    (void)state;
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

static void seek_respects_quotes(void **state)
{
    const char *text = "a='x=y' \\= =z";

    (void)state;
    assert_ptr_equal(words_seek(text, "=", QB), text + 1);
    assert_ptr_equal(words_seek(text + 2, "=", QB), text + 11);
    assert_string_equal(words_seek("abc", "=", QB), "");
}

static void trimming_in_place(void **state)
{
    char text[] = " \t two words \n";
    char none[] = "  ";

    (void)state;
    assert_string_equal(words_trim(text), "two words");
    assert_string_equal(words_trim(none), "");
}

/* Quoted words read as the same words again. */
static void random_words_survive_quoting(void **state)
{
    static const char alphabet[] = "ab ,'\"\\=\t\xe4";
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 50000; round++) {
        char word[3][9];
        struct strbuf quoted;
        struct words l;

        strbuf_init(&quoted, 1000);
        words_init(&l);
        for (int w = 0; w < 3; w++) {
            size_t n = 1 + (size_t)rand_r(&seed) % 8;

            for (size_t i = 0; i < n; i++)
                word[w][i] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
            word[w][n] = '\0';
            strbuf_add_sep(&quoted, ", ");
            words_quote(&quoted, word[w], ",");
        }
        assert_int_equal(words_parse_commas(strbuf_str(&quoted), &l, NULL), 0);
        assert_int_equal(l.n, 3);
        for (size_t w = 0; w < 3; w++)
            assert_string_equal(l.w[w], word[w]);
        words_fini(&l);
        strbuf_fini(&quoted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_as_flags_say),
        cmocka_unit_test(what_is_open_is_refused_and_nothing_is_appended),
        cmocka_unit_test(seek_respects_quotes),
        cmocka_unit_test(trimming_in_place),
        cmocka_unit_test(random_words_survive_quoting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
