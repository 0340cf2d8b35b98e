#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "files.h"
#include "policy.h"

struct place {
    char dir[64], path[96];
    struct policy policy;
};

static int open_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    snprintf(p->dir, sizeof p->dir, "/tmp/files_test.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->path, sizeof p->path, "%s/sched_config", p->dir);
    policy_init(&p->policy);
    *state = p;
    return 0;
}

static int close_place(void **state)
{
    struct place *p = *state;

    file_remove_tree(AT_FDCWD, p->dir, NULL);
    policy_fini(&p->policy);
    free(p);
    return 0;
}

static void write_config(struct place *p, const char *text)
{
    assert_int_equal(file_write_quick(AT_FDCWD, p->path, text, strlen(text), 0644, NULL), 0);
}

static void a_missing_file_is_written_and_means_the_defaults(void **state)
{
    struct place *p = *state;
    struct err e;

    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_int_equal(access(p->path, R_OK), 0);
    assert_true(p->policy.preemptive && p->policy.by_queue && p->policy.update_comments);
    /* and what was written reads as the same */
    policy_fini(&p->policy);
    policy_init(&p->policy);
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_true(p->policy.preemptive && p->policy.by_queue && !p->policy.round_hosts);
    assert_int_equal(p->policy.n_node_sort, 1);
    assert_int_equal(p->policy.node_sort[0].what, NODE_BY_PRIORITY);
    assert_true(p->policy.node_sort[0].high);
    assert_string_equal(p->policy.resources, "ncpus, mem, arch, host, vnode, aoe, eoe");
}

static void settings_reach_the_policy(void **state)
{
    struct place *p = *state;
    struct err e;

    write_config(p, "# a site's file\n"
                    "by_queue: False all\n"
                    "preemptive_sched: false ALL\n"
                    "update_comments: false\n"
                    "job_sort_key: \"ncpus HIGH\"\n"
                    "job_sort_key: \"job_priority LOW\"\n"
                    "resources: \"ncpus, mem\"\n"
                    "max_job_check: 7\n"
                    "fair_share: true ALL\n"
                    "preempt_order: \"SCR\"\n");
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_false(p->policy.by_queue || p->policy.preemptive || p->policy.update_comments);
    assert_int_equal(p->policy.n_job_sort, 2);
    assert_string_equal(p->policy.job_sort[0].resource, "ncpus");
    assert_true(p->policy.job_sort[0].high);
    assert_false(p->policy.job_sort[1].high);
    assert_string_equal(p->policy.resources, "ncpus, mem");
    assert_int_equal(p->policy.max_job_check, 7);
}

static void sort_keys_have_all_their_forms(void **state)
{
    static const char *const names[] = {NULL, "ncpus", "mem", "ncpus", NULL};
    static const enum node_what whats[] = {NODE_BY_LAST_USE, NODE_BY_TOTAL, NODE_BY_UNUSED, NODE_BY_ASSIGNED,
                                           NODE_BY_PRIORITY};
    struct place *p = *state;
    struct err e;

    write_config(p, "node_sort_key: \"last_used_time LOW\" ALL\n"
                    "node_sort_key: \"ncpus HIGH\"\n"
                    "node_sort_key: \"mem HIGH unused\" prime\n"
                    "node_sort_key: \"mem HIGH total\" non_prime\n"
                    "node_sort_key: \"ncpus LOW assigned\" all\n"
                    "node_sort_key: \"sort_priority HIGH\"\n"
                    "node_sort_key: \"ncpus high some\"\n"
                    "job_sort_key: \"fair_share_perc HIGH\"\n"
                    "job_sort_key: \"preempt_priority HIGH\"\n"
                    "job_sort_key: \"sort_priority LOW\"\n"
                    "job_sort_key: \"mem\"\n"
                    "round_robin: True\nsmp_cluster_dist: round_robin\n");
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_int_equal(p->policy.n_node_sort, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(p->policy.node_sort[i].what, whats[i]);
        if (names[i])
            assert_string_equal(p->policy.node_sort[i].resource, names[i]);
        else
            assert_null(p->policy.node_sort[i].resource);
    }
    assert_false(p->policy.node_sort[0].high || p->policy.node_sort[3].high);
    assert_int_equal(p->policy.n_job_sort, 3);
    assert_int_equal(p->policy.job_sort[0].what, SORT_SHARE);
    assert_int_equal(p->policy.job_sort[1].what, SORT_LEVEL);
    assert_int_equal(p->policy.job_sort[2].what, SORT_PRIORITY);
    assert_true(p->policy.round_robin);
    assert_false(p->policy.round_hosts); /* not beside a sort by what is used */
}

static void a_bad_file_changes_nothing(void **state)
{
    struct place *p = *state;
    struct err e;

    p->policy.max_job_check = 5;
    write_config(p, "by_queue: perhaps\nmax_job_check: 9\n");
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), -1);
    assert_non_null(strstr(e.text, "by_queue"));
    assert_true(p->policy.by_queue);
    assert_int_equal(p->policy.max_job_check, 5);
}

static void what_holds_outside_prime_time_is_not_taken(void **state)
{
    struct place *p = *state;
    struct err e;

    write_config(p,
                 "preemptive_sched: true prime\npreemptive_sched: false non_prime\nby_queue: false prime\n");
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_true(p->policy.preemptive);
    assert_false(p->policy.by_queue);
    /* and the other way round */
    p->policy.is_prime = false;
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_false(p->policy.preemptive);
    assert_true(p->policy.by_queue);
}

static void hours_reach_the_policy(void **state)
{
    struct place *p = *state;
    struct err e;

    write_config(p,
                 "backfill_prime: True prime\nprime_spill: 1:00:00 prime\nprime_exempt_anytime_queues: true\n"
                 "primetime_prefix: day_\nnonprimetime_prefix: night_\ndedicated_prefix: all_\n");
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_true(p->policy.backfill_prime && p->policy.prime_exempt);
    assert_int_equal(p->policy.prime_spill_s, 3600);
    assert_string_equal(p->policy.prime_prefix, "day_");
    assert_string_equal(p->policy.nonprime_prefix, "night_");
    assert_string_equal(p->policy.dedicated_prefix, "all_");
    p->policy.is_prime = false;
    assert_int_equal(files_read_config(p->path, &p->policy, &files_log, &e), 0);
    assert_false(p->policy.backfill_prime);
    assert_int_equal(p->policy.prime_spill_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_missing_file_is_written_and_means_the_defaults, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(sort_keys_have_all_their_forms, open_place, close_place),
        cmocka_unit_test_setup_teardown(hours_reach_the_policy, open_place, close_place),
        cmocka_unit_test_setup_teardown(settings_reach_the_policy, open_place, close_place),
        cmocka_unit_test_setup_teardown(what_holds_outside_prime_time_is_not_taken, open_place, close_place),
        cmocka_unit_test_setup_teardown(a_bad_file_changes_nothing, open_place, close_place)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
