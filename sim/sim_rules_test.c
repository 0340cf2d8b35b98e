#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim_nodes.h"
#include "sim_rules.h"

static const char *file_with(const char *text)
{
    static char path[] = "/tmp/sim_rules_test_XXXXXX";
    int fd;

    snprintf(path, sizeof path, "/tmp/sim_rules_test_XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return path;
}

static struct sim_rules *rules_of(const char *text)
{
    struct sim_rules *r = sim_rules_create();
    const char *path = file_with(text);
    struct err e;

    assert_non_null(r);
    if (sim_rules_read(r, path, &e) < 0)
        fail_msg("%s", e.text);
    unlink(path);
    return r;
}

static void the_first_run_rule_that_fits_counts(void **state)
{
    struct sim_rules *r = rules_of("run short* 1.5 3 # a comment\nrun * 60\n");
    int64_t ms = -1;
    int status = -1;

    sim_rules_run(r, "short7", 1, &ms, &status);
    assert_int_equal(ms, 1500);
    assert_int_equal(status, 3);
    sim_rules_run(r, "long", 1, &ms, &status);
    assert_int_equal(ms, 60000);
    assert_int_equal(status, 0);
    sim_rules_destroy(r);
}

static void lengths_lie_between_and_belong_to_the_job(void **state)
{
    struct sim_rules *r = rules_of("run * 1-3 5\n");
    int64_t least = INT64_MAX, most = 0, sum = 0;
    int status;

    for (uint64_t job = 0; job < 1000; job++) {
        int64_t ms, again;

        sim_rules_run(r, "any", job, &ms, &status);
        sim_rules_run(r, "any", job, &again, &status);
        assert_int_equal(ms, again);
        assert_in_range(ms, 1000, 3000);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
        sum += ms;
    }
    assert_int_equal(status, 5);
    assert_in_range(least, 1000, 1050);
    assert_in_range(most, 2950, 3000);
    assert_in_range(sum / 1000, 1900, 2100);
    sim_rules_destroy(r);
}

static void jobs_crash_and_are_saved_by_rule(void **state)
{
    struct sim_rules *none = rules_of("fail 2 1\n"), *r = rules_of("crash bad* 2.5\ncheckpoint 3 4\n");
    int64_t save_ms, restart_ms;

    assert_int_equal(sim_rules_crash_ms(r, "bad1"), 2500);
    assert_int_equal(sim_rules_crash_ms(r, "good"), -1);
    assert_true(sim_rules_checkpoint(r, &save_ms, &restart_ms));
    assert_int_equal(save_ms, 3000);
    assert_int_equal(restart_ms, 4000);
    assert_false(sim_rules_checkpoint(none, &save_ms, &restart_ms));
    sim_rules_destroy(none);
    sim_rules_destroy(r);
}

static void every_nth_job_fails_and_every_nth_start_is_refused(void **state)
{
    struct sim_rules *r = rules_of("fail 3 9\nrefuse 2\n");
    int status = 0, failed = 0, refused = 0;

    for (int i = 0; i < 6; i++) {
        failed += sim_rules_count_job(r, &status);
        refused += sim_rules_count_start(r);
    }
    assert_int_equal(failed, 2);
    assert_int_equal(status, 9);
    assert_int_equal(refused, 3);
    sim_rules_destroy(r);
}

static void nodes_have_epilogues_and_are_lost(void **state)
{
    struct sim_rules *r = rules_of("epilogue s[2-3] 5\nlose s[1,4] 10 20\n");
    const struct sim_rules_loss *loss;
    size_t n;

    assert_int_equal(sim_rules_epilogue_ms(r, "s1"), 0);
    assert_int_equal(sim_rules_epilogue_ms(r, "s3"), 5000);
    loss = sim_rules_losses(r, &n);
    assert_int_equal(n, 1);
    assert_int_equal(loss->n_nodes, 2);
    assert_string_equal(loss->nodes[1], "s4");
    assert_int_equal(loss->at_ms, 10000);
    assert_int_equal(loss->for_ms, 20000);
    sim_rules_destroy(r);
}

static void a_bad_line_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"run x\n", "write \"run PATTERN SECONDS [STATUS]\""},
        {"\nrun x soon\n", "line 2: \"soon\" is not a number of seconds"},
        {"run x 5-3\n", "line 1: 5-3: the least comes first"},
        {"checkpoint\n", "write \"checkpoint SECONDS [SECONDS]\""},
        {"wait 5\n", "\"wait\" is not a rule"},
        {"fail 0 1\n", "\"0\" is not a number from 1 on"},
        {"epilogue s[ 1\n", "line 1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_rules *r = sim_rules_create();
        const char *path = file_with(rows[i].text);
        struct err e;

        assert_int_equal(sim_rules_read(r, path, &e), -1);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s", e.text);
        unlink(path);
        sim_rules_destroy(r);
    }
}

static void a_cluster_is_kinds_of_nodes_in_the_short_form(void **state)
{
    const char *path = file_with("s[1-3] ncpus=4 mem=8gb\n# more\ngpu[01-02] ncpus=8 ngpus=2\n");
    struct sim_nodes *c = sim_nodes_create();
    const exec_node *nodes;
    struct err e;
    size_t n;

    if (sim_nodes_read(c, path, &e) < 0)
        fail_msg("%s", e.text);
    nodes = sim_nodes_get(c, &n);
    assert_int_equal(n, 5);
    assert_string_equal(nodes[2].name, "s3");
    assert_string_equal(nodes[4].name, "gpu02");
    assert_string_equal(nodes[4].attrs.wire_attrs_val[1].resource, "ngpus");
    assert_string_equal(nodes[4].attrs.wire_attrs_val[1].value, "2");
    assert_int_equal(sim_nodes_add(c, "x", (const char *const[]){"ncpus"}, 1, &e), -1);
    assert_int_equal(sim_nodes_add(c, "x[1-70000]", NULL, 0, &e), -1);
    unlink(path);
    sim_nodes_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_run_rule_that_fits_counts),
        cmocka_unit_test(lengths_lie_between_and_belong_to_the_job),
        cmocka_unit_test(jobs_crash_and_are_saved_by_rule),
        cmocka_unit_test(every_nth_job_fails_and_every_nth_start_is_refused),
        cmocka_unit_test(nodes_have_epilogues_and_are_lost),
        cmocka_unit_test(a_bad_line_is_named),
        cmocka_unit_test(a_cluster_is_kinds_of_nodes_in_the_short_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
