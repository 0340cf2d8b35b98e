/* A job's fields to JSON and back. */
#include "job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "job_run.h"
#include "strbuf.h"

static struct job *make(void)
{
    struct job *j = job_create((struct job_key){7, -1}, "7.svr");

    assert_non_null(j);
    assert_int_equal(job_set_text(&j->owner, "anna@login"), 0);
    assert_int_equal(job_set_text(&j->user, "anna"), 0);
    assert_int_equal(job_set_text(&j->queue_name, "quo\"te\xff"), 0);
    j->state = JOB_SUSPENDED;
    j->intent = INTENT_REQUEUE;
    j->suspender = SUSPENDED_BY_SCHED;
    j->hold = 5;
    j->dependent = true;
    j->queue_rank = INT64_MAX;
    j->exited = true;
    j->exit_status = -11;
    j->run_version = 3;
    j->usage = (struct job_usage){
        .cput_ms = 1, .walltime_ms = 2, .mem_kb = 3, .vmem_kb = 4, .ncpus = 5, .cpupercent = 6};
    memcpy(j->token, "0123456789abcde\xfe", JOB_TOKEN_SIZE);
    j->run = job_run_create(3, "(n1:ncpus=1)", "n1/0", 1);
    j->run->hosts[0].service = intern_ref("mom:n1");
    j->run->hosts[0].seq = 9;
    j->run->hosts[0].declared = intern_ref("handler");
    j->run->hosts[0].kept = intern_ref("/ckpt/7.s.CK/00000001.3.0");
    j->run->hosts[0].need_s = 70;
    j->run->hosts[0].takes_part = true;
    j->run->hosts[0].answer = 6;
    j->preempt = calloc(1, sizeof *j->preempt);
    assert_true(preempt_methods_parse("RD", &j->preempt->left));
    j->preempt->method = METHOD_SUSPEND;
    j->preempt->lost_core_s = 120;
    j->preempt->since_ms = 77;
    preempt_methods_add(&j->preempt->tried, METHOD_SUSPEND);
    j->preempt->scheduler = intern_ref("default");
    j->preempt->policy = intern_ref("sched:default:preempt_order=SR");
    j->preempt->authority = intern_ref("express_queue:express");
    j->preempt->notice.grace_ms = 5000;
    j->preempt->notice.grace_max_ms = 60000;
    j->preempt->notice.given_ms = 1795258654155;
    j->preempt->notice.deadline_ms = 1795258659155;
    j->preempt->notice.attempt = 2;
    j->preempt->notice.method = METHOD_REQUEUE;
    j->preempt->notice.over = true;
    j->preempt->notice.reply = 3;
    j->run->notices = 2;
    j->preempt->by = intern_ref("default");
    return j;
}

static struct job *there_and_back(const struct job *j, struct err *e)
{
    struct job *back = job_create(j->key, j->obj.name);
    struct strbuf hot, fixed;

    strbuf_init(&hot, 100000);
    strbuf_init(&fixed, 100000);
    assert_int_equal(job_kind.encode(&j->obj, PART_HOT, &hot), 0);
    assert_int_equal(job_kind.encode(&j->obj, PART_FIXED, &fixed), 0);
    if (job_decode(back, strbuf_str(&hot), strbuf_str(&fixed), e) < 0) {
        job_unref(back);
        back = NULL;
    }
    strbuf_fini(&hot);
    strbuf_fini(&fixed);
    return back;
}

static void every_field_comes_back(void **state)
{
    struct err e = {0};
    struct job *j = make(), *b = there_and_back(j, &e);

    if (!b)
        fail_msg("%s", e.text);
    assert_ptr_equal(b->owner, j->owner);
    assert_ptr_equal(b->queue_name, j->queue_name);
    assert_null(b->project);
    assert_int_equal(b->state, JOB_SUSPENDED);
    assert_int_equal(b->intent, INTENT_REQUEUE);
    assert_int_equal(b->suspender, SUSPENDED_BY_SCHED);
    assert_int_equal(b->hold, 5);
    assert_true(b->dependent);
    assert_true(b->queue_rank == INT64_MAX);
    assert_true(b->exited);
    assert_int_equal(b->exit_status, -11);
    assert_memory_equal(&b->usage, &j->usage, sizeof b->usage);
    assert_memory_equal(b->token, j->token, JOB_TOKEN_SIZE);
    assert_int_equal(b->run->version, 3);
    assert_int_equal(b->run->hosts[0].seq, 9);
    assert_string_equal(b->run->hosts[0].service, "mom:n1");
    assert_string_equal(b->run->hosts[0].declared, "handler");
    assert_string_equal(b->run->hosts[0].kept, "/ckpt/7.s.CK/00000001.3.0");
    assert_int_equal(b->run->hosts[0].need_s, 70);
    assert_true(b->run->hosts[0].takes_part);
    assert_int_equal(b->run->hosts[0].answer, 6);
    assert_memory_equal(&b->preempt->left, &j->preempt->left, sizeof b->preempt->left);
    assert_int_equal(b->preempt->method, METHOD_SUSPEND);
    assert_true(b->preempt->lost_core_s == 120);
    assert_int_equal(b->preempt->since_ms, 77);
    assert_int_equal(preempt_methods_first(&b->preempt->tried), METHOD_SUSPEND);
    assert_string_equal(b->preempt->scheduler, "default");
    assert_string_equal(b->preempt->policy, "sched:default:preempt_order=SR");
    assert_string_equal(b->preempt->authority, "express_queue:express");
    assert_memory_equal(&b->preempt->notice, &j->preempt->notice, sizeof b->preempt->notice);
    assert_int_equal(b->run->notices, 2);
    assert_string_equal(b->preempt->by, "default");
    job_unref(j);
    job_unref(b);
}

static void refuse(const char *hot, const char *fixed)
{
    struct job *j = job_create((struct job_key){7, -1}, "7.svr");
    struct err e = {0};

    assert_int_equal(job_decode(j, hot, fixed, &e), -1);
    assert_non_null(strstr(e.text, "7.svr"));
    job_unref(j);
}

static void a_row_that_is_none_is_refused_by_name(void **state)
{
    const char *fixed = "{\"token\":\"00000000000000000000000000000000\"}";

    refuse("{", fixed);
    refuse("{\"state\":\"dreaming\"}", fixed);
    refuse("{\"state\":\"queued\",\"hold\":\"x\"}", fixed);
    refuse("{\"state\":\"queued\"}", "{\"token\":\"00\"}");
    refuse("{\"state\":\"queued\",\"run\":{}}", fixed);
    refuse("{\"state\":\"queued\",\"preempt\":{\"left\":\"PSCRDX\",\"method\":83,\"since_s\":1}}", fixed);
}

static void a_row_of_another_version_may_have_other_fields(void **state)
{
    struct job *j = job_create((struct job_key){7, JOBID_NO_INDEX}, "7.svr");
    struct err e = {0};

    assert_int_equal(job_decode(j, "{\"state\":\"held\",\"force_requeued\":1,\"hold\":2}",
                                "{\"token\":\"00000000000000000000000000000000\",\"later\":\"x\"}", &e),
                     0);
    assert_int_equal(j->state, JOB_HELD);
    assert_int_equal(j->hold, 2);
    job_unref(j);
}

static void states_have_names_both_ways(void **state)
{
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        assert_int_equal(job_state_find(job_state_name((enum job_state)s)), s);
    assert_int_equal(job_state_find("nonsense"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(a_row_that_is_none_is_refused_by_name),
        cmocka_unit_test(a_row_of_another_version_may_have_other_fields),
        cmocka_unit_test(states_have_names_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
