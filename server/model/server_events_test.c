#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "server_events.h"

static char told[64];

static void add(const char *what)
{
    size_t n = strlen(told);

    snprintf(told + n, sizeof told - n, "%s", what);
}

static void note(void *arg, const struct server_event *ev)
{
    assert_string_equal(ev->service, "mom:n1");
    add(arg);
}

/* The last reference of the caller goes: as when an event ends the job. */
static void end_job(void *arg, const struct server_event *ev)
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
    struct server_events *b = server_events_create();
    struct job *j = job();

    told[0] = '\0';
    server_events_listen(b, EVENT_RUN_RELEASED, note, (void *)"a");
    server_events_listen(b, EVENT_RUN_LOST, note, (void *)"x");
    server_events_listen(b, EVENT_RUN_RELEASED, note, (void *)"b");
    server_events_tell(b, &(struct server_event){.kind = EVENT_RUN_RELEASED, .job = j, .service = "mom:n1"});
    server_events_tell(b, &(struct server_event){.kind = EVENT_RUN_READY, .job = j});
    assert_string_equal(told, "ab");
    job_unref(j);
    server_events_destroy(b);
}

static void a_job_that_one_listener_ends_can_be_read_by_the_next(void **state)
{
    struct server_events *b = server_events_create();

    told[0] = '\0';
    server_events_listen(b, EVENT_RUN_RELEASED, end_job, (void *)"a");
    server_events_listen(b, EVENT_RUN_RELEASED, note, (void *)"b");
    server_events_tell(b,
                       &(struct server_event){.kind = EVENT_RUN_RELEASED, .job = job(), .service = "mom:n1"});
    assert_string_equal(told, "ab");
    server_events_destroy(b);
}

static void note_client(void *arg, const struct server_event *ev)
{
    assert_null(ev->job);
    add(ev->client == &told ? arg : "?");
}

static void an_event_need_not_be_about_a_job(void **state)
{
    struct server_events *b = server_events_create();

    told[0] = '\0';
    server_events_listen(b, EVENT_CLIENT_GONE, note_client, (void *)"c");
    server_events_tell(b, &(struct server_event){.kind = EVENT_CLIENT_GONE, .client = &told});
    assert_string_equal(told, "c");
    server_events_destroy(b);
}

static void no_listener_is_called_once_the_server_ends(void **state)
{
    struct server_events *b = server_events_create();
    struct job *j = job();

    told[0] = '\0';
    server_events_listen(b, EVENT_RUN_RELEASED, note, (void *)"a");
    server_events_silence(b);
    server_events_tell(b, &(struct server_event){.kind = EVENT_RUN_RELEASED, .job = j, .service = "mom:n1"});
    server_events_silence(NULL);
    assert_string_equal(told, "");
    job_unref(j);
    server_events_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners_of_a_kind_are_told_in_the_order_in_which_they_were_bound),
        cmocka_unit_test(a_job_that_one_listener_ends_can_be_read_by_the_next),
        cmocka_unit_test(an_event_need_not_be_about_a_job),
        cmocka_unit_test(no_listener_is_called_once_the_server_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
