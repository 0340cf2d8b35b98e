#include "job_audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "clock.h"
#include "strbuf.h"

static void keep(void *arg, struct job_key key, int64_t time_ns, const char *text)
{
    strbuf_addf(arg, "%lld %lld %s;", (long long)key.seq, (long long)time_ns, text);
}

static void a_transition_is_one_line_with_what_explains_it(void **state)
{
    struct clock *clock = clock_create_driven(77);
    struct job *j = job_create((struct job_key){5, -1}, "5.svr");
    struct strbuf lines;
    struct job_audit *l;

    strbuf_init(&lines, 10000);
    l = job_audit_create(clock, keep, &lines);
    j->state = JOB_HELD;
    j->hold = 1;
    job_audit_listen(l, j, JOB_QUEUED, EV_REVIEW);
    job_audit_listen(l, j, JOB_HELD, EV_REVIEW); /* no change, no line */
    j->hold = 0;
    j->state = JOB_FINISHED;
    j->exited = true;
    j->exit_status = 3;
    j->intent = INTENT_DELETE;
    job_audit_listen(l, j, JOB_EXITING, EV_RUN_OVER);
    job_audit_note(l, j, "signal %s", "TERM");
    assert_string_equal(strbuf_str(&lines), "5 77 review: queued -> held hold=1;"
                                            "5 77 run over: exiting -> finished intent=delete status=3;"
                                            "5 77 signal TERM;");
    job_audit_destroy(l);
    strbuf_fini(&lines);
    job_unref(j);
    clock_destroy(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transition_is_one_line_with_what_explains_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
