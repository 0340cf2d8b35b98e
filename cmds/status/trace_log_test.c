#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "trace_log.h"

static const char log_text[] =
    "03/03/2026 10:15:02.000200;0008;Server@s;Job;41.svr1;second; with a semicolon\n"
    "03/03/2026 10:15:02.000100;0008;Server@s;Job;41.svr1;first\n"
    "03/03/2026 10:15:03;0080;Server@s;Job;41.svr1;debug\n"
    "03/03/2026 10:15:03;0008;Server@s;Job;410.svr1;other job\n"
    "03/03/2026 10:15:03;0008;Server@s;Job;41[2].svr1;subjob\n"
    "junk\n03/03/2026;x\n03/03/2026 10:15:03;0008;Server@s;Svr;Log;Log opened\n";
static const char acct_text[] =
    "03/03/2026 10:15:02;S;41.svr1;user=anna\n03/03/2026 10:15:02;E;42.svr1;user=b\n";

static void read_text(struct trace_log *t, const char *text, enum trace_kind kind, char origin,
                      const struct jobid *id)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");

    assert_int_equal(trace_log_read(t, in, kind, origin, id), 0);
    fclose(in);
}

static void lines_of_one_job_in_order(void **state)
{
    struct trace_log t = {.hidden = trace_log_events("debug")};
    struct jobid id;

    assert_int_equal(jobid_parse("41", &id, NULL), 0);
    read_text(&t, log_text, TRACE_LOG, 'S', &id);
    read_text(&t, acct_text, TRACE_ACCOUNTING, 'A', &id);
    trace_log_sort(&t);
    assert_int_equal(t.n, 4);
    assert_string_equal(t.line[0].text, "user=anna");
    assert_string_equal(t.line[1].text, "first");
    assert_string_equal(t.line[2].text, "second; with a semicolon");
    assert_string_equal(t.line[3].text, "subjob");
    assert_string_equal(t.line[1].when, "03/03/2026 10:15:02.000100");
    trace_log_fini(&t);
    assert_int_equal(jobid_parse("41[2]", &id, NULL), 0);
    read_text(&t, log_text, TRACE_LOG, 'S', &id);
    assert_int_equal(t.n, 1);
    trace_log_fini(&t);
}

static void excess(void **state)
{
    struct trace_line lines[] = {{.text = (char *)"a", .origin = 'S'},
                                 {.text = (char *)"b", .origin = 'S'},
                                 {.text = (char *)"a", .origin = 'S'},
                                 {.text = (char *)"a", .origin = 'M'},
                                 {.text = (char *)"a", .origin = 'S'}};
    struct trace_log t = {.n = 5, .line = lines};

    assert_false(trace_log_is_excess(&t, 2, 2));
    assert_false(trace_log_is_excess(&t, 3, 1));
    assert_true(trace_log_is_excess(&t, 4, 2));
}

static void events(void **state)
{
    assert_int_equal(trace_log_events("job_usage"), 0x10);
    assert_int_equal(trace_log_events("1f"), 0x1f);
    assert_int_equal(trace_log_events("xyz"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_one_job_in_order), cmocka_unit_test(excess),
                                       cmocka_unit_test(events)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
