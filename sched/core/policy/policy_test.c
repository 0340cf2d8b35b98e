#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pbs_error.h"
#include "policy.h"
#include "reason.h"

static void a_bad_value_is_refused_and_the_default_holds(void **state)
{
    static const char *const bad[][2] = {
        {"preempt_order", "SCR 80 PQR"},   {"preempt_order", "PQR"},        {"preempt_order", "SCR SC"},
        {"preempt_order", "80 SC"},        {"preempt_order", "SCR 80 70"},  {"preempt_order", "SS"},
        {"preempt_order", "S 80"},         {"preempt_order", "S 101 R"},    {"preempt_prio", "expres_queue"},
        {"preempt_prio", "a+normal_jobs"}, {"preempt_queue_prio", "123abc"}};
    struct policy p;
    struct err e;
    char letters[PREEMPT_LETTERS_MAX];

    policy_init(&p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(policy_attribute(&p, bad[i][0], bad[i][1], &e), -1);
        assert_int_equal(e.code, PBSE_BADATVAL);
    }
    assert_string_equal(preempt_methods_format(order_methods(&p.preempt.order, 100), letters), "SCR");
    assert_int_equal(p.prio.n, 2);
    assert_int_equal(p.preempt.priority, 150);
    policy_fini(&p);
}

static void reasons_read_as_in_pbs(void **state)
{
    struct catalogue *c = catalogue_create();
    struct reason r;
    char text[REASON_TEXT_MAX];

    reason_lack(&r, REASON_LACK, c, RES_NCPUS, 4, 2, 8);
    assert_string_equal(reason_comment(&r, text),
                        "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)");
    reason_lack(&r, REASON_LACK_SERVER, c, RES_MEM, 4, 2, 8);
    assert_string_equal(reason_log(&r, text),
                        "Insufficient amount of server resource: mem (R: 4kb A: 2kb T: 8kb)");
    reason_set(&r, REASON_QUEUE_JOBS, "workq", NULL);
    assert_string_equal(reason_comment(&r, text), "Not Running: Queue workq job limit has been reached.");
    assert_string_equal(reason_log(&r, text), "Queue workq job limit reached");
    reason_set(&r, REASON_PBS_ERROR, "no", "15015");
    assert_string_equal(reason_log(&r, text), "Failed to run: no (15015)");
    reason_set(&r, REASON_LACK, "host", NULL);
    r.never = true;
    assert_string_equal(reason_comment(&r, text), "Can Never Run: Insufficient amount of resource: host");
    catalogue_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bad_value_is_refused_and_the_default_holds),
                                       cmocka_unit_test(reasons_read_as_in_pbs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
