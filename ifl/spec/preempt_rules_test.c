#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pbs_error.h"
#include "preempt_rules.h"

enum { NOW = 1000000 };

/* --- methods and results -------------------------------------------------------------------------------- */

static void letters_codes_and_results_belong_together(void **state)
{
    static const struct {
        enum method_id method;
        enum preempt_result result;
        char letter;
        const char *code;
        bool loses;
        enum preempt_after after;
    } rows[] = {{METHOD_SUSPEND, PREEMPT_SUSPENDED, 'S', "S", false, AFTER_SUSPENDED},
                {METHOD_CHECKPOINT, PREEMPT_CHECKPOINTED, 'C', "C", false, AFTER_QUEUED},
                {METHOD_REQUEUE, PREEMPT_REQUEUED, 'R', "Q", true, AFTER_QUEUED},
                {METHOD_DELETE, PREEMPT_DELETED, 'D', "D", true, AFTER_GONE},
                {METHOD_RELEASE, PREEMPT_RELEASED, 'P', "P", false, AFTER_SMALLER}};

    assert_int_equal(sizeof rows / sizeof *rows, METHOD_COUNT - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct preempt_method_row *row = preempt_method_row(rows[i].method);

        assert_int_equal(row->letter, rows[i].letter);
        assert_int_equal(row->result, rows[i].result);
        assert_int_equal(row->loses_work, rows[i].loses);
        assert_int_equal(row->after, rows[i].after);
        assert_int_equal(preempt_method_ends_run(rows[i].method),
                         row->after == AFTER_QUEUED || row->after == AFTER_GONE);
        assert_int_equal(preempt_method_of_letter(rows[i].letter), rows[i].method);
        assert_string_equal(preempt_method_result_code(rows[i].result), rows[i].code);
        assert_int_equal(preempt_method_result_letter(rows[i].result), rows[i].letter);
        assert_int_equal(preempt_result_method(rows[i].result), rows[i].method);
    }
    for (int r = PREEMPT_OPEN + 1; r < PREEMPT_RESULT_COUNT; r++)
        assert_int_equal(preempt_method_result_of_code(preempt_method_result_code((enum preempt_result)r)),
                         r);
    assert_int_equal(preempt_method_result_of_code("000"), PREEMPT_FAILED);
    assert_int_equal(preempt_method_result_letter(PREEMPT_FAILED), 0);
    assert_int_equal(preempt_method_result_of_code("x"), PREEMPT_OPEN);
    assert_int_equal(preempt_method_of_letter('x'), METHOD_NONE);
    assert_int_equal(preempt_method_of_letter('\0'), METHOD_NONE);
    assert_false(preempt_method_ends_run(METHOD_NONE));
}

static void sequences_keep_their_order(void **state)
{
    struct preempt_methods l, only;
    char text[PREEMPT_LETTERS_MAX];

    assert_true(preempt_methods_parse("SCRDP", &l));
    assert_string_equal(preempt_methods_format(&l, text), "SCRDP");
    assert_true(preempt_methods_parse("", &only));
    assert_int_equal(preempt_methods_first(&only), METHOD_NONE);
    assert_true(preempt_methods_parse("DC", &only));
    preempt_methods_keep(&l, &only);
    assert_string_equal(preempt_methods_format(&l, text), "CD");
    preempt_methods_drop_first(&l);
    assert_int_equal(preempt_methods_first(&l), METHOD_DELETE);
    assert_false(preempt_methods_parse("SS", &l));
    assert_false(preempt_methods_parse("SX", &l));
    assert_int_equal(l.n, 0);
}

/* --- grammar -------------------------------------------------------------------------------------------- */

static void an_order_is_parsed_or_refused_as_a_whole(void **state)
{
    static const struct {
        const char *text;
        int left;
        const char *letters; /* NULL: refused */
    } rows[] = {{"SCR", 50, "SCR"},
                {"SCR 80 SC 50 S", 81, "SCR"},
                {"SCR 80 SC 50 S", 80, "SC"},
                {"SCR 80 SC 50 S", 51, "SC"},
                {"SCR 80 SC 50 S", 50, "S"},
                {"SCR 80 SC 50 S", 0, "S"},
                {"R 50 S", 60, "R"},
                {"R 50 S", 1, "S"},
                {"SCRD\t50\tR", 100, "SCRD"},
                {"S 100 R", 100, "R"},
                {"S 1 R", 1, "R"},
                {"SCR 80 PQR", 0, NULL},
                {"PQR", 0, NULL},
                {"P", 0, NULL},
                {"SCR SC", 0, NULL},
                {"80 SC", 0, NULL},
                {"SCR 80 70", 0, NULL},
                {"SS", 0, NULL},
                {"S 80", 0, NULL},
                {"S 101 R", 0, NULL},
                {"S 0 R", 0, NULL},
                {"S -5 R", 0, NULL},
                {"S 50 C 80 R", 0, NULL},
                {"S 50 C 50 R", 0, NULL},
                {"S 99999999999 R", 0, NULL},
                {"", 0, NULL}};
    struct preempt_order o;
    struct err e;
    char text[PREEMPT_LETTERS_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = order_parse(rows[i].text, &o, &e);

        assert_int_equal(rc, rows[i].letters ? 0 : -1);
        if (rc == 0)
            assert_string_equal(preempt_methods_format(order_methods(&o, rows[i].left), text),
                                rows[i].letters);
        else
            assert_int_equal(e.code, PBSE_BADATVAL);
    }
}

static void levels_rank_as_preempt_prio_says(void **state)
{
    static const struct {
        const char *prio;
        unsigned mask;
        long priority;
        int value;
    } rows[] = {
        {"express_queue, normal_jobs", PRIO_EXPRESS, 200, 99200},
        {"express_queue, normal_jobs", PRIO_NORMAL, 10, 98000},
        {"express_queue, normal_jobs", PRIO_SERVER_SOFTLIMIT, 10, 98000}, /* not listed: normal */
        {"express_queue", PRIO_NORMAL, 10, 0},
        {"express_queue, normal_jobs, express_queue+fairshare, fairshare", PRIO_EXPRESS | PRIO_FAIRSHARE, 200,
         97200},
        {"express_queue, normal_jobs, express_queue+fairshare, fairshare", PRIO_FAIRSHARE, 0, 96000},
        {"fairshare, queue_softlimits, normal_jobs", PRIO_FAIRSHARE | PRIO_QUEUE_SOFTLIMIT, 0, 99000}};
    struct preempt_prio p;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(preempt_order_parse_prio(rows[i].prio, &p, NULL), 0);
        assert_int_equal(preempt_order_prio_value(&p, rows[i].mask, rows[i].priority), rows[i].value);
    }
}

/* --- time and loss -------------------------------------------------------------------------------------- */

static void the_share_of_time_left_follows_the_first_request_that_is_there(void **state)
{
    static const struct {
        struct preempt_facts f;
        int left;
    } rows[] = {
        {{.walltime_s = 100, .start_s = NOW - 30}, 70},
        {{.soft_walltime_s = 60, .walltime_s = 100, .start_s = NOW - 30}, 50},
        {{.walltime_s = 100, .cput_s = 10, .used_cput_s = 9, .start_s = NOW - 30}, 70},
        {{.cput_s = 10, .used_cput_s = 9, .start_s = NOW - 30}, 10},
        {{.walltime_s = 100, .start_s = NOW - 30, .used_walltime_s = 40}, 60},
        {{.walltime_s = 100, .start_s = NOW - 90, .paused_s = 50}, 60},
        {{.walltime_s = 100, .start_s = NOW - 90, .suspended = true, .used_walltime_s = 20}, 80},
        {{.walltime_s = 100, .start_s = NOW - 500}, 1},
        {{.walltime_s = 100, .start_s = NOW - 100}, 0},
        {{.walltime_s = 100}, 100},
        {{.start_s = NOW - 30}, 100},
        {{.walltime_s = 1000, .start_s = NOW - 9}, 100}, /* 0.9 % is less than a whole percent */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(preempt_rules_percent_left(&rows[i].f, NOW), rows[i].left);
}

static void only_requeue_and_deletion_lose_what_the_run_has_worked(void **state)
{
    struct preempt_facts f = {.start_s = NOW - 100, .paused_s = 40, .cores = 4};

    for (int m = METHOD_NONE; m < METHOD_COUNT; m++)
        assert_true(preempt_rules_loss(&f, (enum method_id)m, NOW) ==
                    (m == METHOD_REQUEUE || m == METHOD_DELETE ? 240 : 0));
    f.cores = 0; /* a claim without ncpus occupies a host all the same */
    assert_true(preempt_rules_loss(&f, METHOD_DELETE, NOW) == 60);
    f.start_s = 0;
    assert_true(preempt_rules_loss(&f, METHOD_DELETE, NOW) == 0);
    f.start_s = NOW + 5; /* the clock was set back */
    assert_true(preempt_rules_loss(&f, METHOD_DELETE, NOW) == 0);
}

/* --- whose word counts ----------------------------------------------------------------------------------- */

static void every_combination_of_queue_scheduler_and_wish_gives_the_methods(void **state)
{
    static const char *const orders[] = {NULL, "SCR", "D", "none", "R 50 S"};
    static const char *const wishes[] = {"", "S", "D", "RS"};
    static const char *const sched_orders[] = {"SCR", "CD 50 S"};
    char got[PREEMPT_LETTERS_MAX], group[PREEMPT_LETTERS_MAX];

    for (size_t q = 0; q < 5; q++)
        for (size_t s = 0; s < 2; s++)
            for (size_t w = 0; w < 4; w++)
                for (int enable = 0; enable < 2; enable++)
                    for (int left = 0; left <= 100; left += 50) {
                        struct preempt_settings queue, sched;
                        struct preempt_facts f = {.walltime_s = 100, .start_s = NOW - (100 - left)};
                        struct preempt_methods out, wanted = {0};

                        preempt_rules_init_settings(&queue, "q");
                        preempt_rules_init_settings(&sched, NULL);
                        if (orders[q])
                            assert_true(preempt_rules_settings_order(&queue, orders[q]));
                        assert_true(preempt_rules_settings_order(&sched, sched_orders[s]));
                        assert_true(preempt_methods_parse(wishes[w], &f.wish));
                        queue.methods_enable = enable;
                        preempt_rules_methods(&f, &queue, &sched, NOW, &out);
                        if (q != 3)
                            wanted = *order_methods(queue.order.n ? &queue.order : &sched.order,
                                                    preempt_rules_percent_left(&f, NOW));
                        preempt_methods_format(&wanted, group);
                        preempt_methods_format(&out, got);
                        if (enable && strpbrk(group, wishes[w]))
                            for (const char *l = got; *l; l++)
                                assert_non_null(strchr(wishes[w], *l));
                        else
                            assert_string_equal(got, group);
                        assert_int_equal(*got == '\0', q == 3);
                    }
}

static void a_queue_speaks_before_its_scheduler(void **state)
{
    enum { U = PREEMPT_UNSET };
    static const struct {
        int64_t queue_exempt, sched_exempt, queue_most, sched_most, start, count;
        const char *by, *urgent;
        int64_t urgent_prio;
        bool never;
        enum preempt_exempt exempt;
        int64_t until;
    } rows[] = {
        {U, U, U, U, NOW - 10, 9, NULL, "x", 0, false, EXEMPT_NOT, 0},
        {U, 60, U, U, NOW - 10, 0, NULL, "x", 0, false, EXEMPT_TIME, NOW + 50},
        {0, 60, U, U, NOW - 10, 0, NULL, "x", 0, false, EXEMPT_NOT, 0},
        {60, U, U, U, NOW - 60, 0, NULL, "x", 0, false, EXEMPT_NOT, 0},
        {60, U, U, U, 0, 0, NULL, "x", 0, false, EXEMPT_TIME, NOW + 60},
        {U, U, U, 2, NOW - 10, 2, NULL, "x", 0, false, EXEMPT_COUNT, 0},
        {U, U, 3, 2, NOW - 10, 2, NULL, "x", 0, false, EXEMPT_NOT, 0},
        {U, U, 0, U, NOW - 10, 0, NULL, "x", 0, false, EXEMPT_COUNT, 0},
        {U, U, U, U, NOW - 10, 0, "a, x", "x", 0, false, EXEMPT_NOT, 0},
        {U, U, U, U, NOW - 10, 0, "a,xx", "x", 0, false, EXEMPT_BY, 0},
        {U, U, U, U, NOW - 10, 0, "express_queue", "x", 150, false, EXEMPT_NOT, 0},
        {U, U, U, U, NOW - 10, 0, "express_queue", "x", 149, false, EXEMPT_BY, 0},
        {U, U, U, U, NOW - 10, 0, "normal_jobs", "x", 149, false, EXEMPT_NOT, 0},
        {U, U, U, U, NOW - 10, 0, "normal_jobs", "x", 150, false, EXEMPT_BY, 0},
        {U, U, U, U, NOW - 10, 0, "a", NULL, 0, false, EXEMPT_NOT, 0},
        {60, U, 0, U, NOW - 10, 0, "a", "x", 0, true, EXEMPT_NEVER, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct preempt_settings queue, sched, urgent;
        struct preempt_facts f = {.start_s = rows[i].start, .count = rows[i].count};
        int64_t until;

        preempt_rules_init_settings(&queue, "q");
        preempt_rules_init_settings(&sched, NULL);
        preempt_rules_init_settings(&urgent, rows[i].urgent ? rows[i].urgent : "");
        queue.exempt_s = rows[i].queue_exempt;
        queue.max_count = rows[i].queue_most;
        queue.preemptable_by = rows[i].by;
        queue.never = rows[i].never;
        sched.exempt_s = rows[i].sched_exempt;
        sched.max_count = rows[i].sched_most;
        urgent.priority = rows[i].urgent_prio;
        assert_int_equal(
            preempt_rules_exempt(&f, &queue, &sched, rows[i].urgent ? &urgent : NULL, NOW, &until),
            rows[i].exempt);
        assert_int_equal(until, rows[i].until);
    }
}

static void a_budget_is_core_hours_of_the_urgent_queue(void **state)
{
    struct preempt_settings queue, sched;

    preempt_rules_init_settings(&queue, "q");
    preempt_rules_init_settings(&sched, NULL);
    assert_true(preempt_rules_budget(&queue, &sched) < 0);
    sched.budget = 2;
    assert_true(preempt_rules_budget(&queue, &sched) == 7200);
    assert_true(preempt_rules_budget(NULL, &sched) < 0);
    queue.budget = 0;
    assert_true(preempt_rules_budget(&queue, &sched) == 0);
    assert_true(preempt_rules_affords(-1, 1e9, 1));
    assert_true(preempt_rules_affords(0, 0, 0));
    assert_false(preempt_rules_affords(0, 0, 1));
    assert_true(preempt_rules_affords(100, 60, 40));
    assert_false(preempt_rules_affords(100, 60, 41));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_codes_and_results_belong_together),
        cmocka_unit_test(sequences_keep_their_order),
        cmocka_unit_test(an_order_is_parsed_or_refused_as_a_whole),
        cmocka_unit_test(levels_rank_as_preempt_prio_says),
        cmocka_unit_test(the_share_of_time_left_follows_the_first_request_that_is_there),
        cmocka_unit_test(only_requeue_and_deletion_lose_what_the_run_has_worked),
        cmocka_unit_test(every_combination_of_queue_scheduler_and_wish_gives_the_methods),
        cmocka_unit_test(a_queue_speaks_before_its_scheduler),
        cmocka_unit_test(a_budget_is_core_hours_of_the_urgent_queue)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
