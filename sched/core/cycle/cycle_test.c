/* What a cycle costs: printed, not judged; and what bounds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cycle.h"
#include "log.h"
#include "cluster_rows.h"
#include "cluster_gone.h"
#include "cluster_settle.h"
#include "cycle_answers.h"

struct bench {
    struct policy policy;
    struct cycle *c;
    int64_t now_s;
};

static void tell_node(struct bench *b, int i, int cpus, int used)
{
    char name[32], total[32], taken[32];

    snprintf(name, sizeof name, "n%d", i);
    snprintf(total, sizeof total, "%d", cpus);
    snprintf(taken, sizeof taken, "%d", used);
    cluster_rows(cycle_cluster(b->c), CLUSTER_NODE, name,
                 (const char *const[][3]){{"resources_available", "ncpus", total},
                                          {"resources_assigned", "ncpus", taken},
                                          {"state", NULL, "free"},
                                          {NULL, NULL, NULL}});
}

static void tell_queue(struct bench *b, const char *name, const char *priority)
{
    cluster_rows(cycle_cluster(b->c), CLUSTER_QUEUE, name,
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, "True"},
                                          {"Priority", NULL, priority},
                                          {NULL, NULL, NULL}});
}

static void tell_job(struct bench *b, int i, const char *queue, char state, const char *select,
                     const char *exec)
{
    char id[32], rank[32], letter[2] = {state, '\0'};

    snprintf(id, sizeof id, "%d.server", i);
    snprintf(rank, sizeof rank, "%d", i);
    cluster_rows(cycle_cluster(b->c), CLUSTER_JOB, id,
                 (const char *const[][3]){{"job_state", NULL, letter},
                                          {"queue", NULL, queue},
                                          {"queue_rank", NULL, rank},
                                          {"stime", NULL, rank},
                                          {"schedselect", NULL, select},
                                          {exec ? "exec_vnode" : NULL, NULL, exec},
                                          {NULL, NULL, NULL}});
}

static void open_bench(struct bench *b)
{
    policy_init(&b->policy);
    b->c = cycle_create("default", &b->policy);
    b->now_s = 1000000;
    tell_queue(b, "workq", "0");
    tell_queue(b, "express", "200");
}

static void close_bench(struct bench *b)
{
    cycle_destroy(b->c);
    policy_fini(&b->policy);
}

static size_t run_cycle(struct bench *b, const char *what)
{
    struct decisions d = {0};
    size_t n = 0;

    cluster_settle(cycle_cluster(b->c));
    int64_t before = clock_wall_ns(clock_real());
    cycle_run(b->c, b->now_s, &d);
    int64_t took_us = (clock_wall_ns(clock_real()) - before) / 1000;
    for (size_t i = 0; i < d.n; i++) {
        if (d.a[i].kind == DECIDE_PREEMPT)
            print_message("%zu victims; ", d.a[i].n_names);
        if (d.a[i].kind == DECIDE_RUN)
            cycle_answer_order(b->c, d.a[i].job, 0, "", &(struct decisions){0});
        n += d.a[i].kind != DECIDE_LOG;
    }
    print_message("%s: %zu decisions in %ld us\n", what, n, (long)took_us);
    decisions_fini(&d);
    return n;
}

static void a_cycle_costs_what_has_changed(void **state)
{
    struct bench b;
    char select[64];

    open_bench(&b);
    for (int i = 0; i < 1000; i++)
        tell_node(&b, i, 8, 0);
    for (int i = 0; i < 10000; i++) {
        snprintf(select, sizeof select, "1:ncpus=%d", 1 + i % 8);
        tell_job(&b, i, "workq", 'Q', select, NULL);
    }
    assert_true(run_cycle(&b, "10,000 jobs of 8 kinds on 1,000 nodes") > 1000);
    run_cycle(&b, "the same again, nothing new");
    for (int i = 10000; i < 20000; i++) {
        snprintf(select, sizeof select, "1:ncpus=%d:mem=%dkb", 1 + i % 8, i);
        tell_job(&b, i, "workq", 'Q', select, NULL);
    }
    run_cycle(&b, "10,000 jobs more, each of its own kind");
    tell_job(&b, 20000, "workq", 'Q', "1:ncpus=1", NULL);
    run_cycle(&b, "one job more");
    close_bench(&b);
}

static void one_node_with_many_cpus(void **state)
{
    struct bench b;

    open_bench(&b);
    tell_node(&b, 0, 128, 0);
    for (int i = 0; i < 10000; i++)
        tell_job(&b, i, "workq", 'Q', "1:ncpus=1", NULL);
    assert_int_equal(run_cycle(&b, "10,000 jobs on 128 cpus"), 128);
    tell_job(&b, 0, "workq", 'R', "1:ncpus=1", "(n0:ncpus=1)");
    tell_node(&b, 0, 128, 1);
    run_cycle(&b, "one seen to run");
    cluster_gone(cycle_cluster(b.c), CLUSTER_JOB, "0.server");
    tell_node(&b, 0, 128, 0);
    assert_int_equal(run_cycle(&b, "one ended"), 1);
    close_bench(&b);
}

static void victims_of(int n_victims)
{
    struct bench b;
    char exec[64], select[64], what[96];

    open_bench(&b);
    for (int i = 0; i < 1000; i++)
        tell_node(&b, i, 10, 10);
    for (int i = 0; i < 10000; i++) {
        snprintf(exec, sizeof exec, "(n%d:ncpus=1)", i % 1000);
        tell_job(&b, i, "workq", 'R', "1:ncpus=1", exec);
    }
    snprintf(select, sizeof select, "%d:ncpus=1", n_victims);
    tell_job(&b, 20000, "express", 'Q', select, NULL);
    snprintf(what, sizeof what, "urgent job that needs %d of 10,000", n_victims);
    assert_int_equal(run_cycle(&b, what), 1);
    close_bench(&b);
}

static void preemption_is_decided_quickly(void **state)
{
    victims_of(1);
    victims_of(100);
    victims_of(1000);
}

/* Half of them run, the other half waits: as many turns as there are running jobs. */
static void turns_are_decided_quickly(void **state)
{
    struct bench b;
    char exec[64];

    open_bench(&b);
    cluster_rows(cycle_cluster(b.c), CLUSTER_QUEUE, "shared",
                 (const char *const[][3]){{"queue_type", NULL, "Execution"},
                                          {"started", NULL, "True"},
                                          {"gang", NULL, "True"},
                                          {NULL, NULL, NULL}});
    for (int i = 0; i < 1000; i++)
        tell_node(&b, i, 5, 5);
    for (int i = 0; i < 5000; i++) {
        snprintf(exec, sizeof exec, "(n%d:ncpus=1)", i % 1000);
        tell_job(&b, i, "shared", 'R', "1:ncpus=1", exec);
    }
    run_cycle(&b, "turns begin");
    for (int i = 5000; i < 10000; i++)
        tell_job(&b, i, "shared", 'Q', "1:ncpus=1", NULL);
    assert_int_equal(run_cycle(&b, "5,000 wait for the turns of 5,000"), 0);
    b.now_s += 30;
    assert_int_equal(run_cycle(&b, "5,000 turns are over"), 5000);
    close_bench(&b);
}

/* Each look at the time is a second later. */
static int64_t a_second_more(void *arg)
{
    return ++*(int64_t *)arg;
}

static void fill(struct bench *b, int jobs)
{
    char select[64];

    log_set_mask(~0U); /* what was looked at is in the log lines */
    tell_node(b, 0, 8, 8);
    for (int i = 0; i < jobs; i++) {
        snprintf(select, sizeof select, "1:ncpus=%d", i + 1); /* each of its own kind */
        tell_job(b, i, "workq", 'Q', select, NULL);
    }
}

static bool is_logged(const struct decisions *d, const char *text)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->a[i].kind == DECIDE_LOG && strstr(d->a[i].text, text))
            return true;
    return false;
}

static size_t count_considered(const struct decisions *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += d->a[i].kind == DECIDE_LOG && strcmp(d->a[i].text, "Considering job to run") == 0;
    return n;
}

static void a_cycle_that_takes_too_long_leaves_the_rest_to_the_next(void **state)
{
    struct bench b;
    struct decisions d = {0};
    int64_t took_s = 0;

    open_bench(&b);
    fill(&b, 8);
    assert_int_equal(policy_attribute(&b.policy, "sched_cycle_length", "5", NULL), 0);
    cycle_on_elapsed(b.c, a_second_more, &took_s);
    cluster_settle(cycle_cluster(b.c));
    cycle_run(b.c, b.now_s, &d);
    assert_int_equal(count_considered(&d), 5);
    assert_true(is_logged(&d, "Leaving the scheduling cycle: Cycle duration of 6 seconds has exceeded "
                              "sched_cycle_length of 5 seconds"));
    decisions_fini(&d);
    assert_true(cycle_has_news(b.c, b.now_s));
    took_s = 0;
    cycle_run(b.c, b.now_s, &d);
    assert_int_equal(count_considered(&d), 3);
    assert_false(is_logged(&d, "has exceeded"));
    decisions_fini(&d);
    close_bench(&b);
}

static void count_step(void *arg)
{
    ++*(int *)arg;
}

static void a_cycle_lets_its_caller_say_before_each_job_that_it_is_at_work(void **state)
{
    struct bench b;
    struct decisions d = {0};
    int steps = 0;

    open_bench(&b);
    fill(&b, 8);
    cycle_on_step(b.c, count_step, &steps);
    cluster_settle(cycle_cluster(b.c));
    cycle_run(b.c, b.now_s, &d);
    assert_int_equal(count_considered(&d), 8);
    assert_int_equal(steps, 8);
    decisions_fini(&d);
    close_bench(&b);
}

static int n_said, n_begun, n_left; /* a decisions_say_fn has no argument */

static void note_line(unsigned event, const char *object, const char *text)
{
    (void)event, (void)object;
    n_said++;
    n_begun += strcmp(text, "Starting Scheduling Cycle") == 0;
    n_left += strcmp(text, "Leaving Scheduling Cycle") == 0;
}

static void cycle_is_under_way(void *arg)
{
    assert_int_equal(n_begun, 1);
    assert_int_equal(n_left, 0);
}

static void lines_of_the_log_are_said_when_it_happens(void **state)
{
    struct bench b;
    struct decisions d = {.say = note_line};

    open_bench(&b);
    fill(&b, 8);
    n_said = n_begun = n_left = 0;
    cycle_on_step(b.c, cycle_is_under_way, NULL);
    cluster_settle(cycle_cluster(b.c));
    cycle_run(b.c, b.now_s, &d);
    assert_int_equal(n_left, 1);
    assert_true(n_said > 8);
    assert_int_equal(count_considered(&d), 0);
    decisions_fini(&d);
    close_bench(&b);
}

static void a_cycle_looks_at_max_job_check_jobs(void **state)
{
    struct bench b;
    struct decisions d = {0};

    open_bench(&b);
    fill(&b, 8);
    b.policy.max_job_check = 3;
    cluster_settle(cycle_cluster(b.c));
    cycle_run(b.c, b.now_s, &d);
    assert_int_equal(count_considered(&d), 3);
    assert_true(is_logged(&d, "Bailed out of main job loop after checking to see if 3 jobs could run."));
    decisions_fini(&d);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_costs_what_has_changed),
        cmocka_unit_test(one_node_with_many_cpus),
        cmocka_unit_test(preemption_is_decided_quickly),
        cmocka_unit_test(turns_are_decided_quickly),
        cmocka_unit_test(a_cycle_that_takes_too_long_leaves_the_rest_to_the_next),
        cmocka_unit_test(a_cycle_lets_its_caller_say_before_each_job_that_it_is_at_work),
        cmocka_unit_test(lines_of_the_log_are_said_when_it_happens),
        cmocka_unit_test(a_cycle_looks_at_max_job_check_jobs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
