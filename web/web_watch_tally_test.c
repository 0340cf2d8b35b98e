/* What two looks at a job count as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attrs.h"
#include "web_watch_tally.h"

static struct web_tally *tally;
static struct web_watch_counts counts;

static int setup(void **state)
{
    tally = web_tally_create();
    counts = (struct web_watch_counts){0};
    return tally ? 0 : -1;
}

static int teardown(void **state)
{
    web_tally_destroy(tally);
    return 0;
}

/* "name=value name.resource=value ..." */
static void look(const char *id, const char *text, bool is_news)
{
    struct attrs list = {0};
    char *copy = strdup(text), *rest = copy, *word;

    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '='), *dot;

        *value++ = '\0';
        dot = strchr(word, '.');
        if (dot)
            *dot++ = '\0';
        attrs_add(&list, word, dot, value, SET);
    }
    web_tally_job(tally, id, attrs_attrl(&list), is_news, &counts);
    attrs_fini(&list);
    free(copy);
}

static uint64_t sum(const uint64_t *of, size_t n)
{
    uint64_t all = 0;

    while (n)
        all += of[--n];
    return all;
}

static void a_start_is_a_wait_that_has_ended(void **state)
{
    look("1", "job_state=Q etime=100", true);
    assert_int_equal(sum(counts.waits, WEB_WATCH_BUCKETS + 1), 0);
    look("1", "job_state=R etime=100 stime=110", true);
    look("1", "job_state=R etime=100 stime=110 substate=42", true);
    assert_int_equal(sum(counts.waits, WEB_WATCH_BUCKETS + 1), 1);
    assert_int_equal(counts.waits[2], 1); /* 5 to 15 s */
    assert_true(counts.waits_sum_s == 10);
    look("1", "job_state=R etime=100 stime=700", true); /* it was requeued and runs again */
    assert_int_equal(sum(counts.waits, WEB_WATCH_BUCKETS + 1), 2);
}

static void how_things_are_at_the_beginning_is_not_news(void **state)
{
    look(
        "1",
        "job_state=R etime=100 stime=110 preempt_count=3 preempt_method=Q preempt_time=50 preempt_deadline=900",
        false);
    assert_int_equal(sum(counts.waits, WEB_WATCH_BUCKETS + 1), 0);
    assert_int_equal(sum(counts.preemptions, WEB_WATCH_METHODS), 0);
    assert_int_equal(counts.jobs, 1);
}

static void a_requeue_destroys_the_work_of_the_run_and_a_suspension_does_not(void **state)
{
    look("1", "job_state=R stime=100 qtime=90 Resource_List.ncpus=4 paused_time=10", true);
    look(
        "1",
        "job_state=S stime=100 qtime=90 Resource_List.ncpus=4 paused_time=10 preempt_count=1 preempt_method=S preempt_time=150",
        true);
    assert_int_equal(counts.preemptions[0], 1);
    assert_true(counts.lost_core_s[0] == 0);
    look("2", "job_state=R stime=100 qtime=90 Resource_List.ncpus=4 paused_time=10", true);
    look("2", "job_state=Q qtime=90 Resource_List.ncpus=4 preempt_count=1 preempt_method=Q preempt_time=150",
         true);
    assert_int_equal(counts.preemptions[2], 1);
    assert_true(counts.lost_core_s[2] == 4 * 40);
}

static void a_job_that_gave_way_and_is_gone_was_deleted(void **state)
{
    look("1", "job_state=R stime=100 qtime=90 Resource_List.ncpus=2 gives_way=True preempted_by=7", true);
    look("2", "job_state=R stime=100 qtime=90", true);
    web_tally_gone(tally, "1", 130, &counts);
    web_tally_gone(tally, "2", 130, &counts);
    web_tally_gone(tally, "3", 130, &counts);
    assert_int_equal(counts.preemptions[3], 1);
    assert_true(counts.lost_core_s[3] == 60);
    assert_int_equal(counts.jobs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_start_is_a_wait_that_has_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(how_things_are_at_the_beginning_is_not_news, setup, teardown),
        cmocka_unit_test_setup_teardown(a_requeue_destroys_the_work_of_the_run_and_a_suspension_does_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_that_gave_way_and_is_gone_was_deleted, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
