#include "base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strbuf.h"

enum { N_BYTES = 400 };

/* Bytes of every value, in no order. */
static void fill(unsigned char bytes[static N_BYTES])
{
    for (size_t i = 0; i < N_BYTES; i++)
        bytes[i] = (unsigned char)(i * 151 + 7);
}

static void every_length_comes_back(void **state)
{
    unsigned char bytes[N_BYTES];

    fill(bytes);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct strbuf text;
        const char *why;
        size_t back;
        char *out;

        strbuf_init(&text, 4096);
        assert_int_equal(base64_encode(&text, bytes, n), 0);
        out = base64_decode(strbuf_str(&text), text.len, &back, &why);
        assert_non_null(out);
        assert_int_equal(back, n);
        assert_memory_equal(out, bytes, n);
        free(out);
        strbuf_fini(&text);
    }
}

static void a_text_in_one_line_is_decoded_in_place(void **state)
{
    unsigned char bytes[N_BYTES];

    fill(bytes);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct strbuf text;
        const char *why;
        size_t back;

        strbuf_init(&text, 4096);
        assert_int_equal(base64_encode_line(&text, bytes, n), 0);
        assert_int_equal(text.len, (n + 2) / 3 * 4);
        assert_null(strchr(strbuf_str(&text), '\n'));
        assert_int_equal(base64_decode_in_place(text.s, text.len, &back, &why), 0);
        assert_int_equal(back, n);
        assert_memory_equal(text.s, bytes, n);
        assert_int_equal(text.s[n], '\0');
        strbuf_fini(&text);
    }
}

static void known_texts(void **state)
{
    struct strbuf text;

    strbuf_init(&text, 4096);
    base64_encode(&text, "import pbs\n", 11);
    assert_string_equal(strbuf_str(&text), "aW1wb3J0IHBicwo=\n");
    strbuf_reset(&text);
    base64_encode(&text, "0123456789012345678901234567890123456789012345678901234567", 58);
    assert_int_equal(strchr(strbuf_str(&text), '\n') - strbuf_str(&text), 76);
    strbuf_fini(&text);
}

static void bad_texts_are_named(void **state)
{
    const char *why;
    size_t n;

    assert_null(base64_decode("aW1wb3J0IHBicwo", 15, &n, &why));
    assert_string_equal(why, "Incorrect padding");
    assert_null(base64_decode("aW1w!", 5, &n, &why));
    assert_string_equal(why, "Unable to decode...bad input");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length_comes_back),
                                       cmocka_unit_test(a_text_in_one_line_is_decoded_in_place),
                                       cmocka_unit_test(known_texts), cmocka_unit_test(bad_texts_are_named)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
