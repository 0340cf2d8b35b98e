/* Readers of the list of changes that read it in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "change.h"

enum { ENTRIES = 60, ROUNDS = 2000 };

/* What a reader has to read next is what a walk from the end would find. */
static void a_reader_goes_on_where_a_walk_from_the_end_would_find_it(void **state)
{
    struct change *c = change_create(ENTRIES);
    struct change_entry e[ENTRIES];
    struct change_pause pause = {0};
    uint64_t cursor = 0;
    unsigned seed = 7;

    for (size_t i = 0; i < ENTRIES; i++) {
        change_init_entry(&e[i], CHANGE_JOB);
        change_touch(c, &e[i], 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct change_entry *at = change_resume(&pause), *walked = change_after(c, cursor);
        if (at || !walked)
            assert_ptr_equal(at, walked);
        for (at = walked; at && rand_r(&seed) % 4; at = change_next(at))
            cursor = at->number;
        change_pause(c, &pause, at);
        for (int i = rand_r(&seed) % 6; i > 0; i--) {
            struct change_entry *x = &e[(unsigned)rand_r(&seed) % ENTRIES];
            if (rand_r(&seed) % 5 == 0 && x->number)
                change_gone(c, x, "gone");
            else
                change_touch(c, x, 0);
        }
    }
    change_resume(&pause);
    assert_null(pause.link);
    for (size_t i = 0; i < ENTRIES; i++)
        change_gone(c, &e[i], "gone");
    change_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_goes_on_where_a_walk_from_the_end_would_find_it)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
