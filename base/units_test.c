#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "units.h"

static void durations_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: EINVAL, -2: ERANGE */
    } rows[] = {
        {"0", 0},
        {"90", 90000},
        {"1:30", 90000},
        {"01:00:00", 3600000},
        {"100:00:00", 360000000},
        {"00:90", 90000},
        {" 5 ", 5000},
        {"1.5", 1500},
        {"0:0:1.0625", 1063},
        {"1.", 1000},
        {"", -1},
        {"-1", -1},
        {"1:2:3:4", -1},
        {"1::2", -1},
        {"1h", -1},
        {":30", -1},
        {"1.5x", -1},
        {"99999999999999999999", -2},
        {"9223372036854775807", -2},
        {"9223372036854775807:00:00", -2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        int64_t ms = -9;
        int rc = units_parse_duration_ms(rows[i].text, &ms, &e);

        if (rows[i].ms >= 0) {
            assert_int_equal(rc, 0);
            assert_int_equal(ms, rows[i].ms);
        } else {
            assert_int_equal(rc, -1);
            assert_int_equal(e.code, rows[i].ms == -1 ? EINVAL : ERANGE);
            assert_int_equal(ms, -9);
        }
    }
}

static void durations_are_written(void **state)
{
    char out[UNITS_TEXT_MAX];
    int64_t s;

    assert_string_equal(units_format_duration(out, 0), "00:00:00");
    assert_string_equal(units_format_duration(out, 90), "00:01:30");
    assert_string_equal(units_format_duration(out, 360001), "100:00:01");
    assert_string_equal(units_format_duration(out, -61), "-00:01:01");
    units_format_duration(out, INT64_MIN);
    for (int64_t v = 1; v < INT64_MAX / 3000; v = v * 3 + 1) {
        assert_int_equal(units_parse_duration_s(units_format_duration(out, v), &s, NULL), 0);
        assert_int_equal(s, v);
    }
    assert_int_equal(units_parse_duration_s("1.5", &s, NULL), 0);
    assert_int_equal(s, 2);
}

static void sizes_keep_their_spelling(void **state)
{
    static const struct {
        const char *text, *canonical;
        uint64_t bytes, kb;
    } rows[] = {
        {"100", "100b", 100, 1},
        {"1024b", "1024b", 1024, 1},
        {"4gb", "4gb", 4ull << 30, 4 << 20},
        {"4GB", "4gb", 4ull << 30, 4 << 20},
        {"2kw", "2kw", 16384, 16},
        {"3w", "3w", 24, 1},
        {"1m", "1mb", 1 << 20, 1024},
        {"0kb", "0kb", 0, 0},
        {"5pb", "5pb", 5ull << 50, 5ull << 40},
    };
    char out[UNITS_TEXT_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct units_size s;

        assert_int_equal(units_parse_size(rows[i].text, &s, NULL), 0);
        assert_string_equal(units_format_size(out, s), rows[i].canonical);
        assert_true(units_size_bytes(s) == rows[i].bytes);
        assert_true(units_size_kb(s) == rows[i].kb);
    }
    assert_string_equal(units_format_size(out, units_size_of_kb(12)), "12kb");
}

static void bad_sizes_are_refused(void **state)
{
    static const char *const bad[] = {"", "kb", "-1kb", "1.5gb", "4gbx", "4xb", "4 gb", "4bb", "0x10"};
    static const char *const large[] = {"99999999999999999999", "9223372036854775807kb", "16384pb"};
    struct units_size s, t;
    struct err e;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(units_parse_size(bad[i], &s, &e), -1);
        assert_int_equal(e.code, EINVAL);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(units_parse_size(large[i], &s, &e), -1);
        assert_int_equal(e.code, ERANGE);
    }
    assert_int_equal(units_parse_size("1mb", &s, NULL), 0);
    assert_int_equal(units_parse_size("1024kb", &t, NULL), 0);
    assert_int_equal(units_size_compare(s, t), 0);
    assert_int_equal(units_parse_size("1025kb", &t, NULL), 0);
    assert_true(units_size_compare(s, t) < 0 && units_size_compare(t, s) > 0);
}

static void booleans(void **state)
{
    static const char *const yes[] = {"True", "TRUE", "t", "y", "1", "yes", " true "};
    static const char *const no[] = {"False", "f", "N", "0", "no"};
    static const char *const bad[] = {"", "2", "tru", "true false", "yesyesyesyes"};
    bool b;

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        b = false;
        assert_int_equal(units_parse_bool(yes[i], &b, NULL), 0);
        assert_true(b);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        b = true;
        assert_int_equal(units_parse_bool(no[i], &b, NULL), 0);
        assert_false(b);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(units_parse_bool(bad[i], &b, NULL), -1);
    assert_string_equal(units_format_bool(true), "True");
}

static void whole_numbers(void **state)
{
    int64_t v;
    struct err e;

    assert_int_equal(units_parse_int("-12", -100, 100, &v, &e), 0);
    assert_int_equal(v, -12);
    assert_int_equal(units_parse_int("0x1ff", 0, 4095, &v, &e), 0);
    assert_int_equal(v, 511);
    assert_int_equal(units_parse_int("010", 0, 4095, &v, &e), 0);
    assert_int_equal(v, 10);
    assert_int_equal(units_parse_int("101", -100, 100, &v, &e), -1);
    assert_int_equal(e.code, ERANGE);
    assert_int_equal(units_parse_int("1e3", 0, 100, &v, &e), -1);
    assert_int_equal(e.code, EINVAL);
    assert_int_equal(units_parse_int("", 0, 100, &v, &e), -1);
    assert_int_equal(units_parse_int("- 1", -10, 100, &v, &e), -1);
    assert_int_equal(units_parse_int("99999999999999999999", 0, INT64_MAX, &v, &e), -1);
    assert_int_equal(e.code, ERANGE);
}

/* Any text at all is either read or refused, and what is read is written so that it reads the same. */
static void random_text_is_read_or_refused(void **state)
{
    static const char alphabet[] = "0123456789:.kmgtpbwBW -x\xff";
    unsigned seed = 12345;

    for (int round = 0; round < 200000; round++) {
        char text[12], out[UNITS_TEXT_MAX];
        struct units_size s, t;
        int64_t v, w;
        size_t n = (size_t)rand_r(&seed) % sizeof text;

        for (size_t i = 0; i < n; i++)
            text[i] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
        text[n < sizeof text ? n : sizeof text - 1] = '\0';
        if (units_parse_size(text, &s, NULL) == 0) {
            assert_int_equal(units_parse_size(units_format_size(out, s), &t, NULL), 0);
            assert_memory_equal(&s.n, &t.n, sizeof s.n);
            assert_true(s.shift == t.shift && s.words == t.words);
        }
        if (units_parse_duration_s(text, &v, NULL) == 0) {
            assert_int_equal(units_parse_duration_s(units_format_duration(out, v), &w, NULL), 0);
            assert_int_equal(v, w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(durations_are_written),
        cmocka_unit_test(sizes_keep_their_spelling),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(booleans),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(random_text_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
