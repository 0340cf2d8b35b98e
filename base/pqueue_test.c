#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pqueue.h"

enum { N = 100000 };

struct thing {
    int name;
    struct pqueue_entry due;
};

static void equal_keys_keep_their_order(void **state)
{
    struct thing t[5] = {{.name = 0}, {.name = 1}, {.name = 2}, {.name = 3}, {.name = 4}};
    static const int want[] = {4, 1, 2, 3, 0};
    struct pqueue q;

    pqueue_init(&q);
    assert_null(pqueue_pop(&q));
    for (int i = 0; i < 5; i++)
        assert_int_equal(pqueue_push(&q, &t[i].due, i == 4 ? -1 : 7), 0);
    pqueue_remove(&q, &t[0].due);
    assert_int_equal(pqueue_push(&q, &t[0].due, 7), 0); /* behind its equals */
    for (int i = 0; i < 5; i++)
        assert_int_equal(PQUEUE_OWNER(pqueue_pop(&q), struct thing, due)->name, want[i]);
    pqueue_fini(&q);
}

static void fini_sets_entries_free(void **state)
{
    struct thing t = {0};
    struct pqueue q;

    pqueue_init(&q);
    assert_int_equal(pqueue_push(&q, &t.due, 1), 0);
    assert_true(pqueue_has(&t.due));
    pqueue_fini(&q);
    assert_false(pqueue_has(&t.due));
    pqueue_remove(&q, &t.due);
}

/* Push and remove at random; what comes out rises and is complete. */
static void random_use_comes_out_sorted(void **state)
{
    struct thing *t = calloc(N, sizeof *t);
    struct pqueue q;
    unsigned seed = 3;
    size_t left = 0, out = 0;
    int64_t last = INT64_MIN;

    pqueue_init(&q);
    for (int i = 0; i < N; i++)
        assert_int_equal(pqueue_push(&q, &t[i].due, rand_r(&seed) % 1000), 0);
    for (int i = 0; i < N; i += 3)
        pqueue_remove(&q, &t[i].due);
    for (int i = 0; i < N; i += 6)
        assert_int_equal(pqueue_push(&q, &t[i].due, rand_r(&seed) % 1000), 0);
    for (int i = 0; i < N; i++)
        left += pqueue_has(&t[i].due);
    for (struct pqueue_entry *e; (e = pqueue_pop(&q)); out++) {
        assert_true(e->key >= last);
        last = e->key;
    }
    assert_int_equal(out, left);
    pqueue_fini(&q);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_keep_their_order),
        cmocka_unit_test(fini_sets_entries_free),
        cmocka_unit_test(random_use_comes_out_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
