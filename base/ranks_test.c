/* Ranks of pointers: kept, counted, and found again when the table has grown. */
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 50000 };

static void a_pointer_keeps_the_rank_of_its_first_time(void **state)
{
    static char many[MANY][16];
    struct ranks *r = ranks_create();

    assert_non_null(r);
    assert_int_equal(ranks_find(r, many[0]), RANKS_NONE);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(ranks_add(r, many[i]), i);
    for (int i = MANY - 1; i >= 0; i--)
        assert_int_equal(ranks_add(r, many[i]), i);
    assert_int_equal(ranks_count(r), MANY);
    assert_int_equal(ranks_find(r, many[MANY - 1]), MANY - 1);
    assert_int_equal(ranks_find(r, &many[0][1]), RANKS_NONE);
    assert_int_equal(ranks_find(r, NULL), RANKS_NONE);
    ranks_destroy(r);
    ranks_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pointer_keeps_the_rank_of_its_first_time)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
