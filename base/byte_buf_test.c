#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "byte_buf.h"

static void what_is_added_behind_and_dropped_in_front_stays_in_order(void **state)
{
    struct byte_buf b = {0};
    unsigned char next = 0, first = 0;

    for (size_t turn = 0; turn < 5000; turn++) {
        size_t in = turn * 7 % 97, out = turn * 5 % 83;

        for (size_t i = 0; i < in; i++, next++)
            assert_int_equal(byte_buf_add(&b, &next, 1), 0);
        out = out < b.len ? out : b.len;
        for (size_t i = 0; i < b.len; i++)
            assert_int_equal((unsigned char)b.bytes[i], (unsigned char)(first + i));
        byte_buf_drop(&b, out);
        first = (unsigned char)(first + out);
    }
    byte_buf_fini(&b);
}

static void a_buffer_that_is_drained_as_it_fills_does_not_grow(void **state)
{
    struct byte_buf b = {0};
    char piece[700] = "";
    size_t cap;

    byte_buf_add(&b, piece, 10);
    cap = b.cap;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(byte_buf_add(&b, piece, sizeof piece), 0);
        byte_buf_drop(&b, sizeof piece);
    }
    assert_int_equal(b.len, 10);
    assert_int_equal(b.cap, cap);
    byte_buf_fini(&b);
}

static void room_is_writable_to_its_end_behind_a_gap(void **state)
{
    struct byte_buf b = {0};
    char *at;

    byte_buf_add(&b, "abcdef", 6);
    byte_buf_drop(&b, 3);
    at = byte_buf_room(&b, 5000);
    memset(at, 'x', 5000);
    b.len += 5000;
    assert_memory_equal(b.bytes, "defxx", 5);
    assert_int_equal(b.bytes[5002], 'x');
    assert_null(byte_buf_room(&b, SIZE_MAX - 10));
    assert_memory_equal(b.bytes, "defxx", 5);
    byte_buf_cut(&b, 2);
    assert_int_equal(b.len, 2);
    byte_buf_cut(&b, 9);
    assert_int_equal(b.len, 2);
    byte_buf_fini(&b);
}

static void a_large_buffer_gives_its_memory_back_when_it_is_empty(void **state)
{
    struct byte_buf b = {0}, small = {0};

    byte_buf_add(&small, "s", 1);
    assert_non_null(byte_buf_room(&b, 300000));
    b.len = 300000;
    byte_buf_drop(&b, 299999);
    assert_true(b.cap >= 300000);
    byte_buf_drop(&b, 1);
    assert_int_equal(b.cap, 0);
    byte_buf_swap(&b, &small);
    assert_int_equal(b.len, 1);
    byte_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_true(b.cap > 0);
    byte_buf_fini(&b);
    byte_buf_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_behind_and_dropped_in_front_stays_in_order),
        cmocka_unit_test(a_buffer_that_is_drained_as_it_fills_does_not_grow),
        cmocka_unit_test(room_is_writable_to_its_end_behind_a_gap),
        cmocka_unit_test(a_large_buffer_gives_its_memory_back_when_it_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
