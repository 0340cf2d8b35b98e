#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "job_fsm.h"

/* What the machine did, in order. */
struct trace {
    char text[1024];
};

static void note(struct trace *t, const char *what)
{
    size_t n = strlen(t->text);

    snprintf(t->text + n, sizeof t->text - n, "%s ", what);
}

static struct trace trace;

static void act(void *arg, struct job *j)
{
    note(&trace, arg);
}

static struct job_fsm *machine(void)
{
    struct job_fsm *f = job_fsm_create();

    memset(&trace, 0, sizeof trace);
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
        job_fsm_bind(f, (enum job_action)a, act, (void *)job_action_name((enum job_action)a));
    return f;
}

static struct job *job_in(enum job_state s)
{
    struct job *j = job_create((struct job_key){41, -1}, "41.svr1");

    j->state = s;
    return j;
}

static void every_pair_has_a_row_or_a_reason_to_be_late(void **state)
{
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int e = 0; e < EV_COUNT; e++) {
            struct job_fsm *f = machine();
            struct job *j = job_in((enum job_state)s);
            bool has_row = false;

            for (size_t i = 0; i < job_rules_count; i++)
                has_row |= job_rules[i].in == j->state && job_rules[i].event == (enum job_event)e;
            job_fsm_post(f, j, (enum job_event)e);
            if (!has_row)
                assert_int_equal(j->state, s); /* an event without a row changes nothing */
            assert_in_range(j->state, 0, JOB_STATE_COUNT - 1);
            job_unref(j);
            job_fsm_destroy(f);
        }
}

/* The last row of each (state, event) has no guard, so an event with a row always has an answer. */
static void the_last_row_of_a_pair_is_unguarded(void **state)
{
    for (size_t i = 0; i < job_rules_count; i++) {
        bool last = true;

        for (size_t k = i + 1; k < job_rules_count; k++)
            last &= job_rules[k].in != job_rules[i].in || job_rules[k].event != job_rules[i].event;
        if (last)
            assert_null(job_rules[i].when);
        else if (!job_rules[i].when)
            fail_msg("row %zu hides the rows of its pair behind it", i);
    }
}

static void a_job_runs_and_ends(void **state)
{
    static const enum job_event life[] = {EV_SUBMIT, EV_RUN, EV_STARTED, EV_FINISH, EV_RUN_OVER, EV_EXPIRE};
    struct job_fsm *f = machine();
    struct job *j = job_in(JOB_ARRIVING);

    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++)
        job_fsm_post(f, j, life[i]);
    assert_int_equal(j->state, JOB_GONE);
    assert_string_equal(trace.text, "enqueue start started finish end forget ");
    job_unref(j);
    job_fsm_destroy(f);
}

static void a_requeued_job_waits_again_held_if_it_is_held(void **state)
{
    struct job_fsm *f = machine();
    struct job *j = job_in(JOB_RUNNING);

    j->intent = INTENT_REQUEUE;
    job_fsm_post(f, j, EV_REQUEUE);
    job_fsm_post(f, j, EV_FINISH);
    assert_int_equal(j->state, JOB_EXITING);
    j->hold = HOLD_SYSTEM;
    job_fsm_post(f, j, EV_RUN_OVER);
    assert_int_equal(j->state, JOB_HELD);
    j->hold = 0;
    job_fsm_post(f, j, EV_REVIEW);
    assert_int_equal(j->state, JOB_QUEUED);
    assert_string_equal(trace.text, "terminate finish requeue wait ");
    job_unref(j);
    job_fsm_destroy(f);
}

static struct job_fsm *posting_machine;

static void post_expire(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    if (j->state == JOB_FINISHED && ev == EV_DELETE)
        job_fsm_post(posting_machine, j, EV_EXPIRE);
}

static void an_event_posted_by_a_listener_is_handled_after_the_present_one(void **state)
{
    struct job_fsm *f = machine();
    struct job *j = job_in(JOB_QUEUED);

    posting_machine = f;
    job_fsm_listen(f, post_expire, NULL);
    job_fsm_post(f, j, EV_DELETE);
    assert_int_equal(j->state, JOB_GONE);
    assert_string_equal(trace.text, "drop forget ");
    job_unref(j);
    job_fsm_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_a_row_or_a_reason_to_be_late),
        cmocka_unit_test(the_last_row_of_a_pair_is_unguarded),
        cmocka_unit_test(a_job_runs_and_ends),
        cmocka_unit_test(a_requeued_job_waits_again_held_if_it_is_held),
        cmocka_unit_test(an_event_posted_by_a_listener_is_handled_after_the_present_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
