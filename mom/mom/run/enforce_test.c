/* What is over a limit and what is not: rules from lines as a site writes them, usage made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "mom_config.h"
#include "enforce.h"
#include "mom_run.h"

static char list_name[] = "Resource_List", mem[] = "mem", cput[] = "cput", value_mem[] = "100mb",
            value_cput[] = "10";
static struct wire_attr attrs[] = {{list_name, mem, value_mem}, {list_name, cput, value_cput}};

static struct run a_run(void)
{
    struct run r = {.ncpus = 2};

    r.start.attrs.wire_attrs_val = attrs;
    r.start.attrs.wire_attrs_len = 2;
    return r;
}

/* "": it is not over; else what is said, and *reason. */
static const char *judge(const char *config, struct run *r, struct exec_usage u, exec_reason *reason)
{
    static char text[120];
    struct config *c = config_parse(config, "config", NULL);

    assert_non_null(c);
    text[0] = '\0';
    enforce_note(c, r, &u);
    enforce_is_over(c, r, &u, reason, text, sizeof text);
    config_destroy(c);
    return text;
}

static void cput_always_counts_and_mem_when_asked(void **state)
{
    struct run r = a_run();
    exec_reason why;

    assert_string_equal(judge("", &r, (struct exec_usage){.cput_ms = 10000, .mem_kb = 200000}, &why), "");
    assert_string_equal(judge("", &r, (struct exec_usage){.cput_ms = 10001}, &why),
                        "cput 11 exceeded limit 10");
    assert_int_equal(why, EXEC_END_CPUT);
    assert_string_equal(judge("$enforce mem\n", &r, (struct exec_usage){.mem_kb = 102401}, &why),
                        "mem 102401kb exceeded limit 102400kb");
    assert_int_equal(why, EXEC_END_MEM);
    assert_string_equal(judge("$enforce mem\n", &r, (struct exec_usage){.mem_kb = 102400}, &why), "");
    assert_string_equal(
        judge("$enforce mem\n$enforce !mem\n", &r, (struct exec_usage){.mem_kb = 102401}, &why), "");
    assert_string_equal(judge("$enforce complexmem\n", &r, (struct exec_usage){.mem_kb = 102401}, &why),
                        "mem job total 102401 kb exceeded limit 102400 kb");
}

static void the_average_counts_after_its_trial(void **state)
{
    static const char config[] = "$enforce cpuaverage\n$enforce average_trialperiod 2\n"
                                 "$enforce average_cpufactor 1.0\n$enforce average_percent_over 10\n";
    struct run r = a_run();
    exec_reason why;

    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 9000, .walltime_ms = 2000}, &why),
                        "");
    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 8400, .walltime_ms = 4000}, &why),
                        "");
    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 9000, .walltime_ms = 4000}, &why),
                        "ncpus 2.25 exceeded limit 2 (sum)");
    assert_int_equal(why, EXEC_END_NCPUS);
    assert_string_equal(
        judge("$enforce cpuaverage\n", &r, (struct exec_usage){.cput_ms = 9000, .walltime_ms = 4000}, &why),
        "");
}

static void a_burst_is_seen_by_an_average_that_follows_it(void **state)
{
    static const char config[] =
        "$enforce cpuburst\n$enforce delta_weightup 0.5\n$enforce delta_weightdown 0.25\n"
        "$enforce delta_cpufactor 1.0\n$enforce delta_percent_over 0\n";
    struct run r = a_run();
    exec_reason why;

    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 3000, .walltime_ms = 1000}, &why),
                        "");
    assert_int_equal((int)r.burst.percent, 150);
    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 6000, .walltime_ms = 2000}, &why),
                        "ncpus 2.2 exceeded limit 2 (burst)");
    assert_int_equal(why, EXEC_END_NCPUS);
    assert_string_equal(judge(config, &r, (struct exec_usage){.cput_ms = 6000, .walltime_ms = 3000}, &why),
                        "");
    assert_int_equal((int)r.burst.percent, 168);
}

static void lines_that_are_wrong_say_what_there_is(void **state)
{
    static const char *const bad[] = {"$enforce everything\n",
                                      "$enforce !\n",
                                      "$enforce average_cpufactor\n",
                                      "$enforce average_cpufactor many\n",
                                      "$enforce delta_weightup 1.5\n",
                                      "$enforce average_percent_over -1\n",
                                      "$enforce mem 3\n",
                                      "$enforce cpuburst now please\n"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err e = {0};

        assert_null(config_parse(bad[i], "config", &e));
        assert_int_equal(e.code, EINVAL);
        assert_non_null(strstr(e.text, "line 1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cput_always_counts_and_mem_when_asked),
        cmocka_unit_test(the_average_counts_after_its_trial),
        cmocka_unit_test(a_burst_is_seen_by_an_average_that_follows_it),
        cmocka_unit_test(lines_that_are_wrong_say_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
