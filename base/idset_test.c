#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>

#include "idset.h"
#include "strbuf.h"

enum { MILLION = 1000000 };

static void check_text(const struct idset *s, const char *want)
{
    struct strbuf b;

    strbuf_init(&b, 1000);
    assert_int_equal(idset_format(s, &b), 0);
    assert_string_equal(strbuf_str(&b), want);
    strbuf_fini(&b);
}

static void text_is_read_and_written_shortest(void **state)
{
    static const struct {
        const char *text, *shortest;
        size_t count;
    } rows[] = {
        {"", "", 0},
        {"7", "7", 1},
        {"1-5,7,9-21:2", "1-5,7-21:2", 13},
        {"5,4,3,1,2", "1-5", 5},
        {"1-10:3", "1-10:3", 4},
        {"1-11:3", "1-10:3", 4},
        {"2,4", "2,4", 2},
        {"0-4294967295:4294967295", "0,4294967295", 2},
        {"1-3,2-4", "1-4", 4},
        {"4090-4100", "4090-4100", 11},
        {"1,3,5,6,7", "1-5:2,6-7", 5},
        {"5-5:9", "5", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct idset *s;
        struct err e;

        if (idset_parse(rows[i].text, UINT32_MAX, 1000, &s, &e) < 0)
            fail_msg("%s", e.text);
        assert_int_equal(idset_count(s), rows[i].count);
        check_text(s, rows[i].shortest);
        idset_destroy(s);
    }
}

static void bad_text_is_refused(void **state)
{
    static const char *const bad[] = {",",  "1,", ",1", "1--2", "5-1", "1-5:0", "a",
                                      "1 ", " 1", "1-", "1-5:", "-1",  "1,,2",  "1:2"};
    static const char *const large[] = {"10001", "1-10001", "99999999999999999999999", "0-1000,0-1000"};
    struct idset *s = NULL;
    struct err e;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(idset_parse(bad[i], 10000, 1001, &s, &e), -1);
        assert_int_equal(e.code, EINVAL);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(idset_parse(large[i], 10000, 1001, &s, &e), -1);
        assert_int_equal(e.code, ERANGE);
    }
    assert_null(s);
}

static void a_million_goes_and_comes(void **state)
{
    struct idset *s, *copy;
    unsigned seed = 1;
    size_t n = 0;

    assert_int_equal(idset_parse("0-999999", MILLION, MILLION, &s, NULL), 0);
    copy = idset_dup(s);
    assert_true(idset_is_equal(s, copy));
    for (int i = 0; i < MILLION; i++)
        assert_int_equal(idset_remove(s, (uint32_t)rand_r(&seed) % MILLION), 0);
    for (int64_t id = idset_next(s, 0); id >= 0; id = idset_next(s, id + 1), n++)
        assert_true(idset_contains(s, (uint32_t)id));
    assert_int_equal(n, idset_count(s));
    assert_false(idset_is_equal(s, copy));
    assert_int_equal(idset_subtract(copy, s), 0);
    assert_int_equal(idset_count(copy), MILLION - n);
    assert_int_equal(idset_unite(copy, s), 0);
    check_text(copy, "0-999999");
    idset_clear(copy);
    assert_int_equal(idset_next(copy, 0), IDSET_NONE);
    idset_destroy(copy);
    idset_destroy(s);
}

/* Against a plain array of flags, and through text and back; flag k is the number k * `unit` + `rest`. */
static void check_random_use(uint32_t unit, uint32_t rest)
{
    enum { N = 20000 };
    static bool flags[N];
    struct idset *s = idset_create(), *again;
    struct strbuf b;
    unsigned seed = 99;

    memset(flags, 0, sizeof flags);
    for (int round = 0; round < 60000; round++) {
        uint32_t k = (uint32_t)rand_r(&seed) % N, id = k * unit + rest;

        if (rand_r(&seed) % 50 == 0) {
            uint32_t last = k + (uint32_t)rand_r(&seed) % (N - k), step = 1 + (uint32_t)rand_r(&seed) % 5;

            assert_int_equal(idset_add_range(s, id, last * unit + rest, step * unit), 0);
            for (uint32_t i = k; i <= last; i += step)
                flags[i] = true;
        } else {
            flags[k] = rand_r(&seed) & 1;
            assert_int_equal(flags[k] ? idset_add(s, id) : idset_remove(s, id), 0);
        }
    }
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(idset_contains(s, i * unit + rest), flags[i]);
        assert_false(unit > 1 && idset_contains(s, i * unit + rest + 1));
    }
    strbuf_init(&b, 1000000);
    assert_int_equal(idset_format(s, &b), 0);
    assert_int_equal(idset_parse(strbuf_str(&b), N * unit, N, &again, NULL), 0);
    assert_true(idset_is_equal(s, again));
    strbuf_fini(&b);
    idset_destroy(s);
    idset_destroy(again);
}

static void random_use_agrees_with_an_array(void **state)
{
    check_random_use(1, 0);
    check_random_use(6, 2);
    check_random_use(100000, 99999);
}

/* Memory: 10000 members far apart are one element; the pages of bits of their places are full. */
static void a_progression_costs_what_its_places_cost(void **state)
{
    struct idset *s, *part, *one;
    size_t before = mallinfo2().uordblks;

    assert_int_equal(idset_parse("0-2147000000:214721", INT32_MAX, 10000, &s, NULL), 0);
    assert_int_equal(idset_count(s), 10000);
    assert_true(mallinfo2().uordblks - before < 2048);
    assert_true(idset_contains(s, 214721) && !idset_contains(s, 214720));
    assert_int_equal(idset_remove(s, 214721 * 3), 0);
    check_text(s, "0-429442:214721,858884-2146995279:214721");
    assert_int_equal(idset_next(s, 429443), 858884);
    part = idset_create();
    for (int64_t id = idset_next(s, 0); id >= 0; id = idset_next(s, id + 1))
        assert_int_equal(idset_add(part, (uint32_t)id), 0);
    assert_true(idset_is_equal(s, part));
    assert_int_equal(idset_remove(part, 0), 0);
    assert_int_equal(idset_add(part, 0), 0);
    assert_true(mallinfo2().uordblks - before < 4096);
    one = idset_create();
    assert_int_equal(idset_add(one, 0) | idset_add(one, 429442) | idset_add(one, 214721), 0);
    assert_int_equal(idset_add_range(one, 858884, 2146995279, 214721), 0);
    assert_true(idset_is_equal(s, one));
    idset_destroy(one);
    idset_destroy(part);
    idset_destroy(s);
}

static void a_part_costs_what_the_range_has(void **state)
{
    static const struct {
        const char *text, *members;
    } rows[] = {
        {"0-2147483646:2147", "2147,6441"},
        {"0-2147483646", "1-9999:2"},
        {"2,4,6-8:2", ""},
        {"7-7,1,20000", "1,7"},
        {"9998-2147483646", "9999"},
        {"0-9999:3", "3-9999:6"},
        {"1-9999:2,1-9999:2", "1-9999:2"},
    };
    const struct idset_range in = {1, 9999, 2};
    struct idset *s = NULL;
    struct err e;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf b;
        size_t before = mallinfo2().uordblks;

        assert_int_equal(idset_parse_part(rows[i].text, INT32_MAX, in, &s, &e), 0);
        assert_true(mallinfo2().uordblks - before < 8192);
        strbuf_init(&b, 10000);
        assert_int_equal(idset_format(s, &b), 0);
        assert_string_equal(strbuf_str(&b), rows[i].members);
        strbuf_fini(&b);
        idset_destroy(s);
    }
    assert_int_equal(idset_parse_part("1-9999,1-9999,1-9999", INT32_MAX, in, &s, &e), -1);
    assert_int_equal(e.code, ERANGE);
    assert_int_equal(idset_parse_part("1-", INT32_MAX, in, &s, &e), -1);
    assert_int_equal(idset_check("1-5,7", INT32_MAX, &e), 0);
    assert_int_equal(idset_check("5-1", INT32_MAX, &e), -1);
}

static void ranges_meet_where_both_have_members(void **state)
{
    unsigned seed = 7;

    for (int round = 0; round < 20000; round++) {
        struct idset_range a = {(uint32_t)rand_r(&seed) % 60, 0, 1 + (uint32_t)rand_r(&seed) % 12};
        struct idset_range b = {(uint32_t)rand_r(&seed) % 60, 0, 1 + (uint32_t)rand_r(&seed) % 12}, m;
        bool any = false, met;

        a.last = a.first + (uint32_t)rand_r(&seed) % 60;
        b.last = b.first + (uint32_t)rand_r(&seed) % 60;
        m = a;
        met = idset_range_meet(&m, &b);
        for (uint32_t n = 0; n < 130; n++) {
            bool in_a = n >= a.first && n <= a.last && (n - a.first) % a.step == 0;
            bool in_b = n >= b.first && n <= b.last && (n - b.first) % b.step == 0;

            any |= in_a && in_b;
            if (met)
                assert_int_equal(in_a && in_b, n >= m.first && n <= m.last && (n - m.first) % m.step == 0);
        }
        assert_int_equal(any, met);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read_and_written_shortest),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(a_million_goes_and_comes),
        cmocka_unit_test(random_use_agrees_with_an_array),
        cmocka_unit_test(a_progression_costs_what_its_places_cost),
        cmocka_unit_test(a_part_costs_what_the_range_has),
        cmocka_unit_test(ranges_meet_where_both_have_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
