#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "resv_times.h"

enum { NOW = 1000 };
#define LAST RESV_TIMES_LAST_S

/* What was said: start, end, duration; what it means, or 0 for PBSE_BADTSPEC. */
static const struct row {
    struct resv_times said, want;
} submitted[] = {
    {{1000, 1060, 0}, {1000, 1060, 60}},
    {{1000, 0, 60}, {1000, 1060, 60}},
    {{0, 1060, 60}, {1000, 1060, 60}},
    {{1000, 1060, 60}, {1000, 1060, 60}},
    {{LAST - 60, 0, 60}, {LAST - 60, LAST, 60}},
    {{2000, LAST, 0}, {2000, LAST, LAST - 2000}},
    {{1000, 1060, 59}, {0}},
    {{999, 0, 60}, {0}},
    {{0, 1059, 60}, {0}},
    {{1060, 1060, 0}, {0}},
    {{1060, 1000, 0}, {0}},
    {{1000, 0, 0}, {0}},
    {{0, 1000, 0}, {0}},
    {{0, 0, 60}, {0}},
    {{0, 0, 0}, {0}},
    {{LAST, 0, 1}, {0}},
    {{LAST - 60, 0, LAST}, {0}},
    {{1000, LAST + 1, 0}, {0}},
    {{INT64_MAX, 0, INT64_MAX}, {0}},
    {{INT64_MAX, 0, 1}, {0}},
    {{1000, INT64_MAX, 0}, {0}},
    {{0, INT64_MAX, 1}, {0}},
    {{0, 1000, INT64_MAX}, {0}},
};

static const struct row altered[] = {
    /* of 5000 to 5100 */
    {{5050, 0, 0}, {5050, 5100, 50}},
    {{0, 5200, 0}, {5000, 5200, 200}},
    {{0, 0, 300}, {5000, 5300, 300}},
    {{0, 5200, 50}, {5150, 5200, 50}},
    {{6000, 0, 50}, {6000, 6050, 50}},
    {{6000, 6100, 0}, {6000, 6100, 100}},
    {{6000, 6100, 100}, {6000, 6100, 100}},
    {{6000, 6100, 99}, {0}},
    {{5100, 0, 0}, {0}},
    {{0, 5000, 0}, {0}},
    {{0, 0, LAST}, {0}},
    {{0, 100, 200}, {0}},
    {{INT64_MAX, 0, 1}, {0}},
    {{INT64_MAX, 0, 0}, {0}},
    {{0, INT64_MAX, 0}, {0}},
    {{0, 0, INT64_MAX}, {0}},
    {{0, 5100, INT64_MAX}, {0}},
};

static void check(const struct row *w, const struct resv_times *got, int rc, const struct err *e)
{
    if (!w->want.start_s) {
        assert_int_equal(rc, -1);
        assert_int_equal(e->code, PBSE_BADTSPEC);
        return;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(got->start_s, w->want.start_s);
    assert_int_equal(got->end_s, w->want.end_s);
    assert_int_equal(got->duration_s, w->want.duration_s);
}

static void test_two_of_them_give_the_third(void **state)
{
    for (size_t i = 0; i < sizeof submitted / sizeof *submitted; i++) {
        struct resv_times t = submitted[i].said;
        struct err e = {0};
        int rc = resv_times_complete(&t, NOW, &e);

        check(&submitted[i], &t, rc, &e);
    }
}

static void test_what_is_altered_moves_the_rest(void **state)
{
    for (size_t i = 0; i < sizeof altered / sizeof *altered; i++) {
        struct resv_times t = {5000, 5100, 100};
        struct err e = {0};
        int rc = resv_times_alter(&t, &altered[i].said, &e);

        check(&altered[i], &t, rc, &e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_of_them_give_the_third),
                                       cmocka_unit_test(test_what_is_altered_moves_the_rest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
