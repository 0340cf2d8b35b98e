/* What limits count of jobs, through their states, queues and owners. */
#include "limit_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "clock.h"
#include "server_ctx_life.h"
#include "type_scalar.h"

struct world {
    struct server_ctx ctx;
    struct clock *clock;
    struct queue *one, *two;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct err e;

    assert_non_null(w);
    w->clock = clock_create_driven(0);
    assert_int_equal(server_ctx_create(&w->ctx, w->clock, "svr", &e), 0);
    assert_int_equal(queues_add(w->ctx.queues, "one", &w->one, &e), 0);
    assert_int_equal(queues_add(w->ctx.queues, "two", &w->two, &e), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    server_ctx_destroy(&w->ctx);
    clock_destroy(w->clock);
    free(w);
    return 0;
}

static struct job *add(struct world *w, int64_t seq, const char *user, const char *ncpus)
{
    struct job *j = job_create((struct job_key){seq, JOBID_NO_INDEX}, "x.svr");
    struct err e;

    assert_non_null(j);
    job_set_text(&j->euser, user);
    job_set_text(&j->egroup, "staff");
    job_set_text(&j->project, "none");
    assert_int_equal(jobs_add(w->ctx.jobs, j, &e), 0);
    assert_int_equal(
        attr_list_change(&j->obj.attrs, w->ctx.resources, JOB_ATTR_Resource_List, "ncpus", ncpus, SET, &e),
        0);
    jobs_enter_queue(w->ctx.jobs, j, w->one);
    return j;
}

static void becomes(struct world *w, struct job *j, enum job_state state, bool shares)
{
    j->state = state;
    j->shares = shares;
    limit_counts_review(w->ctx.limit_counts, j);
}

static int64_t count(const struct world *w, const struct queue *q, const struct job *j,
                     enum limit_counts_what what)
{
    return limit_counts_jobs(w->ctx.limit_counts, q, LIMIT_USER, limit_counts_entity(j, LIMIT_USER), what);
}

static int64_t cpus(const struct world *w, const struct queue *q, enum limit_kind k, const struct job *j)
{
    return value_number(
        limit_counts_running(w->ctx.limit_counts, q, k, limit_counts_entity(j, k), RESC_ncpus));
}

static void a_job_is_counted_as_its_state_says(void **state)
{
    struct world *w = *state;
    struct job *a = add(w, 1, "anna", "2"), *b = add(w, 2, "ben", "3");

    limit_counts_review(w->ctx.limit_counts, a);
    assert_int_equal(count(w, NULL, a, LIMIT_COUNTS_LIVE), 1); /* its script still arrives */
    becomes(w, a, JOB_QUEUED, false);
    becomes(w, b, JOB_HELD, false);
    assert_int_equal(count(w, NULL, a, LIMIT_COUNTS_QUEUED), 1);
    assert_int_equal(count(w, w->one, b, LIMIT_COUNTS_QUEUED), 0);
    assert_int_equal(limit_counts_jobs(w->ctx.limit_counts, w->one, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE), 2);
    becomes(w, a, JOB_RUNNING, true);
    assert_int_equal(count(w, w->one, a, LIMIT_COUNTS_RUNNING), 1);
    becomes(w, a, JOB_SUSPENDED, true);
    assert_int_equal(count(w, w->one, a, LIMIT_COUNTS_RUNNING), 0);
    becomes(w, a, JOB_FINISHED, false);
    becomes(w, b, JOB_GONE, false);
    assert_int_equal(limit_counts_jobs(w->ctx.limit_counts, NULL, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE), 0);
}

static void amounts_are_known_from_the_first_question_on(void **state)
{
    struct world *w = *state;
    struct job *a = add(w, 1, "anna", "2"), *b = add(w, 2, "anna", "3");
    struct err e;

    becomes(w, a, JOB_RUNNING, true);
    assert_int_equal(cpus(w, w->one, LIMIT_USER, a), 2);
    becomes(w, b, JOB_RUNNING, true);
    assert_int_equal(cpus(w, NULL, LIMIT_GROUP, a), 5);
    /* what is altered meanwhile is not taken off in its place */
    attr_list_change(&b->obj.attrs, w->ctx.resources, JOB_ATTR_Resource_List, "ncpus", "1", SET, &e);
    becomes(w, b, JOB_FINISHED, false);
    assert_int_equal(cpus(w, NULL, LIMIT_ALL, a), 2);
    becomes(w, a, JOB_FINISHED, false);
    assert_null(limit_counts_running(w->ctx.limit_counts, NULL, LIMIT_ALL, NULL, RESC_ncpus));
}

static void assert_states(const struct world *w, const struct queue *q, int64_t queued, int64_t held,
                          int64_t running)
{
    const int64_t *states = limit_counts_states(w->ctx.limit_counts, q);

    assert_int_equal(states[1], queued);
    assert_int_equal(states[2], held);
    assert_int_equal(states[4], running);
    for (int i = 0; i < LIMIT_COUNTS_STATES; i++)
        if (i != 1 && i != 2 && i != 4)
            assert_int_equal(states[i], 0);
}

static void states_are_counted_by_queue_and_in_all(void **state)
{
    struct world *w = *state;
    struct job *a = add(w, 1, "anna", "2"), *b = add(w, 2, "ben", "3");

    becomes(w, a, JOB_QUEUED, false);
    becomes(w, b, JOB_HELD, false);
    assert_states(w, NULL, 1, 1, 0);
    becomes(w, a, JOB_RUNNING, true);
    becomes(w, a, JOB_SUSPENDED, true); /* shown among the running ones */
    assert_states(w, w->one, 0, 1, 1);
    limit_counts_forget(w->ctx.limit_counts, b);
    jobs_leave_queue(b);
    jobs_enter_queue(w->ctx.jobs, b, w->two);
    becomes(w, b, JOB_QUEUED, false);
    assert_states(w, w->one, 0, 0, 1);
    assert_states(w, w->two, 1, 0, 0);
    assert_states(w, NULL, 1, 0, 1);
    becomes(w, a, JOB_FINISHED, false);
    becomes(w, b, JOB_GONE, false);
    assert_states(w, NULL, 0, 0, 0);
    assert_states(w, w->two, 0, 0, 0);
}

static void a_job_takes_its_count_along(void **state)
{
    struct world *w = *state;
    struct job *a = add(w, 1, "anna", "2");

    becomes(w, a, JOB_QUEUED, false);
    jobs_leave_queue(a);
    jobs_enter_queue(w->ctx.jobs, a, w->two);
    limit_counts_review(w->ctx.limit_counts, a);
    assert_int_equal(count(w, w->one, a, LIMIT_COUNTS_LIVE), 0);
    assert_int_equal(count(w, w->two, a, LIMIT_COUNTS_LIVE), 1);
    limit_counts_forget(w->ctx.limit_counts, a);
    job_set_text(&a->euser, "ben");
    limit_counts_review(w->ctx.limit_counts, a);
    assert_int_equal(count(w, w->two, a, LIMIT_COUNTS_QUEUED), 1);
    assert_int_equal(limit_counts_jobs(w->ctx.limit_counts, w->two, LIMIT_ALL, NULL, LIMIT_COUNTS_LIVE), 1);
    becomes(w, a, JOB_FINISHED, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_is_counted_as_its_state_says, setup, teardown),
        cmocka_unit_test_setup_teardown(amounts_are_known_from_the_first_question_on, setup, teardown),
        cmocka_unit_test_setup_teardown(states_are_counted_by_queue_and_in_all, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_takes_its_count_along, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
