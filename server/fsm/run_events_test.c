#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "run_events.h"

static char told[64];

static void add(const char *what)
{
    size_t n = strlen(told);

    snprintf(told + n, sizeof told - n, "%s", what);
}

static void note(void *arg, const struct run_event *ev)
{
    assert_string_equal(ev->service, "mom:n1");
    add(arg);
}

/* The last reference of the caller goes: as when an event ends the job. */
static void end_job(void *arg, const struct run_event *ev)
{
    job_unref(ev->job);
    add(arg);
}

static struct job *job(void)
{
    return job_create((struct job_key){41, -1}, "41.svr1");
}

static void listeners_of_a_kind_are_told_in_the_order_in_which_they_were_bound(void **state)
{
    struct run_events *b = run_events_create();
    struct job *j = job();

    (void)state;
    told[0] = '\0';
    run_events_listen(b, RUN_EVENT_RELEASED, note, (void *)"a");
    run_events_listen(b, RUN_EVENT_LOST, note, (void *)"x");
    run_events_listen(b, RUN_EVENT_RELEASED, note, (void *)"b");
    run_events_tell(b, &(struct run_event){.kind = RUN_EVENT_RELEASED, .job = j, .service = "mom:n1"});
    run_events_tell(b, &(struct run_event){.kind = RUN_EVENT_READY, .job = j});
    assert_string_equal(told, "ab");
    job_unref(j);
    run_events_destroy(b);
}

static void a_job_that_one_listener_ends_can_be_read_by_the_next(void **state)
{
    struct run_events *b = run_events_create();

    (void)state;
    told[0] = '\0';
    run_events_listen(b, RUN_EVENT_RELEASED, end_job, (void *)"a");
    run_events_listen(b, RUN_EVENT_RELEASED, note, (void *)"b");
    run_events_tell(b, &(struct run_event){.kind = RUN_EVENT_RELEASED, .job = job(), .service = "mom:n1"});
    assert_string_equal(told, "ab");
    run_events_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners_of_a_kind_are_told_in_the_order_in_which_they_were_bound),
        cmocka_unit_test(a_job_that_one_listener_ends_can_be_read_by_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
