#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <malloc.h>

#include "idset.h"
#include "jobid.h"
#include "pbs_error.h"
#include "strbuf.h"

static void good_names(void **state)
{
    static const struct {
        const char *text;
        enum jobid_form form;
        long long seq;
        int index;
        const char *server, *ask, *complete; /* with server "s" */
    } rows[] = {
        {"41", JOBID_JOB, 41, -1, "", "", "41.s"},
        {"41.svr1", JOBID_JOB, 41, -1, "svr1", "", "41.svr1"},
        {"41.svr1.a-b@o:15001", JOBID_JOB, 41, -1, "svr1.a-b", "o:15001", "41.svr1.a-b"},
        {"41@o", JOBID_JOB, 41, -1, "", "o", "41.s"},
        {"999999999999.x", JOBID_JOB, 999999999999, -1, "x", "", "999999999999.x"},
        {"41[]", JOBID_ARRAY, 41, -1, "", "", "41[].s"},
        {"41[].x@y", JOBID_ARRAY, 41, -1, "x", "y", "41[].x"},
        {"41[7].x", JOBID_SUBJOB, 41, 7, "x", "", "41[7].x"},
        {"41[1,3-9:2]", JOBID_RANGE, 41, -1, "", "", "41[1,3-9:2].s"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf b;
        struct jobid id;
        struct err e;

        assert_int_equal(jobid_parse(rows[i].text, &id, &e), 0);
        assert_int_equal(id.form, rows[i].form);
        assert_int_equal(id.key.seq, rows[i].seq);
        assert_int_equal(id.key.index, rows[i].index);
        assert_string_equal(id.server, rows[i].server);
        assert_string_equal(id.ask, rows[i].ask);
        strbuf_init(&b, 1000);
        assert_int_equal(jobid_complete(&id, "s", &b), 0);
        assert_string_equal(b.s, rows[i].complete);
        strbuf_fini(&b);
    }
}

static void bad_names(void **state)
{
    static const char *const rows[] = {"",
                                       "a",
                                       "a1",
                                       ".svr",
                                       "1.",
                                       "1@",
                                       "1[",
                                       "1[a]",
                                       "1[1",
                                       "1]",
                                       "1[]x",
                                       "1234567890123",
                                       "1 ",
                                       " 1",
                                       "1.a b",
                                       "1.a:15001",
                                       "1.a@b@c",
                                       "1[-]x",
                                       "1[99999999999]",
                                       "-1",
                                       "1\n",
                                       "1.a/b",
                                       "1[2147483647]"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobid id;
        struct err e;
        char want[200];

        assert_int_equal(jobid_parse(rows[i], &id, &e), -1);
        assert_int_equal(e.code, PBSE_IVALREQ);
        snprintf(want, sizeof want, "illegally formed job identifier: %s", rows[i]);
        assert_string_equal(e.text, want);
    }
}

static void ranges_become_sets(void **state)
{
    const struct idset_range array = {1, 100, 1};
    struct idset *set;
    struct jobid id;
    struct err e;

    assert_int_equal(jobid_parse("5[1,3-9:2].x", &id, &e), 0);
    assert_int_equal(jobid_check_indices(&id, &e), 0);
    assert_int_equal(jobid_indices(&id, array, &set, &e), 0);
    assert_int_equal(idset_count(set), 5);
    assert_true(idset_contains(set, 7));
    idset_destroy(set);
    assert_int_equal(jobid_parse("5[12]", &id, &e), 0);
    assert_int_equal(jobid_indices(&id, array, &set, &e), 0);
    assert_int_equal(idset_next(set, 0), 12);
    idset_destroy(set);
    assert_int_equal(jobid_parse("5[200]", &id, &e), 0);
    assert_int_equal(jobid_indices(&id, array, &set, &e), 0);
    assert_int_equal(idset_count(set), 0);
    idset_destroy(set);
    assert_int_equal(jobid_parse("5[9-3]", &id, &e), 0);
    assert_int_equal(jobid_check_indices(&id, &e), -1);
    assert_int_equal(e.code, PBSE_IVALREQ);
    assert_int_equal(jobid_indices(&id, array, &set, &e), -1);
    assert_int_equal(e.code, PBSE_IVALREQ);
    assert_int_equal(jobid_parse("5", &id, &e), 0);
    assert_int_equal(jobid_check_indices(&id, &e), 0);
    assert_int_equal(jobid_indices(&id, array, &set, &e), -1);
}

static void a_range_beyond_its_array_costs_nothing(void **state)
{
    const struct idset_range array = {0, 9999, 1};
    struct idset *set;
    struct jobid id;
    struct err e;
    size_t before;

    before = mallinfo2().uordblks;
    assert_int_equal(jobid_parse("1[0-2147483646:2147]", &id, &e), 0);
    assert_int_equal(jobid_indices(&id, array, &set, &e), 0);
    assert_int_equal(idset_count(set), 5);
    assert_true(mallinfo2().uordblks - before < 2048);
    idset_destroy(set);
}

static void formats(void **state)
{
    char t[JOBID_TEXT_MAX];

    assert_string_equal(jobid_format(t, (struct job_key){7, -1}, false, "s"), "7.s");
    assert_string_equal(jobid_format(t, (struct job_key){7, -1}, true, "s"), "7[].s");
    assert_string_equal(jobid_format(t, (struct job_key){7, 0}, true, ""), "7[0]");
}

static void destinations(void **state)
{
    static const struct {
        const char *text, *queue, *server;
    } rows[] = {{"workq", "workq", ""},
                {"@svr", "", "svr"},
                {"workq@svr:15001", "workq", "svr:15001"},
                {"123456789012345", "123456789012345", ""},
                {"1234567890123456", NULL, NULL},
                {"", NULL, NULL},
                {"a b", NULL, NULL},
                {"a@", NULL, NULL},
                {"a@b@c", NULL, NULL},
                {"a@b c", NULL, NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct destination d;
        struct err e;
        int rc = jobid_parse_destination(rows[i].text, &d, &e);

        assert_int_equal(rc, rows[i].queue ? 0 : -1);
        if (rc < 0)
            continue;
        assert_string_equal(d.queue, rows[i].queue);
        assert_string_equal(d.server, rows[i].server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_names),
        cmocka_unit_test(bad_names),
        cmocka_unit_test(ranges_become_sets),
        cmocka_unit_test(a_range_beyond_its_array_costs_nothing),
        cmocka_unit_test(formats),
        cmocka_unit_test(destinations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
