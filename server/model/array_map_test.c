#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "array_map.h"
#include "idset.h"
#include "pbs_error.h"
#include "strbuf.h"

static struct array_map *made(const char *range)
{
    struct err e = {0};
    struct array_map *m = array_map_create(range, 10000000, &e);

    if (!m)
        fail_msg("%s: %s", range, e.text);
    return m;
}

static void expect_queued(const struct array_map *m, const char *text)
{
    struct strbuf b;

    strbuf_init(&b, 1 << 20);
    assert_int_equal(array_map_format_queued(m, NULL, &b), 0);
    assert_string_equal(strbuf_str(&b), text);
    strbuf_fini(&b);
}

static void a_range_is_read_as_pbs_writes_it(void **state)
{
    static const struct {
        const char *text;
        size_t size; /* 0: refused */
        int code;
        const char *queued;
    } rows[] = {
        {"1-5", 5, 0, "1-5"},
        {"0-9:3", 4, 0, "0-9:3"},
        {"7-8", 2, 0, "7-8"},
        {"1-10:100", 1, 0, "1"},
        {"0-9999999", 10000000, 0, "0-9999999"},
        {"0-10000000", 0, PBSE_MaxArraySize, NULL},
        {"5-5", 0, PBSE_BADATVAL, NULL},
        {"5-1", 0, PBSE_BADATVAL, NULL},
        {"-1-5", 0, PBSE_BADATVAL, NULL},
        {"1-5:0", 0, PBSE_BADATVAL, NULL},
        {"1-5:", 0, PBSE_BADATVAL, NULL},
        {"1-5%2", 0, PBSE_BADATVAL, NULL},
        {"1-5,7", 0, PBSE_BADATVAL, NULL},
        {"1", 0, PBSE_BADATVAL, NULL},
        {"", 0, PBSE_BADATVAL, NULL},
        {"1-99999999999", 0, PBSE_BADATVAL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct err e = {0};
        struct array_map *m = array_map_create(rows[i].text, 10000000, &e);

        assert_int_equal(m != NULL, rows[i].size != 0);
        if (!m) {
            assert_int_equal(e.code, rows[i].code);
            continue;
        }
        assert_int_equal(array_map_size(m), rows[i].size);
        expect_queued(m, rows[i].queued);
        array_map_destroy(m);
    }
}

static void an_index_moves_from_queued_over_live_to_its_end(void **state)
{
    struct array_map *m = made("2-8:2");

    assert_int_equal(array_map_get(m, 3), ARRAY_NO_INDEX);
    assert_int_equal(array_map_get(m, 10), ARRAY_NO_INDEX);
    assert_int_equal(array_map_get(m, 4), ARRAY_QUEUED);
    expect_queued(m, "2-8:2");
    array_map_start(m, 2);
    array_map_start(m, 4);
    array_map_start(m, 6);
    expect_queued(m, "8");
    array_map_back(m, 4);
    expect_queued(m, "4,8");
    array_map_end(m, 2, true);
    array_map_end(m, 6, false);
    array_map_end(m, 8, false); /* deleted before it ran */
    assert_int_equal(array_map_get(m, 2), ARRAY_FAILED);
    assert_int_equal(array_map_get(m, 6), ARRAY_ENDED);
    assert_int_equal(array_map_count(m, ARRAY_ENDED), 2);
    assert_int_equal(array_map_count(m, ARRAY_FAILED), 1);
    assert_false(array_map_is_over(m));
    array_map_start(m, 4);
    assert_false(array_map_is_over(m));
    array_map_end(m, 4, false);
    assert_true(array_map_is_over(m));
    expect_queued(m, "-");
    array_map_destroy(m);
}

static void walking_steps_over_what_the_array_has_not(void **state)
{
    struct array_map *m = made("3-9:3");

    assert_int_equal(array_map_next(m, -5), 3);
    assert_int_equal(array_map_next(m, 4), 6);
    assert_int_equal(array_map_next(m, 9), 9);
    assert_int_equal(array_map_next(m, 10), ARRAY_NONE);
    array_map_start(m, 9);
    assert_int_equal(array_map_next_other(m, 0), 9);
    array_map_back(m, 9);
    assert_int_equal(array_map_next_other(m, 0), ARRAY_NONE);
    array_map_destroy(m);
}

static void some_or_all_queued_indices_can_end_at_once(void **state)
{
    struct array_map *m = made("0-999999");
    struct idset *some = idset_create();

    idset_add_range(some, 10, 30, 10);
    idset_add(some, 2000000);
    array_map_start(m, 20);
    assert_int_equal(array_map_end_queued(m, some), 2);
    assert_int_equal(array_map_get(m, 10), ARRAY_ENDED);
    assert_int_equal(array_map_get(m, 20), ARRAY_LIVE);
    assert_int_equal(array_map_get(m, 11), ARRAY_QUEUED);
    assert_int_equal(array_map_end_queued(m, NULL), 1000000 - 3);
    assert_false(array_map_is_over(m));
    array_map_end(m, 20, false);
    assert_true(array_map_is_over(m));
    idset_destroy(some);
    array_map_destroy(m);
}

/* What the store gets, and what a restarted server makes of it. */
static struct array_map *through_the_store(struct array_map *m, const char *range, size_t *pages)
{
    struct array_map *copy = made(range);
    int64_t page;

    for (*pages = 0; (page = array_map_take_dirty(m)) != ARRAY_NONE; ++*pages) {
        struct strbuf queued, failed;
        struct err e = {0};

        strbuf_init(&queued, 1 << 20);
        strbuf_init(&failed, 1 << 20);
        assert_int_equal(array_map_format_page(m, page, &queued, &failed), 0);
        if (array_map_read_page(copy, page, strbuf_str(&queued), strbuf_str(&failed), &e) < 0)
            fail_msg("%s", e.text);
        strbuf_fini(&queued);
        strbuf_fini(&failed);
    }
    for (int64_t i = array_map_next(m, 0); i != ARRAY_NONE; i = array_map_next(m, i + 1))
        if (array_map_get(m, i) == ARRAY_LIVE)
            assert_int_equal(array_map_read_live(copy, i), 0);
    return copy;
}

static void pages_bring_back_what_was_written(void **state)
{
    static const char range[] = "5-20005:5";
    struct array_map *m = made(range), *copy;
    size_t pages;

    array_map_start(m, 5);
    array_map_start(m, 10);
    array_map_start(m, 10000);
    array_map_back(m, 10000);
    assert_int_equal(array_map_take_dirty(m), ARRAY_NONE); /* none has ended: nothing to write */
    array_map_end(m, 10, true);
    array_map_start(m, 20000);
    array_map_end(m, 20000, false);
    copy = through_the_store(m, range, &pages);
    assert_int_equal(pages, 2); /* the cost of a change is that of its page */
    for (int64_t i = 0; i < 20010; i++)
        assert_int_equal(array_map_get(copy, i), array_map_get(m, i));
    assert_int_equal(array_map_count(copy, ARRAY_LIVE), 1);
    assert_int_equal(array_map_count(copy, ARRAY_QUEUED), array_map_count(m, ARRAY_QUEUED));
    assert_int_equal(array_map_take_dirty(copy), ARRAY_NONE);
    array_map_destroy(copy);
    array_map_destroy(m);
}

static void a_row_that_is_no_page_is_refused(void **state)
{
    struct array_map *m = made("0-9");
    struct err e = {0};

    assert_int_equal(array_map_read_page(m, 0, "x", "", &e), -1);
    assert_non_null(strstr(e.text, "page 0"));
    assert_int_equal(array_map_read_live(m, 10), -1);
    array_map_destroy(m);
}

static void what_is_not_kept_has_ended(void **state)
{
    struct array_map *m = made("2-20:2");
    struct err e = {0};

    assert_int_equal(array_map_keep(m, "4,6", &e), 0);
    assert_int_equal(array_map_count(m, ARRAY_QUEUED), 2);
    assert_int_equal(array_map_get(m, 4), ARRAY_QUEUED);
    assert_int_equal(array_map_get(m, 8), ARRAY_ENDED);
    assert_int_equal(array_map_get(m, 5), ARRAY_NO_INDEX);
    array_map_destroy(m);
    for (const char *const *bad = (const char *const[]){"", "-", "x", "3", "4-6", "4,22", NULL}; *bad;
         bad++) {
        m = made("2-20:2");
        assert_int_equal(array_map_keep(m, *bad, &e), -1);
        assert_int_equal(array_map_count(m, ARRAY_QUEUED), 10);
        array_map_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_read_as_pbs_writes_it),
        cmocka_unit_test(an_index_moves_from_queued_over_live_to_its_end),
        cmocka_unit_test(walking_steps_over_what_the_array_has_not),
        cmocka_unit_test(some_or_all_queued_indices_can_end_at_once),
        cmocka_unit_test(pages_bring_back_what_was_written),
        cmocka_unit_test(a_row_that_is_no_page_is_refused),
        cmocka_unit_test(what_is_not_kept_has_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
