/* A stranger's program: it includes the public headers and nothing else of ours, and names every function of the
 * interface with the type that OpenPBS's users know. It compiles and links, and without a server every call
 * says so in the way that the interface promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pbs_error.h"
#include "pbs_ext.h"
#include "pbs_ifl.h"

enum { NO_HANDLE = 77 };

/* Functions that return a code. */
#define FAILS(call)                                                                                          \
    do {                                                                                                     \
        pbs_errno = 0;                                                                                       \
        assert_int_not_equal(call, 0);                                                                       \
        assert_int_not_equal(pbs_errno, 0);                                                                  \
        assert_non_null(pbs_geterrmsg(NO_HANDLE));                                                           \
    } while (0)

/* Functions that return a pointer. */
#define NULLS(call)                                                                                          \
    do {                                                                                                     \
        pbs_errno = 0;                                                                                       \
        assert_null(call);                                                                                   \
        assert_int_not_equal(pbs_errno, 0);                                                                  \
        assert_non_null(pbs_geterrmsg(NO_HANDLE));                                                           \
    } while (0)

static char job[] = "1.host", name[] = "Priority", value[] = "1";
static struct attrl attr = {.name = name, .value = value};
static struct attropl attrop = {.name = name, .value = value, .op = SET};
static char *jobs[] = {job, NULL};
static struct pbs_job_end end;

static void test_jobs(void **state)
{
    int c = NO_HANDLE;

    NULLS(pbs_submit(c, &attrop, NULL, NULL, NULL));
    FAILS(pbs_alterjob(c, job, &attr, NULL));
    FAILS(pbs_asyalterjob(c, job, &attr, NULL));
    FAILS(pbs_deljob(c, job, NULL));
    NULLS(pbs_deljoblist(c, jobs, 1, NULL));
    FAILS(pbs_holdjob(c, job, USER_HOLD, NULL));
    FAILS(pbs_rlsjob(c, job, NULL, NULL));
    NULLS(pbs_locjob(c, job, NULL));
    FAILS(pbs_movejob(c, job, "workq", NULL));
    FAILS(pbs_msgjob(c, job, MSG_ERR, "hello", NULL));
    FAILS(pbs_orderjob(c, job, job, NULL));
    FAILS(pbs_relnodesjob(c, job, NULL, NULL));
    FAILS(pbs_rerunjob(c, job, NULL));
    FAILS(pbs_runjob(c, job, NULL, NULL));
    FAILS(pbs_waitjob(c, job, NULL, &end));
    FAILS(pbs_jobscript(c, job, 1, NULL));
    FAILS(pbs_peekjob(c, job, MSG_OUT, 0, NULL, NULL));
    FAILS(pbs_asyrunjob(c, job, NULL, NULL));
    FAILS(pbs_asyrunjob_ack(c, job, NULL, NULL));
    FAILS(pbs_sigjob(c, job, "SIGTERM", NULL));
    FAILS(pbs_stagein(c, job, NULL, NULL));
    FAILS(pbs_py_spawn(c, job, jobs, jobs));
    assert_true(pbs_isjobid("12.host"));
    assert_false(pbs_isjobid("workq"));
}

static int enough(const struct batch_status *one, void *arg)
{
    (void)one, (void)arg;
    return 1;
}

static void test_questions(void **state)
{
    int c = NO_HANDLE;

    NULLS(pbs_selectjob(c, &attrop, NULL));
    NULLS(pbs_selstat(c, &attrop, &attr, NULL));
    NULLS(pbs_statjob(c, job, &attr, NULL));
    FAILS(pbs_selstat_each(c, &attrop, &attr, NULL, enough, NULL));
    assert_int_equal(pbs_selstat_each_send(c, &attrop, &attr, NULL), -1);
    FAILS(pbs_selstat_each_recv(c, 1, enough, NULL));
    FAILS(pbs_statjob_each(c, job, &attr, NULL, enough, NULL));
    NULLS(pbs_statque(c, NULL, NULL, NULL));
    NULLS(pbs_statserver(c, NULL, NULL));
    NULLS(pbs_statsched(c, NULL, NULL));
    NULLS(pbs_statnode(c, NULL, NULL, NULL));
    NULLS(pbs_stathost(c, NULL, NULL, NULL));
    NULLS(pbs_statvnode(c, NULL, NULL, NULL));
    NULLS(pbs_statresv(c, NULL, NULL, NULL));
    NULLS(pbs_statrsc(c, NULL, NULL, NULL));
    NULLS(pbs_stathook(c, NULL, NULL, NULL));
    pbs_statfree(NULL);
    pbs_delstatfree(NULL);
}

static void test_administration_and_reservations(void **state)
{
    int c = NO_HANDLE, n = 0;
    pbs_resource_t id = RESOURCE_T_NULL;

    FAILS(pbs_manager(c, MGR_CMD_SET, MGR_OBJ_SERVER, "", &attrop, NULL));
    FAILS(pbs_terminate(c, SHUT_QUICK, NULL));
    NULLS(pbs_submit_resv(c, &attrop, NULL));
    NULLS(pbs_modify_resv(c, "R1.host", &attrop, NULL));
    FAILS(pbs_delresv(c, "R1.host", NULL));
    FAILS(pbs_confirmresv(c, "R1.host", "(n1:ncpus=1)", 0, NULL));
    FAILS(pbs_rescquery(c, jobs, 1, &n, &n, &n, &n));
    FAILS(pbs_rescreserve(c, jobs, 1, &id));
    FAILS(pbs_rescrelease(c, id));
}

static void test_schedulers(void **state)
{
    struct pbs_watch_want want = {.kind = PBS_KIND_JOB, .attribs = &attr};
    struct pbs_victim victim = {.jobid = job, .run_version = 1, .methods = "R"};
    struct pbs_sched_counts counts = {0};
    struct pbs_watch_reader reader = {0};
    struct pbs_cursor begin = {0, 0};
    struct pbs_news *news = calloc(1, sizeof *news);
    unsigned watch;
    int c = NO_HANDLE;

    assert_non_null(news);
    NULLS(pbs_preempt_jobs(c, jobs));
    FAILS(pbs_register_sched("default", c, -1));
    FAILS(pbs_defschreply(c, 11, job, 0, NULL, NULL));
    FAILS(pbs_sched_reply(c, 1, job, 0, NULL));
    FAILS(pbs_sched_alive(c));
    FAILS(pbs_sched_counts(c, &counts));
    FAILS(pbs_watch(c, &want, 1, NULL, &watch));
    FAILS(pbs_watch(c, NULL, 1, NULL, &watch));
    FAILS(pbs_watch(c, &want, 1, NULL, NULL));
    FAILS(pbs_watch_next(c, 1, begin, &reader, news));
    FAILS(pbs_watch_next_recv(c, 1, &reader, news));
    FAILS(pbs_preempt_run(c, job, "(n1:ncpus=1)", &victim, 1, NULL));
    FAILS(pbs_preempt_run(c, job, "(n1:ncpus=1)", NULL, 1, NULL));
    NULLS(pbs_stathold(c, NULL, NULL, NULL));
    NULLS(pbs_statcounts(c, NULL));
    FAILS(pbs_delhold(c, "1", NULL));
    NULLS(pbs_explain(c, job, NULL));
    NULLS(pbs_when(c, &attrop, NULL, NULL));
    FAILS(pbs_explain_reply(c, 1, job, NULL));
    free(news);
}

static void test_calls_in_two_halves(void **state)
{
    struct pbs_cursor begin = {0, 0};
    int c = NO_HANDLE;

    assert_int_equal(pbs_submit_send(c, &attrop, NULL, NULL, NULL), -1);
    assert_int_equal(pbs_runjob_send(c, job, NULL, NULL), -1);
    assert_int_equal(pbs_asyrunjob_send(c, job, NULL, NULL), -1);
    assert_int_equal(pbs_asyrunjob_ack_send(c, job, NULL, NULL), -1);
    assert_int_equal(pbs_deljob_send(c, job, NULL), -1);
    assert_int_equal(pbs_rerunjob_send(c, job, NULL), -1);
    assert_int_equal(pbs_sigjob_send(c, job, "USR1", NULL), -1);
    assert_int_equal(pbs_holdjob_send(c, job, "u", NULL), -1);
    assert_int_equal(pbs_rlsjob_send(c, job, "u", NULL), -1);
    assert_int_equal(pbs_alterjob_send(c, job, &attr, NULL), -1);
    assert_int_equal(pbs_asyalterjob_send(c, job, &attr, NULL), -1);
    assert_int_equal(pbs_confirmresv_send(c, "R1.host", "(n1:ncpus=1)", 0, NULL), -1);
    assert_int_equal(pbs_manager_send(c, MGR_CMD_SET, MGR_OBJ_SERVER, "", &attrop, NULL), -1);
    assert_int_equal(pbs_preempt_jobs_send(c, jobs), -1);
    assert_int_equal(pbs_preempt_run_send(c, job, "(n1:ncpus=1)", NULL, 0, NULL), -1);
    assert_int_equal(pbs_watch_next_send(c, 1, begin), -1);
    assert_int_equal(pbs_sched_reply_send(c, 1, job, 0, NULL), -1);
    assert_int_equal(pbs_sched_alive_send(c), -1);
    assert_int_equal(pbs_sched_counts_send(c, &(struct pbs_sched_counts){0}), -1);
    assert_int_equal(pbs_explain_reply_send(c, 1, job, NULL), -1);
    NULLS(pbs_submit_recv(c, 1));
    NULLS(pbs_preempt_jobs_recv(c, 1, NULL));
    FAILS(pbs_recv(c, 1));
    assert_int_equal(pbs_drop(c, 1), -1);
    assert_int_equal(pbs_ready(c, 1), -1);
    assert_int_equal(pbs_next_ready(c), -1);
    assert_int_equal(pbs_fd(c), -1);
}

static void test_a_connection_that_fails_is_reported(void **state)
{
    assert_int_equal(setenv("PBS_CONF_FILE", "/nonexistent/pbs.conf", 1), 0);
    unsetenv("PBS_HOME");
    unsetenv("PBS_EXEC");
    unsetenv("PBS_SERVER");
    unsetenv("PBS_DEFAULT");
    assert_int_equal(pbs_connect(NULL), -1);
    assert_int_not_equal(pbs_errno, 0);
    assert_non_null(pbs_geterrmsg(-1));
    assert_int_equal(pbs_disconnect(NO_HANDLE), -1);
    assert_int_equal(pbs_loadconf(1), 0);
    assert_null(pbs_get_attributes_in_error(NO_HANDLE));
    assert_non_null(pbs_server);
    assert_true(pbs_query_max_connections() > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_administration_and_reservations),
        cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_calls_in_two_halves),
        cmocka_unit_test(test_a_connection_that_fails_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
